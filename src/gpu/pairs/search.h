// A search on GPUs, whatever the signature: slabs of rows in device memory, loaded by slots that need them. Kinds of
// searches (ctph_search.h, join_search.h) say what the pieces are.
//
// Gpu is a device: CudaGpu (base/cuda_gpu.h), or in tests one that runs kernels on the host (test/gpu/host_gpu.h).
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gpu/base/memory.h"
#include "gpu/base/portable.h"
#include "gpu/base/slots.h"
#include "gpu/neardup_gpu.h"
#include "gpu/pairs/plan.h"

namespace neardup::gpu {

// The search behind the C boundary. Errors are exceptions.
class Search {
 public:
  virtual ~Search() = default;
  // Takes memory, at most `limit` bytes of each device.
  virtual void start(uint64_t limit) = 0;
  // Returns up to max pairs; *done is 1 when there will be no more.
  virtual uint32_t step(NeardupGpuPair* pairs, uint32_t max, double* done) = 0;
  NeardupGpuStats stats = {};
};

// On CUDA devices, each compiled with its kernels in a file of its own. job: checked by check_job().
class CudaGpu;
using MakeSearch = std::unique_ptr<Search>(const std::vector<CudaGpu*>& gpus, const NeardupGpuJob& job,
                                           const NeardupGpuOptions& options);
MakeSearch make_ctph_search, make_simhash_search, make_minhash_search;

template <class Gpu>
struct PairSlot;

// A slab on a device.
template <class Gpu>
struct DeviceSlab {
  int64_t id = -1;
  uint32_t rows = 0;
  uint32_t column = 0;  // what is loaded: columns before this, and of it
  uint32_t loaded = 0;  // these rows
  uint32_t users = 0;
  uint64_t used = 0;
  bool complete = false;
  PairSlot<Gpu>* loader = nullptr;
  typename Gpu::template Buffer<uint8_t> columns[Store::kMaxStoreColumns];
  std::unique_ptr<typename Gpu::Event> event;  // when it is complete, for streams of other slots

  template <class T>
  T* as(uint32_t c) const noexcept {
    return reinterpret_cast<T*>(columns[c].data());
  }
};
template <class GpuType>
struct PairDevice {
  GpuType* gpu = nullptr;
  std::vector<std::vector<std::unique_ptr<DeviceSlab<GpuType>>>> slabs;  // by store
};

// Slabs of a unit of work, and which one it is.
struct Unit {
  uint32_t store_x = 0, store_y = 0;
  uint32_t slab_x = 0, slab_y = 0;
  uint32_t number = 0;  // a kind's own: join, band
  Tile tile = {};
};
// A part of a unit: a tile, or a range of numbered pairs.
struct Piece {
  Tile tile = {};
  uint64_t first = 0;
  uint32_t n = 0;
};

template <class Gpu>
struct PairSlot : WorkSlot<Gpu, PairDevice<Gpu>, Piece> {
  template <class T>
  using Buffer = typename Gpu::template Buffer<T>;

  Unit unit;
  DeviceSlab<Gpu>* x = nullptr;
  DeviceSlab<Gpu>* y = nullptr;
  bool preparing = false;
  uint64_t range_first = 0, range_end = 0;

  Buffer<Pair> candidates;
  // Memory of the join.
  Buffer<uint32_t> keys[2];
  Buffer<uint32_t> positions[2];
  uint32_t sorted = 0;  // which of the two
  Buffer<uint64_t> sums;
  Buffer<uint8_t> temporary;
};

template <class Gpu>
class DeviceSearch : public Search, protected SlotSearch<PairSlot<Gpu>> {
 public:
  explicit DeviceSearch(const std::vector<Gpu*>& gpus) : Machine(gpus) {}
  ~DeviceSearch() override { this->drop_memory(); }

  void start(uint64_t limit) override {
    allocate_within<Gpu>(
        limit, kLeastSearchMemory,
        [&](uint64_t within, uint64_t* planned) {
          prepare(within);
          MemoryPlan plan;
          if (!plan_memory(stores_, need_, within, &plan))
            throw NoMemory("the search needs more device memory than the " + std::to_string(within >> 20) +
                           " MB that it may take");
          *planned = plan.bytes;
          allocate_memory(plan);
        },
        [&] { this->drop_memory(); });
    stats.devices = static_cast<uint32_t>(this->gpus_.size());
    stats.slabs = 0;
    for (const Store& s : stores_) stats.slabs += s.slabs;
    begin();
  }

