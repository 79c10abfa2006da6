// The wire form: any bytes are accepted or refused with corrupt_data, and what is accepted has this one form.
#include <string>
#include <vector>

#include "core/signature/minhash_encode.h"

#include "test/fuzz/fuzz.h"

using namespace neardup;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::vector<uint8_t> stored = minhash_from_wire(data, size);
    const MinhashView v = view_minhash(stored.data(), stored.size());
    const std::vector<uint8_t> wire = minhash_to_wire(v);
    DEMAND(wire.size() == size && std::memcmp(wire.data(), data, size) == 0);
    DEMAND(minhash_from_text(minhash_to_text(v)) == stored);
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::corrupt_data);
  }
  return 0;
}
