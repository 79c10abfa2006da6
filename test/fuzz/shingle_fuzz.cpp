// Any bytes: the fast tokenizer with every form of the kernels against the obvious one. Ill-formed sequences read as
// U+FFFD, so the obvious one gets the text with those written out.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/document/shingle.h"
#include "core/kernels/kernels.h"
#include "core/unicode/utf8.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/shingle_reference.h"

using namespace neardup;

namespace {

std::vector<uint64_t> fast(Unit unit, int k, const uint8_t* data, size_t size) {
  ShingleStream stream(unit, k, data, size);
  static uint64_t batch[ShingleStream::kMaxBatch];
  std::vector<uint64_t> out;
  while (const size_t n = stream.next(batch)) {
    DEMAND(n <= ShingleStream::kMaxBatch);
    out.insert(out.end(), batch, batch + n);
  }
  return out;
}

}  // namespace

// Byte 0: k. Byte 1: how often the rest is repeated, so that small inputs reach block borders. Byte 2: bytes left out
// of the repeated text's end.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input in(data, size);
  const int k = 1 + in.read<uint8_t>() % kMaxK;
  const size_t times = 1 + in.read<uint8_t>() % 64;
  const size_t cut = in.read<uint8_t>();
  if (in.size() > 10000) return 0;
  std::string bytes;
  for (size_t i = 0; i < times && bytes.size() < 12000; ++i) {
    bytes.append(reinterpret_cast<const char*>(in.data()), in.size());
  }
  bytes.resize(bytes.size() - std::min(bytes.size(), cut));
  // Memory of exactly this size.
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
  const uint8_t* const p = exact.get();
  std::copy(bytes.begin(), bytes.end(), exact.get());

  std::string text;
  for (size_t i = 0; i < bytes.size();) {
    unsigned length;
    uint8_t utf8[4];
    const uint32_t c = decode_utf8(p + i, p + bytes.size(), &length);
    DEMAND(length >= 1 && length <= 4 && i + length <= bytes.size());
    text.append(reinterpret_cast<const char*>(utf8), encode_utf8(c, utf8));
    i += length;
  }
  const size_t units = static_cast<size_t>(k);
  const auto words = reference::word_shingle_hashes(text, units);
  const auto characters = reference::char_shingle_hashes(text, units);
  const auto raw = reference::byte_shingle_hashes(bytes, units);
  for (const char* name : kKernelForms) {
    if (!force_kernels(name)) continue;
    DEMAND(fast(Unit::word, k, p, bytes.size()) == words);
  }
  DEMAND(fast(Unit::character, k, p, bytes.size()) == characters);
  DEMAND(fast(Unit::byte, k, p, bytes.size()) == raw);

  const auto expected = reference::word_shingles(text, units);
  ShingleText shingles(Unit::word, k, p, bytes.size());
  std::string shingle;
  size_t n = 0;
  for (; shingles.next(&shingle); ++n) DEMAND(n < expected.size() && shingle == expected[n]);
  DEMAND(n == expected.size());
  return 0;
}