  uint32_t step(NeardupGpuPair* pairs, uint32_t max, double* done) override {
    bool busy = false;
    const uint32_t n = this->step_slots(pairs, max, &busy);
    *done = busy || !finished_ ? std::min(0.999, progress()) : 1;
    return n;
  }

  // Tests begin with pieces of about so many pairs.
  void set_first_piece(uint64_t pairs) noexcept { piece_size_ = piece_size(pairs); }

  // The least that start() tries to make do with.
  static constexpr uint64_t kLeastSearchMemory = 256 << 10;

 protected:
  using Machine = SlotSearch<PairSlot<Gpu>>;
  using typename Machine::Device;
  using typename Machine::Event;
  using typename Machine::Slot;
  using Slab = DeviceSlab<Gpu>;

  // ------------------------------------------------------------ what differs from kind to kind

  // Fills stores_ and need_; may use the first device for estimates within `limit` bytes. Called again with less.
  virtual void prepare(uint64_t limit) = 0;
  // Memory of a kind's own for a slot.
  virtual void allocate_scratch(Slot&, const MemoryPlan&) {}
  // After memory was taken.
  virtual void begin() = 0;
  // Copies a column of rows first .. first + n - 1 of a store.
  virtual void fill(uint32_t store, uint32_t column, uint32_t first, uint32_t n, uint8_t* to) = 0;
  // Launches what computes the columns that do not come from the host.
  virtual void complete(Slot&, uint32_t store, Slab&) { (void)store; }
  virtual bool next_unit(Unit* unit) = 0;
  // Launches what must be done before pieces can be cut; false: pieces are there.
  virtual bool prepare_unit(Slot& slot) = 0;
  virtual void prepared(Slot&) {}
  virtual uint64_t piece_pairs(const Piece& piece) = 0;
  virtual double progress() = 0;

  uint32_t rows_in(const Slot& slot) const noexcept { return slot.x->rows + (slot.y == slot.x ? 0 : slot.y->rows); }
  List<Pair> found_list(Slot& slot) const noexcept {
    return {slot.found.data(), &slot.counters.data()->found, this->room_};
  }
  List<Pair> candidate_list(Slot& slot) const noexcept {
    return {slot.candidates.data(), &slot.counters.data()->candidates, this->room_};
  }

  std::vector<Store> stores_;
  MemoryNeed need_;
  WorkSize piece_size_ = piece_size();
  bool with_candidates_ = false;
  bool finished_ = false;  // next_unit() has no more

 private:
  // More than the widest row.
  static constexpr uint64_t kLeastStaging = 16 << 10;
  static constexpr uint64_t kMaxStaging = 4 << 20;

  void allocate_memory(const MemoryPlan& plan) {
    this->room_ = plan.room;
    uint64_t staging = kLeastStaging;
    for (const Store& s : stores_)
      for (uint32_t c = 0; c < s.uploaded; ++c) staging = std::max(staging, uint64_t{s.slab_rows} * s.width[c]);
    this->staging_bytes_ = std::min(staging, kMaxStaging);
    stats.device_bytes = plan.bytes;
    for (Gpu* gpu : this->gpus_) {
      gpu->use();
      this->devices_.push_back(std::make_unique<Device>());
      Device& device = *this->devices_.back();
      device.gpu = gpu;
      for (const Store& store : stores_) {
        device.slabs.emplace_back();
        for (uint32_t i = 0; i < store.held; ++i) {
          auto slab = std::make_unique<Slab>();
          for (uint32_t c = 0; c < store.columns; ++c)
            slab->columns[c] = typename Gpu::template Buffer<uint8_t>(*gpu, size_t{store.slab_rows} * store.width[c]);
          slab->event = std::make_unique<Event>(*gpu);
          device.slabs.back().push_back(std::move(slab));
        }
      }
      for (uint32_t i = 0; i < need_.slots; ++i) {
        auto slot = std::make_unique<Slot>();
        slot->allocate(device, plan.room, this->staging_bytes_);
        if (with_candidates_) slot->candidates = typename Gpu::template Buffer<Pair>(*gpu, plan.room);
        allocate_scratch(*slot, plan);
        this->slots_.push_back(std::move(slot));
      }
    }
  }

