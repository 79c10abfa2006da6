// Two documents made of few pieces: shared passages, copied shares, winnowing and fingerprints against their
// definitions.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/document/fingerprint.h"
#include "core/document/winnow.h"
#include "core/passages/shared/shared_passages.h"
#include "core/unicode/utf8.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/passages_reference.h"

using namespace neardup;

namespace {

// Ill-formed sequences written out as U+FFFD, which is what they read as.
std::string well_formed(const std::string& s) {
  const fuzz::Exact exact(s);
  std::string out;
  for (size_t i = 0; i < exact.size;) {
    unsigned length;
    reference::append_utf8(out, decode_utf8(exact.p.get() + i, exact.p.get() + exact.size, &length));
    i += length;
  }
  return out;
}

constexpr Unit kUnits[] = {Unit::word, Unit::character, Unit::byte, Unit::line, Unit::paragraph, Unit::code};

std::vector<reference::PlacedUnit> placed(Unit unit, const std::string& s) {
  return reference::placed_units(unit, unit == Unit::byte ? s : well_formed(s));
}

void compare(Unit unit, const std::string& a, const std::string& b, const std::string& ignore, size_t least) {
  auto x = placed(unit, a), y = placed(unit, b);
  if (x.size() * y.size() > 200'000) return;  // the table's time
  const fuzz::Exact p(a), q(b);
  reference::leave_out({placed(unit, ignore)}, least, &x);
  const auto expected = reference::shared_passages(x, y, least);
  const auto got = shared_passages(unit, p.p.get(), p.size, q.p.get(), q.size, static_cast<int64_t>(least), {ignore});
  DEMAND(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    DEMAND((reference::FoundPassage{got[i].start_a, got[i].length_a, got[i].start_b, got[i].units} == expected[i]));
    DEMAND(got[i].begin < got[i].end && got[i].end <= p.size);
  }
  DEMAND(copied_share(unit, p.p.get(), p.size, q.p.get(), q.size, static_cast<int64_t>(least), {ignore}) ==
         reference::copied_share(x, y, least));
}

void check_winnow(Unit unit, const std::string& a, int k, int window) {
  const auto units = placed(unit, a);
  std::vector<uint64_t> hashes;
  const std::string read = unit == Unit::byte ? a : well_formed(a);
  const size_t n = static_cast<size_t>(k);
  if (unit == Unit::word) {
    hashes = reference::word_shingle_hashes(read, n);
  } else if (unit == Unit::character) {
    hashes = reference::char_shingle_hashes(read, n);
  } else if (unit == Unit::byte) {
    hashes = reference::byte_shingle_hashes(a, n);
  } else {
    for (const auto& u : units) hashes.push_back(reference::xxh3(u.key));
    hashes = reference::combine(hashes, n);
  }
  const auto expected = reference::winnow(hashes, units, static_cast<size_t>(window));
  const fuzz::Exact p(a);
  WinnowStream stream(unit, k, window, p.p.get(), p.size);
  WinnowFingerprint f;
  size_t i = 0;
  for (; stream.next(&f); ++i) DEMAND(i < expected.size() && (reference::Chosen{f.hash, f.position} == expected[i]));
  DEMAND(i == expected.size());
}

void check_windows(const std::string& a, size_t window) {
  const fuzz::Exact p(a);
  RollingFingerprints rolling(Unit::byte, static_cast<int64_t>(window), p.p.get(), p.size);
  uint64_t f = 0;
  size_t i = 0;
  for (; rolling.next(&f, 1) == 1; ++i) DEMAND(i + window <= a.size() && f == fingerprint(p.p.get() + i, window));
  DEMAND(i == (a.size() < window ? 0 : a.size() - window + 1));
  RollingFingerprints characters(Unit::character, static_cast<int64_t>(window), p.p.get(), p.size);
  for (i = 0; characters.next(&f, 1) == 1; ++i) DEMAND(f < kFingerprintPrime);
  const size_t count = count_code_points(p.p.get(), p.size);
  DEMAND(i == (count < window ? 0 : count - window + 1));
}

}  // namespace

// Byte 0: least. Byte 1: k. Byte 2: window. Byte 3: bytes of a piece; then four pieces as they stand, and for each byte
// of the rest two pieces, one for each document, or both texts themselves where no room is left for pieces.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 600) return 0;
  fuzz::Input in(data, size);
  const size_t least = 1 + in.read<uint8_t>() % 20;
  const int k = 1 + in.read<uint8_t>() % kMaxK;
  const int window = 1 + in.read<uint8_t>() % 40;
  const size_t piece = 1 + in.read<uint8_t>() % 24;
  const std::string all(reinterpret_cast<const char*>(in.data()), in.size());
  std::string a, b;
  if (all.size() > 4 * piece) {
    for (size_t i = 4 * piece; i < all.size(); ++i) {
      const auto c = static_cast<uint8_t>(all[i]);
      if (c & 0x40) a += all.substr(c % 4 * piece, 1 + (c >> 4 & 3) * piece / 3);
      if (c & 0x80) b += all.substr((c >> 2) % 4 * piece, 1 + (c >> 4 & 3) * piece / 3);
    }
  } else {
    a = all.substr(0, all.size() / 2);
    b = all.substr(all.size() / 2);
  }
  for (const Unit unit : kUnits) {
    compare(unit, a, b, "", least);
    compare(unit, a, b, all.substr(0, piece), least);
    check_winnow(unit, a, k, window);
  }
  check_windows(a, static_cast<size_t>(window));
  return 0;
}
