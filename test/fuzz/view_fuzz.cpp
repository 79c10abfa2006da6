// The stored form: bytes that view_minhash accepts are safe for every operation.
#include <cmath>
#include <string>
#include <vector>

#include "core/signature/minhash.h"
#include "core/signature/minhash_encode.h"

#include "test/fuzz/fuzz.h"

using namespace neardup;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Aligned as a Datum is, in memory of exactly this size.
  std::vector<uint32_t> words((size + 3) / 4);
  if (size != 0) std::memcpy(words.data(), data, size);
  try {
    const MinhashView v = view_minhash(words.data(), size);
    const uint32_t L = v.num_perm(), bits = v.bits();
    DEMAND(v.size == size && minhash_size(header_params(*v.header), v.empty()) == size);
    check_comparable(v, v);
    DEMAND(minhash_to_wire(v).size() == size);
    DEMAND(!minhash_to_text(v).empty());
    if (v.empty()) return 0;
    DEMAND(count_matches(v.components, v.components, L, bits) == L);
    for (uint32_t i = 0; i < L; ++i) component_at(v, i);
    if (bits == 8) return 0;
    DEMAND(estimate_containment(v.components, v.components, L, bits) == 1.0);
    const double n = estimate_set_size(v.components, L, bits);
    DEMAND(!std::isnan(n) && n >= 0);
    if (bits != 32) return 0;
    // As a union or an aggregate would go on with it.
    std::vector<uint32_t> components(static_cast<const uint32_t*>(v.components),
                                     static_cast<const uint32_t*>(v.components) + L);
    const std::vector<uint32_t> before = components;
    IncrementalSketch sketch(L, static_cast<uint64_t>(v.header->seed), components.data());
    for (uint64_t x = 0; x < 20; ++x) sketch.add(x * 0x9e3779b97f4a7c15u);
    for (uint32_t i = 0; i < L; ++i) {
      DEMAND(components[i] <= before[i]);
      component16(before[i], L);
    }
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::corrupt_data);
  }
  return 0;
}
