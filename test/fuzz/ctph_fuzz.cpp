// Digests: any bytes as a document give those of the reference, in one piece and in several; any text and any stored
// bytes are accepted or refused with their own error, and what is accepted is safe to print, score and compare.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/signature/ctph.h"
#include "core/signature/ctph_compare.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/ctph_reference.h"

using namespace neardup;

namespace {

reference::Ctph plain(const CtphView& d) {
  return {ctph_block_size(d.exponent), std::string(d.part1), std::string(d.part2)};
}

void check_document(fuzz::Input in) {
  const uint32_t length = in.below(2) ? 64 : 65 + in.below(960);
  const size_t portion = 1 + in.below(200);
  // Repeats make documents of several block sizes out of few bytes.
  const size_t times = 1 + in.below(in.size() < 2000 ? 40 : 2);
  std::string s;
  for (size_t i = 0; i < times; ++i) s.append(reinterpret_cast<const char*>(in.data()), in.size());
  const reference::Ctph expected = length == 64 ? reference::ctph(s) : reference::ctph_long(s, length);
  const CtphDigest got = length == 64 ? ctph(s.data(), s.size()) : ctph_long(s.data(), s.size(), length);
  DEMAND(ctph_block_size(got.exponent) == expected.block_size);
  DEMAND(got.part1 == expected.part1 && got.part2 == expected.part2);
  CtphHasher h(length);
  for (size_t at = 0; at < s.size(); at += portion) h.update(s.data() + at, std::min(portion, s.size() - at));
  DEMAND(h.digest() == got);
  DEMAND(ctph_from_text(ctph_to_text(digest_view(got))) == got);
}

void check_pair(const CtphView& a, const CtphView& b) {
  if (a.is_long() != b.is_long()) return;
  if (a.part1.size() + a.part2.size() + b.part1.size() + b.part2.size() > 1000) return;  // the reference is slow
  const int score = reference::ctph_score(plain(a), plain(b));
  DEMAND(ctph_score(a, b) == score);
  DEMAND(ctph_score(b, a) == score);
  DEMAND(ctph_edit_rate(a, b) == reference::ctph_edit_rate(plain(a), plain(b)));
}

// Two texts, apart at the first zero.
void check_text(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\0'));
  const std::string_view second = text.substr(std::min(first.size() + 1, text.size()));
  try {
    const CtphDigest a = ctph_from_text(first);
    const std::string back = ctph_to_text(digest_view(a));
    DEMAND(first.substr(0, back.size()) == back);
    DEMAND(first.size() == back.size() || first[back.size()] == ',');
    std::vector<uint8_t> stored(ctph_size(digest_view(a)));
    write_ctph(digest_view(a), stored.data());
    DEMAND(ctph_to_text(view_ctph(stored.data(), stored.size())) == back);
    check_pair(digest_view(a), digest_view(a));
    const CtphDigest b = ctph_from_text(second);
    check_pair(digest_view(a), digest_view(b));
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::invalid_text);
    DEMAND(!e.hint().empty() && !e.detail().empty());
  }
}

void check_stored(const uint8_t* data, size_t size) {
  try {
    const CtphView v = view_ctph(data, size);
    DEMAND(ctph_size(v) == size);
    std::vector<uint8_t> back(size);
    write_ctph(v, back.data());
    DEMAND(std::equal(back.begin(), back.end(), data));
    const CtphDigest again = ctph_from_text(ctph_to_text(v));
    DEMAND(again.exponent == v.exponent && again.length == v.length && again.part1 == v.part1 &&
           again.part2 == v.part2);
    check_pair(v, v);
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::corrupt_data);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input in(data, size);
  switch (in.read<uint8_t>() % 3) {
    case 0:
      check_document(in);
      break;
    case 1:
      check_text({reinterpret_cast<const char*>(in.data()), in.size()});
      break;
    default:
      check_stored(in.data(), in.size());
  }
  return 0;
}
