// Two texts that share much: every form of the kernels and several bounds against the textbook's table.
#include <algorithm>
#include <memory>
#include <string>

#include "core/exact/edit_distance.h"
#include "core/kernels/kernels.h"
#include "core/unicode/utf8.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/edit_reference.h"

using namespace neardup;

namespace {

void append(std::string* out, uint32_t c) {
  uint8_t bytes[4];
  out->append(reinterpret_cast<const char*>(bytes), encode_utf8(c, bytes));
}

// Symbols of small or large alphabets, 1 to 4 bytes long.
uint32_t symbol(uint8_t kind, uint32_t x) {
  switch (kind % 4) {
    case 0:
      return 'a' + x % 2;
    case 1:
      return 'a' + x % 26;
    case 2:
      return 0x4e00 + x % 3000;
    default: {
      const uint32_t c = 1 + x * 17 % 0x10ffff;
      return c >= 0xd800 && c < 0xe000 ? c - 0x800 : c;
    }
  }
}

uint64_t distance(Unit unit, const fuzz::Exact& a, const fuzz::Exact& b, uint64_t most) {
  return edit_distance(unit, a.p.get(), a.size, b.p.get(), b.size, most).value_or(UINT64_MAX);
}

void compare(Unit unit, const std::string& a, const std::string& b, uint64_t bound) {
  const auto symbols = unit == Unit::byte ? reference::byte_symbols : reference::code_point_symbols;
  const auto x = symbols(a), y = symbols(b);
  if (x.size() * y.size() > 1'000'000) return;  // the table's time
  const uint64_t d = reference::edit_distance(x, y);
  const fuzz::Exact p(a), q(b);
  for (const char* name : {"scalar", "avx512"}) {  // the others have none of their own
    if (!force_kernels(name)) continue;
    for (const uint64_t most : {UINT64_MAX, d, d + d / 20, bound}) {
      DEMAND(distance(unit, p, q, most) == (d <= most ? d : UINT64_MAX));
    }
    if (d > 0) DEMAND(distance(unit, q, p, d - 1) == UINT64_MAX);
  }
  if (x.empty() && y.empty()) return;
  const double rate = static_cast<double>(d) / static_cast<double>(x.size() + y.size());
  DEMAND(edit_rate(unit, p.p.get(), p.size, q.p.get(), q.size, rate) == rate);
}

}  // namespace

// Byte 0: alphabet, or bytes as they stand. 2 bytes: a bound. 2 bytes: length of a text made from a seed of 4 bytes;
// then pieces of it are kept, left out or replaced.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 2000) return 0;
  fuzz::Input in(data, size);
  const uint8_t kind = in.read<uint8_t>();
  const uint64_t bound = in.read<uint16_t>();
  if (kind >= 192) {
    // Two runs of any bytes: as bytes exactly, as ill-formed text without harm.
    const size_t first = std::min<size_t>(in.size(), bound % 1000);
    const std::string all(reinterpret_cast<const char*>(in.data()), in.size());
    const std::string a = all.substr(0, first), b = all.substr(first);
    compare(Unit::byte, a, b, bound % 500);
    distance(Unit::character, fuzz::Exact(a), fuzz::Exact(b), bound);
    return 0;
  }
  uint32_t x = 0;
  size_t length = in.below(900);
  uint32_t state = in.read<uint32_t>();
  std::string a, b;
  while (length > 0) {
    const uint8_t how = in.read<uint8_t>();
    const size_t run = std::min<size_t>(length, 1 + (how >> 2) * (in.empty() ? 40u : 3u));
    length -= run;
    for (size_t i = 0; i < run; ++i) {
      state = state * 1664525u + 1013904223u;
      x = symbol(kind, state >> 10);
      append(&a, x);
      if (how % 4 == 3) append(&b, symbol(kind, state >> 9));
      if (how % 4 < 2) append(&b, x);
    }
    if (how % 4 == 1) append(&b, symbol(kind, state >> 8));
  }
  compare(Unit::character, a, b, bound % 2000);
  compare(Unit::byte, a, b, bound % 2000);
  return 0;
}
