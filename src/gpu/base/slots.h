// Searches by slots of work on a Gpu: each has a stream, memory through which rows go to the device, and pairs come
// back.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "gpu/base/portable.h"
#include "gpu/neardup_gpu.h"

namespace neardup::gpu {

inline double milliseconds() noexcept {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// The size of the work that is done at once, neither too short nor too long: the caller looks for a cancel in between.
struct WorkSize {
  uint64_t size;
  uint64_t least;
  uint64_t most;
  double short_ms;
  double long_ms;

  void took(double ms) noexcept {
    if (ms < short_ms) size = std::min(most, size * 2);
    if (ms > long_ms) size = std::max(least, size / 2);
  }
};

// The counts that a piece of work leaves for the host, beside its pairs.
struct Counters {
  uint64_t compared;
  uint64_t total;
  uint32_t found;
  uint32_t candidates;
};

enum class SlotState { idle, loading, ready, running };

// A slot takes units of work, loads their rows, and does them piece by piece. The slots of a kind of search derive from
// this. Device: has the gpu and what its slots share.
template <class GpuType, class DeviceType, class PieceType>
struct WorkSlot {
  using Gpu = GpuType;
  using Device = DeviceType;
  using Piece = PieceType;
  using Event = typename Gpu::Event;
  template <class T>
  using Buffer = typename Gpu::template Buffer<T>;
  template <class T>
  using Pinned = typename Gpu::template Pinned<T>;

  Device* device = nullptr;
  SlotState state = SlotState::idle;
  Piece piece = {};           // in flight
  std::vector<Piece> pieces;  // cut already, the next one last
  std::unique_ptr<typename Gpu::Stream> stream;
  std::unique_ptr<Event> event;
  Buffer<Pair> found;
  Pinned<NeardupGpuPair> out;
  Buffer<Counters> counters;
  Pinned<Counters> told;
  Pinned<uint8_t> staging[2];
  std::unique_ptr<Event> staged[2];
  uint32_t next_staging = 0;
  double launched = 0;

  // room: pairs that a piece of work may find.
  void allocate(Device& on, uint32_t room, uint64_t staging_bytes) {
    device = &on;
    Gpu& gpu = *on.gpu;
    stream = std::make_unique<typename Gpu::Stream>(gpu);
    event = std::make_unique<Event>(gpu);
    found = Buffer<Pair>(gpu, room);
    out = Pinned<NeardupGpuPair>(gpu, room);
    counters = Buffer<Counters>(gpu, 1);
    told = Pinned<Counters>(gpu, 1);
    for (int k = 0; k < 2; ++k) {
      staging[k] = Pinned<uint8_t>(gpu, staging_bytes);
      staged[k] = std::make_unique<Event>(gpu);
    }
  }
  // Copies the bytes that fill(to) writes to the device; false: earlier copies are under way.
  template <class Fill>
  bool copy_in(uint8_t* to, size_t bytes, Fill fill) {
    Gpu& gpu = *device->gpu;
    const uint32_t which = next_staging;
    if (!gpu.done(*staged[which])) return false;
    fill(staging[which].data());
    gpu.copy_in(*stream, to, staging[which].data(), bytes);
    gpu.record(*staged[which], *stream);
    next_staging = 1 - which;
    return true;
  }
  // After what is in the stream the host may read the counters.
  void tell_counters() {
    device->gpu->copy_out(*stream, told.data(), counters.data(), sizeof(Counters));
    device->gpu->record(*event, *stream);
  }
};

// The machine that moves the slots of a search, and gives the pairs that they find to the caller. A kind of search
// derives from this, and says what units and pieces are.
template <class SlotType>
class SlotSearch {
 protected:
  using Slot = SlotType;
  using Gpu = typename Slot::Gpu;
  using Device = typename Slot::Device;
  using Piece = typename Slot::Piece;
  using Stream = typename Gpu::Stream;
  using Event = typename Gpu::Event;
  template <class T>
  using Buffer = typename Gpu::template Buffer<T>;
  template <class T>
  using Pinned = typename Gpu::template Pinned<T>;

  explicit SlotSearch(const std::vector<Gpu*>& gpus) : gpus_(gpus) {}
  ~SlotSearch() = default;

  // Takes a unit of work; false when there is none, or no room for its rows.
  virtual bool start_unit(Slot& slot) = 0;
  // Does a portion of what comes before the pieces of a unit; the state is ready after the last. False: it must wait.
  virtual bool load(Slot& slot) = 0;
  // Cuts the next piece of a unit, where they are not all in slot.pieces.
  virtual bool next_piece(Slot&, Piece*) { return false; }
  virtual void end_unit(Slot& slot) = 0;
  virtual void launch(Slot& slot, const Piece& piece) = 0;
  // Into two, when what was found did not fit.
  virtual std::pair<Piece, Piece> halve(const Piece& piece) = 0;
  // Counts and times the piece that the slot has done. halved: it did not fit.
  virtual void count(Slot& slot, bool halved) = 0;

  // One step of a search: moves slots until there are pairs, until nothing moves, or for kStepMs; then gives at most
  // `max` pairs. *busy: true if there are more pairs, or slots at work.
  uint32_t step_slots(NeardupGpuPair* pairs, uint32_t max, bool* busy) {
    const double began = milliseconds();
    for (;;) {
      bool moved = false;
      *busy = false;
      for (auto& slot : slots_) {
        // Work goes on while what is ready is given away; what comes of it waits.
        if (slot->state != SlotState::running || waiting() < max) {
          slot->device->gpu->use();
          moved |= advance(*slot);
        }
        *busy |= slot->state != SlotState::idle;
      }
      if (waiting() != 0 || (!*busy && !moved) || milliseconds() - began > kStepMs) break;
      if (!moved) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    const size_t n = std::min<size_t>(max, waiting());
    std::copy_n(pairs_.begin() + given_, n, pairs);
    given_ += static_cast<std::ptrdiff_t>(n);
    // Given pairs go before they are most of the memory.
    if (2 * static_cast<size_t>(given_) >= pairs_.size()) {
      pairs_.erase(pairs_.begin(), pairs_.begin() + given_);
      given_ = 0;
    }
    *busy |= waiting() != 0;
    return static_cast<uint32_t>(n);
  }

  // Frees devices and slots, and forgets pairs that were not given. Waits first for what is under way: nothing says
  // that freeing pinned memory waits for copies.
  void drop_memory() noexcept {
    for (auto& slot : slots_) {
      try {
        slot->device->gpu->use();
        slot->device->gpu->wait(*slot->stream);
      } catch (const Error&) {
        // A lost device does nothing more.
      }
    }
    slots_.clear();
    devices_.clear();
    pairs_.clear();
    given_ = 0;
  }

  std::vector<Gpu*> gpus_;
  uint32_t room_ = 0;  // pairs that a piece may find
  uint64_t staging_bytes_ = 0;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Slot>> slots_;

 private:
  static constexpr double kStepMs = 20;

  size_t waiting() const noexcept { return pairs_.size() - static_cast<size_t>(given_); }

  // One move of a slot; false when it must wait, or has nothing to do.
  bool advance(Slot& slot) {
    switch (slot.state) {
      case SlotState::idle:
        if (!start_unit(slot)) return false;
        slot.state = SlotState::loading;
        return true;
      case SlotState::loading:
        return load(slot);
      case SlotState::ready:
        launch_piece(slot);
        return true;
      case SlotState::running:
        if (!slot.device->gpu->done(*slot.event)) return false;
        collect(slot);
        slot.state = SlotState::ready;
        return true;
    }
    return false;
  }

  void launch_piece(Slot& slot) {
    if (!slot.pieces.empty()) {
      slot.piece = slot.pieces.back();
      slot.pieces.pop_back();
    } else if (!next_piece(slot, &slot.piece)) {
      end_unit(slot);
      slot.state = SlotState::idle;
      return;
    }
    slot.device->gpu->clear(*slot.stream, slot.counters.data(), sizeof(Counters));
    launch(slot, slot.piece);
    slot.tell_counters();
    slot.launched = milliseconds();
    slot.state = SlotState::running;
  }

  void collect(Slot& slot) {
    const Counters& told = slot.told.data()[0];
    const bool halved = std::max(told.found, told.candidates) > room_;
    count(slot, halved);
    if (halved) {
      const auto [one, two] = halve(slot.piece);
      slot.pieces.push_back(two);
      slot.pieces.push_back(one);
    } else if (told.found != 0) {
      Gpu& gpu = *slot.device->gpu;
      gpu.copy_out(*slot.stream, slot.out.data(), slot.found.data(), told.found * sizeof(Pair));
      gpu.wait(*slot.stream);
      pairs_.insert(pairs_.end(), slot.out.data(), slot.out.data() + told.found);
    }
  }

  std::vector<NeardupGpuPair> pairs_;  // found, and from given_ on to be given
  std::ptrdiff_t given_ = 0;
};

}  // namespace neardup::gpu
