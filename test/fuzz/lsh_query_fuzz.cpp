// lsh_query: its readers accept or throw; what they accept reads back the same.
#include <string>
#include <string_view>
#include <vector>

#include "core/lsh/lsh_query.h"

#include "test/fuzz/fuzz.h"

using namespace neardup;

namespace {

void check(const std::vector<uint8_t>& stored) {
  const LshQueryView v = view_lsh_query(stored.data(), stored.size());
  DEMAND(lsh_query_from_text(lsh_query_to_text(v)) == stored);
  const std::vector<uint8_t> wire = lsh_query_to_wire(v);
  DEMAND(lsh_query_from_wire(wire.data(), wire.size()) == stored);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    check(lsh_query_from_text(std::string_view(reinterpret_cast<const char*>(data), size)));
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::invalid_text);
  }
  try {
    check(lsh_query_from_wire(data, size));
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::corrupt_data);
  }
  // As a stored value, aligned and in memory of exactly this size.
  std::vector<uint32_t> words((size + 3) / 4);
  if (size != 0) std::memcpy(words.data(), data, size);
  try {
    const LshQueryView v = view_lsh_query(words.data(), size);
    DEMAND(lsh_query_size(v) == size);
    DEMAND(!lsh_query_to_text(v).empty());
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::corrupt_data);
  }
  return 0;
}
