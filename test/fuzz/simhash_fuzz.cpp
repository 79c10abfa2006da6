// SimHash: texts are read or refused, vectors give a value or an error, and documents agree with one counter a bit.
#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/signature/simhash.h"

#include "test/fuzz/fuzz.h"

using namespace neardup;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const uint64_t value = simhash_from_text(text);
    DEMAND(simhash_from_text(simhash_to_text(value)) == value);
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::invalid_text && !e.hint().empty());
  }
  std::vector<float> vector(size / sizeof(float));
  if (!vector.empty()) memcpy(vector.data(), data, vector.size() * sizeof(float));
  bool finite = !vector.empty();
  for (const float x : vector) finite = finite && std::isfinite(x);
  try {
    simhash_vector(vector.data(), vector.size(), nullptr);
    DEMAND(finite);
  } catch (const Error& e) {
    DEMAND(!finite && e.code() == Errc::invalid_argument);
  }
  if (size == 0) return 0;
  SimhashCounts counts;
  SimhashSums sums;
  ShingleStream stream(data[0] & 1 ? Unit::word : Unit::character, 1 + data[0] % 5, data, size);
  uint64_t batch[ShingleStream::kMaxBatch];
  while (const size_t n = stream.next(batch)) {
    counts.add(batch, n);
    for (size_t i = 0; i < n; ++i) sums.add(batch[i], 1);
  }
  DEMAND(counts.result() == sums.result());
  return 0;
}
