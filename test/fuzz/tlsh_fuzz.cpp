// TLSH digests: any text is accepted or refused with its own error; of two that are accepted the distance is that of
// the definition, and the codes differ in no more bits.
#include <bit>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/signature/tlsh.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/tlsh_reference.h"

using namespace neardup;

namespace {

std::optional<TlshDigest> read(std::string_view text) {
  try {
    return tlsh_of_text(text);
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::invalid_text);
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t half = size / 2;
  const std::string a = text.substr(0, half);
  const std::string b = text.substr(half);
  read(text);
  const auto left = read(a);
  const auto right = read(b);
  if (!left || !right) return 0;
  for (const bool with_length : {false, true})
    DEMAND(tlsh_distance(*left, *right, with_length) ==
           static_cast<uint32_t>(reference::tlsh_distance(a, b, with_length)));
  uint8_t codes[2][kTlshCodeBytes];
  write_tlsh_code(*left, codes[0]);
  write_tlsh_code(*right, codes[1]);
  uint32_t bits = 0;
  for (size_t i = 0; i < kTlshCodeBytes; ++i)
    bits += static_cast<uint32_t>(std::popcount(static_cast<uint8_t>(codes[0][i] ^ codes[1][i])));
  DEMAND(bits <= tlsh_distance(*left, *right, false));
  return 0;
}
