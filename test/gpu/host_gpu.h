// A GPU for tests that is none: kernels run on the host, thread by thread, memory is counted and can run out, calls can
// fail. Compiled with -fsanitize=thread it runs two blocks at once, each on two threads with a barrier after each(), so
// that accesses of two threads of a block between two barriers, or of two blocks, that are no atomic additions and of
// which one writes are reported. What it cannot show is all that is CUDA's.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "gpu/base/portable.h"

namespace neardup::gpu {

#if defined(__SANITIZE_THREAD__)  // GCC; Clang says it otherwise
#define NEARDUP_SEES_RACES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NEARDUP_SEES_RACES 1
#endif
#endif
#ifdef NEARDUP_SEES_RACES
inline constexpr bool kSeesRaces = true;
#else
inline constexpr bool kSeesRaces = false;
#endif

class HostGpu {
 public:
  // Bytes that buffers may take in all, and of shared memory.
  explicit HostGpu(uint64_t memory = UINT64_MAX, uint32_t shared = 1 << 20) : memory_(memory), shared_(shared) {}

  struct OutOfMemory : Error {
    OutOfMemory() : Error(Errc::device, "host GPU: out of memory") {}
  };
  static bool out_of_memory(const Error& e) noexcept { return dynamic_cast<const OutOfMemory*>(&e) != nullptr; }

  // n elements full of rubbish.
  template <class T>
  class Buffer {
   public:
    Buffer() = default;
    Buffer(HostGpu& gpu, size_t n) : gpu_(&gpu), n_(n) {
      gpu.call();
      if (n * sizeof(T) > gpu.memory_ - gpu.held) throw OutOfMemory();
      gpu.held += n * sizeof(T);
      gpu.most_held = std::max(gpu.most_held, gpu.held);
      data_.reset(static_cast<T*>(::operator new (std::max<size_t>(1, n) * sizeof(T), std::align_val_t{64})));
      std::memset(static_cast<void*>(data_.get()), 0xcd, n * sizeof(T));
    }
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept {
      std::swap(gpu_, other.gpu_);
      std::swap(n_, other.n_);
      std::swap(data_, other.data_);
      return *this;
    }
    ~Buffer() {
      if (gpu_ != nullptr) gpu_->held -= n_ * sizeof(T);
    }
    T* data() const noexcept { return data_.get(); }
    size_t size() const noexcept { return n_; }

   private:
    struct Free {
      void operator()(T* p) const noexcept { ::operator delete (p, std::align_val_t{64}); }
    };
    HostGpu* gpu_ = nullptr;
    size_t n_ = 0;
    std::unique_ptr<T, Free> data_;
  };

  // Memory of the host does not count.
  template <class T>
  class Pinned {
   public:
    Pinned() = default;
    Pinned(HostGpu& gpu, size_t n) : data_(n) { gpu.call(); }
    T* data() noexcept { return data_.data(); }
    const T* data() const noexcept { return data_.data(); }

   private:
    std::vector<T> data_;
  };

  struct Stream {
    explicit Stream(HostGpu& gpu) { gpu.call(); }
  };
  struct Event {
    explicit Event(HostGpu& gpu) { gpu.call(); }
    int asked = 0;  // times to say "not yet"
  };

  // Products of matrices, as CudaGpu has them by cuBLAS: out[r][c] is, or goes up by, the sum over i < k of
  // rows[r][i] * columns[c][i].
  class Multiplier {
   public:
    explicit Multiplier(HostGpu& gpu) : gpu_(gpu) { gpu.call(); }
    bool works() const noexcept { return gpu_.multiplies; }
    void multiply(Stream&, const int8_t* rows, uint32_t n, const int8_t* columns, uint32_t m, uint32_t k, uint32_t ld,
                  int32_t* out, uint32_t out_ld, bool add) {
      gpu_.call();
      ++gpu_.products;
      if (n % 16 != 0 || m % 16 != 0 || k % 16 != 0 || ld % 16 != 0 || out_ld % 16 != 0 ||
          reinterpret_cast<uintptr_t>(rows) % 16 != 0 || reinterpret_cast<uintptr_t>(columns) % 16 != 0 ||
          reinterpret_cast<uintptr_t>(out) % 16 != 0)
        throw Error(Errc::device, "host GPU: matrices out of line");
      for (uint32_t r = 0; r < n; ++r) {
        for (uint32_t c = 0; c < m; ++c) {
          int64_t sum = add ? out[size_t{r} * out_ld + c] : 0;
          for (uint32_t i = 0; i < k; ++i) sum += rows[size_t{r} * ld + i] * columns[size_t{c} * ld + i];
          out[size_t{r} * out_ld + c] = static_cast<int32_t>(sum);
        }
      }
    }

   private:
    HostGpu& gpu_;
  };

  void use() noexcept {}
  uint32_t shared_bytes() const noexcept { return shared_; }
  void copy_in(Stream&, void* to, const void* from, size_t n) { move(to, from, n); }
  void copy_out(Stream&, void* to, const void* from, size_t n) { move(to, from, n); }
  void copy(Stream&, void* to, const void* from, size_t n) { move(to, from, n); }
  void clear(Stream&, void* to, size_t n) {
    call();
    std::memset(to, 0, n);
  }
  void record(Event& event, Stream&) {
    call();
    event.asked = 1;
  }
  bool done(Event& event) { return event.asked-- <= 0; }
  void wait(Stream&) { call(); }
  void wait_for(Stream&, Event&) { call(); }

