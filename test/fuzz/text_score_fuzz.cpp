// Two short texts: the score against every way to pair their tokens, where these are few; else its promises alone.
#include <memory>
#include <optional>
#include <string>

#include "core/exact/text_score.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/text_score_reference.h"

using namespace neardup;

namespace {

// Every token of either side multiplies the reference's ways to pair them.
constexpr size_t kFewTokens = 5;

std::optional<int> score(const std::string& a, const std::string& b) {
  // Memory of exactly this size.
  const std::unique_ptr<uint8_t[]> x(new uint8_t[a.size()]), y(new uint8_t[b.size()]);
  std::copy(a.begin(), a.end(), x.get());
  std::copy(b.begin(), b.end(), y.get());
  return text_score(x.get(), a.size(), y.get(), b.size());
}

}  // namespace

// Byte 0: even: the rest is two texts, cut where byte 1 says; odd: text a, and b made of it by dropping, doubling and
// swapping its characters as byte 1 and its own bytes say.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 400) return 0;
  fuzz::Input in(data, size);
  const bool derived = in.read<uint8_t>() % 2 == 1;
  const uint8_t how = in.read<uint8_t>();
  const std::string all(reinterpret_cast<const char*>(in.data()), in.size());
  std::string a = all.substr(0, how), b = all.size() > how ? all.substr(how) : std::string();
  if (derived) {
    a = all;
    b.clear();
    for (const char c : all) {
      const unsigned x = (static_cast<unsigned char>(c) ^ how) % 16;
      if (x == 1) b.insert(b.begin(), c);
      if (x != 0 && x != 1) b += c;
      if (x == 2) b += c;
    }
  }
  const std::optional<int> s = score(a, b);
  DEMAND(score(b, a) == s);
  const auto tokens_a = reference::score_tokens(a), tokens_b = reference::score_tokens(b);
  DEMAND(s.has_value() == (!tokens_a.empty() && !tokens_b.empty()));
  DEMAND(!s || (*s >= 0 && *s <= 100));
  if (!tokens_a.empty()) DEMAND(score(a, a + ".") == 100);
  if (tokens_a.size() <= kFewTokens && tokens_b.size() <= kFewTokens)
    DEMAND(reference::text_score(a, b, kAlignedTokens) == s);
  return 0;
}
