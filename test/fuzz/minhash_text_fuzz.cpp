// The text form: any text is accepted or refused with its own error, and what is accepted survives the round trip.
#include <string>
#include <string_view>
#include <vector>

#include "core/signature/minhash_encode.h"

#include "test/fuzz/fuzz.h"

using namespace neardup;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::vector<uint8_t> stored = minhash_from_text(text);
    const MinhashView v = view_minhash(stored.data(), stored.size());
    const std::string back = minhash_to_text(v);
    DEMAND(minhash_from_text(back) == stored);
    // Only numbers have several spellings.
    DEMAND(back.substr(back.rfind(':')) == text.substr(text.rfind(':')));
    const std::vector<uint8_t> wire = minhash_to_wire(v);
    DEMAND(minhash_from_wire(wire.data(), wire.size()) == stored);
    DEMAND(!describe(header_params(*v.header)).empty());
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::invalid_text);
    DEMAND(!e.hint().empty());
  }
  return 0;
}
