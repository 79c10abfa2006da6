// Weighted sets: the fast sketch equals the obvious one, whatever the weights, order and repeats.
#include <algorithm>
#include <vector>

#include "core/signature/minhash_encode.h"
#include "core/signature/weighted_minhash.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/weighted_reference.h"

using namespace neardup;

// num_perm, seed; then elements: a hash of one byte or eight, and a weight: a double's bytes, or units and a shift.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1000) return 0;
  fuzz::Input in(data, size);
  const uint32_t num_perm = 16 + in.below(100);
  const uint64_t seed = in.read<uint64_t>();
  std::vector<WeightedElement> elements;
  reference::WeightedSet set;
  WeightUnits total = 0;
  while (!in.empty()) {
    const uint8_t form = in.read<uint8_t>();
    const uint64_t hash = form & 1 ? in.read<uint8_t>() : in.read<uint64_t>();
    WeightUnits units = 0;
    if (form & 2) {
      try {
        units = weight_units(in.read<double>());
      } catch (const Error& e) {
        DEMAND(e.code() == Errc::invalid_argument);
        continue;
      }
    } else {
      const uint64_t some = in.read<uint64_t>();
      units = WeightUnits{some} << in.read<uint8_t>() % 65;
    }
    try {
      add_units(&total, units);
    } catch (const Error& e) {
      DEMAND(e.code() == Errc::too_large);
      continue;
    }
    elements.push_back({hash, units});
    set.emplace_back(hash, units);
  }
  std::vector<uint32_t> got(num_perm);
  if (!sign_weighted(num_perm, seed, &elements, nullptr, got.data())) {
    DEMAND(total == 0);
    return 0;
  }
  DEMAND(got == reference::weighted_minhash32(set, num_perm, seed));
  // Every width is a signature that its own decoders accept.
  for (const uint8_t bits : {8, 16, 32}) {
    MinhashParams p;
    p.kind = MinhashKind::weighted;
    p.k = 0;
    p.bits = bits;
    p.num_perm = static_cast<uint16_t>(num_perm);
    p.seed = static_cast<int64_t>(seed);
    std::vector<uint8_t> stored(minhash_size(p, false));
    write_minhash(p, got.data(), stored.data());
    DEMAND(minhash_from_text(minhash_to_text(view_minhash(stored.data(), stored.size()))) == stored);
  }
  return 0;
}
