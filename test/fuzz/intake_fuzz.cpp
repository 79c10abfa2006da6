// Any bytes as a document: UTF-16, UTF-32 and damaged UTF-8 become valid UTF-8 and come back; a guess is made; what is
// text then is cleaned, measured and made a title.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/intake/clean.h"
#include "core/intake/detect_encoding.h"
#include "core/intake/encoding.h"
#include "core/intake/text_quality.h"
#include "core/intake/title.h"
#include "core/unicode/utf8.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/literal_patterns.h"

using namespace neardup;

namespace {

void put(uint32_t unit, unsigned size, bool big, std::string* out) {
  for (unsigned i = 0; i < size; ++i) *out += static_cast<char>(unit >> 8 * (big ? size - 1 - i : i));
}

// UTF-8 in one of the other forms, the obvious way.
std::string encoded(UnicodeForm form, const std::string& utf8) {
  if (form == UnicodeForm::utf8) return utf8;
  const bool big = form == UnicodeForm::utf16be || form == UnicodeForm::utf32be;
  const auto* p = reinterpret_cast<const uint8_t*>(utf8.data());
  std::string out;
  for (size_t i = 0; i < utf8.size();) {
    unsigned length;
    const uint32_t c = decode_utf8(p + i, p + utf8.size(), &length);
    i += length;
    if (unit_size(form) == 4) {
      put(c, 4, big, &out);
    } else if (c < 0x10000) {
      put(c, 2, big, &out);
    } else {
      put(0xd800 + ((c - 0x10000) >> 10), 2, big, &out);
      put(0xdc00 + ((c - 0x10000) & 0x3ff), 2, big, &out);
    }
  }
  return out;
}

// All of it, in pieces of so many bytes; what is broken is left out and told in *broken.
std::string decoded(UnicodeForm form, const uint8_t* p, size_t n, size_t piece, size_t* broken) {
  std::string out;
  *broken = 0;
  for (size_t at = 0; at < n;) {
    const size_t m = n - at < piece ? n - at : piece;
    const std::unique_ptr<uint8_t[]> room(new uint8_t[utf8_room(m)]);
    size_t written;
    const size_t read = decode_unicode(form, p + at, m, room.get(), &written);
    DEMAND(read <= m && written <= utf8_room(m));
    out.append(reinterpret_cast<const char*>(room.get()), written);
    at += read;
    if (read > 0) continue;
    const size_t length = broken_length(form, p + at, n - at);
    DEMAND(length >= 1 && length <= n - at);
    at += length;
    ++*broken;
  }
  return out;
}

}  // namespace

// Byte 0: the form. Byte 1: the size of pieces.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input in(data, size);
  const auto form = static_cast<UnicodeForm>(in.read<uint8_t>() % 5);
  const size_t piece = 4 + in.read<uint8_t>();
  if (in.size() > 200000) return 0;
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[in.size()]);
  std::copy(in.data(), in.data() + in.size(), exact.get());

  size_t broken;
  size_t again;
  const std::string text = decoded(form, exact.get(), in.size(), piece, &broken);
  DEMAND(valid_utf8_text(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  DEMAND(decoded(form, exact.get(), in.size(), 1000, &again) == text && again == broken);
  const std::string there = encoded(form, text);
  DEMAND(decoded(form, reinterpret_cast<const uint8_t*>(there.data()), there.size(), piece, &again) == text);
  DEMAND(again == 0);
  if (broken == 0) DEMAND(there == std::string(reinterpret_cast<const char*>(exact.get()), in.size()));

  const Sample sample = encoding_sample(exact.get(), in.size(), nullptr);
  const EncodingGuess guess = certain_encoding(sample);
  DEMAND(guess.confidence >= 0 && guess.confidence <= 1);
  Contest contest(sample, 1024);
  contest.enter({"", 0}, {text, broken, broken, 0}, false);
  const EncodingGuess winner = contest.winner();
  DEMAND(winner.name != nullptr && winner.confidence >= 0 && winner.confidence <= 1);
  unicode_order(exact.get(), in.size(), false);
  find_encoding({reinterpret_cast<const char*>(exact.get()), in.size() < 64 ? in.size() : 64});

  const TextQuality quality = measure_quality(reinterpret_cast<const uint8_t*>(text.data()), text.size(), nullptr);
  DEMAND(quality.letters >= 0 && quality.letters <= 1 && quality.repetition >= 0 && quality.repetition <= 1);
  DEMAND(quality.length == count_code_points(reinterpret_cast<const uint8_t*>(text.data()), text.size()));

  std::vector<Rule> rules;
  const RuleKind kinds[] = {RuleKind::line, RuleKind::block, RuleKind::text, RuleKind::head, RuleKind::tail};
  for (const RuleKind kind : kinds) {
    Rule rule;
    rule.name = rule_kind_name(kind);
    rule.kind = kind;
    rule.pattern = std::string(kind == RuleKind::text ? "" : "^") + rule.name[0];
    if (kind == RuleKind::text) rule.replacement = "<\\0>";
    rules.push_back(rule);
  }
  check_rules(rules);
  reference::LiteralPatterns patterns(rules);
  const Cleaned cleaned = clean_text(rules, patterns, text, nullptr);
  DEMAND(cleaned.changed == (!cleaned.fired.empty() || text.find('\r') != text.npos));
  DEMAND(!cleaned.changed || cleaned.body.find('\r') == cleaned.body.npos);
  DEMAND(cleaned.kept >= 0 && cleaned.kept <= 1);
  if (cleaned.changed) {
    DEMAND(cleaned.body != text);
    DEMAND(valid_utf8_text(reinterpret_cast<const uint8_t*>(cleaned.body.data()), cleaned.body.size()));
    DEMAND(("\n" + cleaned.body).find("\nl") == std::string::npos);
  }

  if (text.size() <= kMaxFilename) {
    const std::string title = make_title(text);
    DEMAND(title.empty() == text.empty());
    DEMAND(valid_utf8_text(reinterpret_cast<const uint8_t*>(title.data()), title.size()));
  }
  return 0;
}
