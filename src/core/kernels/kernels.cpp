// Picks the kernels that this machine can run.
#include "core/kernels/kernels.h"

#include <atomic>
#include <cstring>

#include "core/kernels/forms.h"

namespace neardup {
namespace {

bool always() noexcept { return true; }

#if defined(__x86_64__)
// __builtin_cpu_supports tests the CPUID bits and, for AVX and up, that the OS saves the registers (XGETBV).
bool has_avx2() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
bool has_avx512() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

struct Form {
  const Kernels* table;
  bool (*is_available)() noexcept;
};

// The forms of this processor's family, the best first.
constexpr Form kForms[] = {
#if defined(__x86_64__)
    {&kAvx512Kernels, has_avx512},
    {&kAvx2Kernels, has_avx2},
#elif defined(__aarch64__)
    {&kNeonKernels, always},
#endif
    {&kScalarKernels, always},
};

const Kernels* find(const char* name) noexcept {
  const bool best = std::strcmp(name, "auto") == 0;
  for (const Form& form : kForms)
    if ((best || std::strcmp(name, form.table->name) == 0) && form.is_available()) return form.table;
  return nullptr;
}

std::atomic<const Kernels*> g_active{nullptr};

}  // namespace

const Kernels& kernels() noexcept {
  const Kernels* k = g_active.load(std::memory_order_relaxed);
  if (k == nullptr) {
    k = find("auto");
    g_active.store(k, std::memory_order_relaxed);
  }
  return *k;
}

bool force_kernels(const char* name) noexcept {
  const Kernels* k = find(name);
  if (k == nullptr) return false;
  g_active.store(k, std::memory_order_relaxed);
  return true;
}

bool kernels_available(const char* name) noexcept { return find(name) != nullptr; }

}  // namespace neardup