  bool start_unit(Slot& slot) override {
    if (!waiting_ && !finished_) {
      waiting_ = next_unit(&waiting_unit_);
      finished_ = !waiting_;
    }
    if (!waiting_) return false;
    const Unit& u = waiting_unit_;
    Slab* x = hold(*slot.device, u.store_x, u.slab_x);
    if (x == nullptr) return false;
    Slab* y = hold(*slot.device, u.store_y, u.slab_y);
    if (y == nullptr) {
      --x->users;
      return false;
    }
    waiting_ = false;
    slot.unit = u;
    slot.x = x;
    slot.y = y;
    return true;
  }

  // The slab, or room for it; null when all room is in use.
  Slab* hold(Device& device, uint32_t store, uint32_t number) {
    Slab* room = nullptr;
    for (auto& slab : device.slabs[store]) {
      if (slab->id == number) {
        ++slab->users;
        slab->used = ++clock_;
        return slab.get();
      }
      if (slab->users == 0 && (room == nullptr || slab->used < room->used)) room = slab.get();
    }
    if (room == nullptr) return nullptr;
    room->id = number;
    room->rows = stores_[store].rows_in_slab(number);
    room->column = room->loaded = 0;
    room->complete = false;
    room->loader = nullptr;
    room->users = 1;
    room->used = ++clock_;
    return room;
  }

  // A portion of the slabs' rows at a time.
  bool load(Slot& slot) override {
    Gpu& gpu = *slot.device->gpu;
    if (slot.preparing) {
      if (!gpu.done(*slot.event)) return false;
      prepared(slot);
      slot.preparing = false;
      slot.state = SlotState::ready;
      return true;
    }
    Slab* const slabs[2] = {slot.x, slot.y};
    const uint32_t stores[2] = {slot.unit.store_x, slot.unit.store_y};
    for (int k = 0; k < 2; ++k) {
      Slab& slab = *slabs[k];
      const Store& store = stores_[stores[k]];
      if (slab.complete) continue;
      if (slab.loader == nullptr) slab.loader = &slot;
      if (slab.loader != &slot) return false;
      if (slab.column < store.uploaded) {
        const uint32_t width = store.width[slab.column];
        const uint32_t n = std::min(slab.rows - slab.loaded, static_cast<uint32_t>(this->staging_bytes_ / width));
        const uint32_t first = static_cast<uint32_t>(slab.id) * store.slab_rows + slab.loaded;
        if (!slot.copy_in(slab.columns[slab.column].data() + size_t{slab.loaded} * width, size_t{n} * width,
                          [&](uint8_t* to) { fill(stores[k], slab.column, first, n, to); }))
          return false;
        slab.loaded += n;
        if (slab.loaded == slab.rows) {
          ++slab.column;
          slab.loaded = 0;
        }
        return true;
      }
      complete(slot, stores[k], slab);
      gpu.record(*slab.event, *slot.stream);
      slab.complete = true;
    }
    for (Slab* slab : slabs) gpu.wait_for(*slot.stream, *slab->event);
    slot.pieces.clear();
    slot.range_first = slot.range_end = 0;
    slot.preparing = prepare_unit(slot);
    if (slot.preparing)
      slot.tell_counters();
    else
      slot.state = SlotState::ready;
    return true;
  }

  void end_unit(Slot& slot) override {
    --slot.x->users;
    --slot.y->users;
    slot.x = slot.y = nullptr;
  }

  void count(Slot& slot, bool halved) override {
    piece_size_.took(milliseconds() - slot.launched);
    if (halved) {
      ++stats.halvings;
      return;
    }
    const Counters& told = slot.told.data()[0];
    stats.looked += piece_pairs(slot.piece);
    stats.compared += with_candidates_ ? told.candidates : told.compared;
    stats.found += told.found;
  }

  uint64_t clock_ = 0;
  bool waiting_ = false;  // a unit that no slot has taken
  Unit waiting_unit_;
};

}  // namespace neardup::gpu