  template <class Kernel>
  void launch(Stream&, const Kernel& kernel, uint32_t grid_x, uint32_t grid_y = 1) {
    call();
    ++launches;
    if (grid_x == 0 || grid_y == 0 || grid_y > 65535) throw Error(Errc::device, "host GPU: invalid configuration");
    if (kernel_shared<Kernel>(0) > shared_) throw Error(Errc::device, "host GPU: too much shared memory");
    const uint64_t blocks = uint64_t{grid_x} * grid_y;
    std::atomic<uint64_t> next{0};
    const auto run_blocks = [&](Team* team) {
      std::vector<unsigned char> shared(kernel_shared<Kernel>(0) + 64);
      auto* const aligned =
          reinterpret_cast<unsigned char*>((reinterpret_cast<uintptr_t>(shared.data()) + 63) / 64 * 64);
      // Relaxed: blocks are not ordered by it.
      for (uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
        const auto x = static_cast<uint32_t>(i % grid_x);
        const auto y = static_cast<uint32_t>(i / grid_x);
        std::memset(aligned, 0xcd, kernel_shared<Kernel>(0));
        Block block(x, y, Kernel::kThreads, aligned, x + y, team);
        kernel(block);
      }
    };
    if (!kSeesRaces) {
      run_blocks(nullptr);
      return;
    }
    const auto with_a_team = [&] {
      Team team;
      run_blocks(&team);
    };
    std::thread other(with_a_team);
    with_a_team();
    other.join();
  }

  size_t temporary_bytes(uint32_t) const noexcept { return 16; }
  uint32_t sort(Stream&, Buffer<uint8_t>&, uint32_t* keys, uint32_t* keys_out, uint32_t* positions,
                uint32_t* positions_out, uint32_t n) {
    call();
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    for (uint32_t i = 0; i < n; ++i) {
      keys_out[i] = keys[order[i]];
      positions_out[i] = positions[order[i]];
    }
    return 1;
  }
  void sum(Stream&, Buffer<uint8_t>&, uint64_t* counts, uint32_t n) {
    call();
    std::partial_sum(counts, counts + n, counts);
  }

  uint64_t held = 0;
  uint64_t most_held = 0;
  uint64_t launches = 0;
  uint64_t products = 0;
  bool multiplies = true;
  int64_t calls_left = INT64_MAX;  // then the device is lost

 private:
  void move(void* to, const void* from, size_t n) {
    call();
    std::memcpy(to, from, n);
  }
  void call() {
    if (calls_left-- <= 0) throw Error(Errc::device, "host GPU: the device is lost");
  }
  template <class Kernel>
  static constexpr auto kernel_shared(int) -> decltype(Kernel::kShared) {
    return Kernel::kShared;
  }
  template <class Kernel>
  static constexpr uint32_t kernel_shared(long) {
    return 0;
  }

  // This thread and another one, for the threads of a block.
  class Team {
   public:
    Team()
        : helper_([this] {
            for (;;) {
              barrier_.arrive_and_wait();
              if (work_ == nullptr) return;
              work_(what_, 1);
              barrier_.arrive_and_wait();
            }
          }) {}
    ~Team() {
      work_ = nullptr;
      barrier_.arrive_and_wait();
      helper_.join();
    }

    // part(0) here and part(1) there.
    template <class Part>
    void run(Part part) {
      what_ = &part;
      work_ = [](void* what, uint32_t which) { (*static_cast<Part*>(what))(which); };
      barrier_.arrive_and_wait();
      part(0);
      barrier_.arrive_and_wait();
    }

   private:
    std::barrier<> barrier_{2};
    void (*work_)(void*, uint32_t) = nullptr;
    void* what_ = nullptr;
    std::thread helper_;
  };

  // Threads come in several orders, so that nothing depends on one.
  class Block {
   public:
    static constexpr uint32_t kMaxThreads = 256;
    template <class T>
    class PerThread {
     public:
      T& operator()(uint32_t thread) { return of_[thread]; }

     private:
      T of_[kMaxThreads];
    };

    Block(uint32_t x, uint32_t y, uint32_t threads, unsigned char* shared, uint32_t order, Team* team)
        : x_(x), y_(y), threads_(threads), shared_(shared), order_(order), team_(team) {}
    uint32_t x() const noexcept { return x_; }
    uint32_t y() const noexcept { return y_; }
    unsigned char* shared() const noexcept { return shared_; }
    template <class F>
    void each(F f) {
      // 37 is prime to the numbers of threads, powers of 2.
      const auto thread = [this](uint32_t i) {
        return order_ % 3 == 0 ? i : order_ % 3 == 1 ? threads_ - 1 - i : i * 37 % threads_;
      };
      if (team_ == nullptr) {
        for (uint32_t i = 0; i < threads_; ++i) f(thread(i));
      } else {
        // Each time another half of them, so that any two come apart sooner or later.
        team_->run([&](uint32_t part) {
          for (uint32_t i = 0; i < threads_; ++i)
            if ((mix64(uint64_t{order_} << 32 | i) & 1) == part) f(thread(i));
        });
      }
      ++order_;
    }

   private:
    uint32_t x_, y_, threads_;
    unsigned char* shared_;
    uint32_t order_;
    Team* team_;
  };

  uint64_t memory_;
  uint32_t shared_;
};

}  // namespace neardup::gpu
