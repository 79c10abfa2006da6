// Any bytes as a stored row of a word model: refused, or safe for every use and written the same again.
#include <vector>

#include "core/base/error.h"
#include "core/word_model/word_row.h"

#include "test/fuzz/fuzz.h"

using namespace neardup;

// Bytes 0 and 1: how many features the model has, times 64.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input in(data, size);
  const uint32_t features = 64 * in.read<uint16_t>();
  const fuzz::Exact exact(std::string(reinterpret_cast<const char*>(in.data()), in.size()));
  std::vector<uint32_t> f;
  std::vector<uint16_t> v;
  try {
    decode_word_row(exact.p.get(), exact.size, features, &f, &v);
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::corrupt_data);
    return 0;
  }
  DEMAND(f.size() == v.size());
  uint64_t weight = 0;
  for (size_t i = 0; i < f.size(); ++i) {
    DEMAND(f[i] < features && (i == 0 || f[i] > f[i - 1]) && v[i] >= 1 && v[i] <= kMaxInformation);
    weight += v[i];
  }
  const WordRow row{f.data(), v.data(), f.size()};
  DEMAND(row_weight(row) == weight && common_information(row, row) == 2 * weight);
  std::vector<uint8_t> again;
  encode_word_row(row, &again);
  DEMAND(again.size() == exact.size && std::equal(again.begin(), again.end(), exact.p.get()));
  return 0;
}
