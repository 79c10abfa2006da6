// See text_bits.h.
#include "core/intake/text_bits.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "core/intake/letter_frequencies.h"
#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

// Code points whose counts are kept: all scripts of letter_frequencies.h lie below.
constexpr uint32_t kCounted = 0x3100;

// Prices in bits. They were set by hand and tried on texts of all kinds (test/t/205_detect_encoding.py).
constexpr double kWithinWord = 0.3;       // another letter of the script
constexpr double kNewWord = 0.5;          // first letter of a word
constexpr double kEastAsianChange = 1.5;  // between Han, kana and hangul
constexpr double kSeenScript = 4;         // a script that the text has used
constexpr double kNewScript = 4;          // ... that it has not, and how rare that is:
constexpr double kLatinFirst = 1;
constexpr double kUsualFirst = 4;
constexpr double kRareFirst = 10;
constexpr double kChangeInWord = 5;
constexpr uint32_t kFewChanges = 8;  // within words; from then on the text is one that mixes scripts, and they cost
constexpr double kChangeOfMixed = 5.5;
constexpr double kCapitalFirst = 2;
constexpr double kSecondCapital = 2;
constexpr double kMoreCapitals = 0.3;
constexpr double kCapitalAfterSmall = 6;
constexpr double kSmallAfterCapitals = 4;  // two or more
constexpr double kForeignBasic = 11;       // a to z that a language lacks
constexpr double kForeignLetter = 13.5;
constexpr double kSizeShare = 0.9;  // of the logarithm of a script's size: some letters are more frequent
constexpr double kLeastSize = 4.5;
constexpr double kFrequentHanPrice = 10.3;
constexpr double kLevelOneHanPrice = 13.5;
constexpr double kRareHanPrice = 17.5;
constexpr double kFrequentHangulPrice = 8.2;
constexpr double kLevelOneHangulPrice = 12.5;
constexpr double kRareHangulPrice = 17;
constexpr double kKatakanaPrice = 6.3;
constexpr double kHalfwidthPrice = 10.5;
constexpr double kFullwidthPrice = 9;  // and kNewScript where nothing is East Asian
constexpr double kSpaceAfterLetter = 2.3;
constexpr double kSpaceElsewhere = 4;
constexpr double kSpaceAfterSolo = 6;  // scripts without spaces
constexpr double kLineEnd = 5;
constexpr double kSecondOfLineEnd = 1;
constexpr double kTab = 6;
constexpr double kCellEnd = 1.5;  // a tab or line end two characters after another
constexpr double kDigitAgain = 4.5;
constexpr double kDigit = 7;
constexpr double kDigitOfColumn = 4.5;  // behind white space
constexpr double kCommonSign = 6.5;
constexpr double kSign = 9;
constexpr double kRepeated = 2.5;     // the sign before once more
constexpr double kFirstControl = 14;  // the second of the same kind, ... each of them a few bits less, down to:
constexpr double kControlFalls[] = {kFirstControl, 6, 4.5, 4};
constexpr double kUsualControl = 3;
constexpr double kC1Control = 17;
constexpr double kTypographic = 9;
constexpr double kLatinSign = 11;  // U+00A1 to U+00BF
constexpr double kEastAsianSign = 6.5;
constexpr double kSignOfOthers = 12;
constexpr double kRareSign = 14;
constexpr double kSignInWord = 5;  // a letter before it and behind it
constexpr double kPrivateUse = 18;
constexpr double kUnassigned = 25;
constexpr double kFirstBroken = 14;  // later characters:
constexpr double kBrokenAgain = 8;
constexpr double kBrokenByte = 6.5;    // and each of their bytes
constexpr double kCut = 6;             // once: the document, or what is looked at, ends within a character
constexpr double kUnknownFirst = 9.5;  // a byte above ASCII in an unknown encoding
constexpr double kUnknownAgain = 6.7;

bool is_east_asian(Script s) noexcept {
  return s == kHan || s == kHiragana || s == kKatakana || s == kHangul || s == kBopomofo;
}

bool has_frequencies(Script s) noexcept {
  return std::any_of(std::begin(kLetterFrequencies), std::end(kLetterFrequencies),
                     [s](const LetterFrequencies& f) { return f.script == s; });
}

// True for scripts with frequencies; inherited marks stand with Latin, where one language has them.
const std::array<bool, kScripts>& counted_scripts() {
  static const std::array<bool, kScripts> table = [] {
    std::array<bool, kScripts> t{};
    for (unsigned s = 0; s < kScripts; ++s) t[s] = has_frequencies(static_cast<Script>(s));
    return t;
  }();
  return table;
}

double first_letter_bits(Script s) noexcept {
  if (s == kLatin) return kLatinFirst;
  return is_east_asian(s) || counted_scripts()[s] ? kUsualFirst : kRareFirst;
}

double cheapest(const std::vector<uint32_t>& counts, Script script, uint32_t basic, uint32_t others) {
  double least = std::numeric_limits<double>::max();
  for (const LetterFrequencies& language : kLetterFrequencies) {
    if (language.script != script) continue;
    double bits = 0;
    uint32_t foreign_basic = basic;
    uint32_t foreign = others;
    for (size_t i = 0; i < language.letters.size(); ++i) {
      const char16_t c = language.letters[i];
      bits += counts[c] * language.letter_bits(i);
      (c < 0x80 ? foreign_basic : foreign) -= counts[c];
    }
    least = std::min(least, bits + foreign_basic * kForeignBasic + foreign * kForeignLetter);
  }
  return least;
}

// Commas, full stops, brackets and the like.
bool is_east_asian_sign(uint32_t c) noexcept {
  return (c >= 0x3001 && c <= 0x3003) || (c >= 0x3008 && c <= 0x3011) || c == 0x30fb || c == 0x30fc || c == 0xff01 ||
         c == 0xff08 || c == 0xff09 || c == 0xff0c || c == 0xff0e || c == 0xff1a || c == 0xff1b || c == 0xff1f;
}

bool is_separator(uint32_t c) noexcept { return c == '\t' || c == '\n' || c == '\r'; }

// Signs that stand between letters.
bool is_joiner(uint32_t c) noexcept {
  return c == 0x2019 || c == 0xb7 || c == 0xad || c == 0xa0 || (c >= 0x2010 && c <= 0x2014);
}

bool is_typographic(uint32_t c) noexcept {
  return (c >= 0x2010 && c <= 0x2027) || c == 0xa0 || c == 0xab || c == 0xbb || c == 0xad || c == 0xb7 || c == 0x20ac ||
         c == 0x2116 || c == 0x2039 || c == 0x203a;
}

}  // namespace

TextBits::TextBits() : counts_(kCounted) {}

void TextBits::add(uint32_t c) noexcept {
  const Script script = character_script(c);
  if (script == kNoScript) {
    const bool private_use = (c >= 0xe000 && c < 0xf900) || (c >= 0xf0000 && c < 0x110000 && (c & 0xfffe) != 0xfffe);
    bits_ += private_use ? kPrivateUse : kUnassigned;
    kind_ = Kind::other;
  } else if (script == kCommonScript) {
    bits_ += common(c);
  } else {
    bits_ += letter(c, script == kInheritedScript && script_ != kNoScript ? script_ : script);
    kind_ = Kind::letter;
  }
  if (kind_ != Kind::letter) capitals_ = small_ = 0;
  last_but_one_ = last_;
  last_ = c;
}

uint64_t TextBits::add_utf8(const uint8_t* text, size_t n) noexcept {
  uint64_t characters = 0;
  for (size_t i = 0; i < n;) {
    unsigned length;
    add(detail::decode_utf8(text + i, text + n, &length));
    i += length;
    ++characters;
  }
  return characters;
}

void TextBits::add_byte(uint8_t byte) noexcept {
  if (byte < 0x80) {
    add(byte);
    return;
  }
  bits_ += last_ == 0x80 ? kUnknownAgain : kUnknownFirst;
  kind_ = Kind::letter;
  last_ = 0x80;
  capitals_ = small_ = 0;
}

void TextBits::add_broken(uint64_t characters, uint64_t bytes) noexcept {
  if (bytes == 0) return;
  bits_ += (broken_ ? 0 : kFirstBroken - kBrokenAgain) + kBrokenAgain * static_cast<double>(characters) +
           kBrokenByte * static_cast<double>(bytes);
  broken_ = true;
  kind_ = Kind::other;
  last_ = 0;
}

void TextBits::add_cut() noexcept { bits_ += kCut; }

double TextBits::bits() const {
  double bits = bits_;
  for (unsigned s = 0; s < kScripts; ++s) {
    if (basic_[s] + others_[s] > 0) bits += cheapest(counts_, static_cast<Script>(s), basic_[s], others_[s]);
  }
  return bits;
}

double TextBits::letter(uint32_t c, Script script) noexcept {
  const CodePoint folded = detail::classify(c);
  double bits = change_of_script(script) + change_of_case(folded.folded != c);
  if (kind_ == Kind::inner_sign) bits += kSignInWord;
  const Script own = character_script(c);
  const bool counted =
      folded.folded < kCounted && (own == kInheritedScript ? script == kLatin : counted_scripts()[own]);
  if (counted) {
    ++counts_[folded.folded];
    ++(folded.folded < 0x80 ? basic_ : others_)[script];
  } else {
    bits += letter_alone(c, own);
  }
  script_ = script;
  seen_.set(script);
  east_asian_ |= is_east_asian(script);
  return bits;
}

double TextBits::letter_alone(uint32_t c, Script script) noexcept {
  if (script == kHan || script == kHangul) {
    const bool han = script == kHan;
    switch (character_frequency(c)) {
      case Frequency::frequent:
        return han ? kFrequentHanPrice : kFrequentHangulPrice;
      case Frequency::level_one:
        return han ? kLevelOneHanPrice : kLevelOneHangulPrice;
      case Frequency::rare:
        return han ? kRareHanPrice : kRareHangulPrice;
    }
  }
  if (c >= 0xff66 && c < 0xffa0) return kHalfwidthPrice;
  if (c >= 0xff00) {
    if (c < 0x10000) return kFullwidthPrice + (east_asian_ ? 0 : kNewScript);
  } else if (script == kKatakana) {
    return kKatakanaPrice;
  } else if (counted_scripts()[script]) {
    return kForeignLetter;
  }
  if (script == kInheritedScript) return kForeignBasic;
  return std::max(kLeastSize, kSizeShare * script_size_bits(script));
}

double TextBits::change_of_script(Script script) noexcept {
  const bool in_word = kind_ == Kind::letter;
  if (script == script_) return in_word ? kWithinWord : kNewWord;
  if (script_ == kNoScript) return first_letter_bits(script);
  if (is_east_asian(script) && is_east_asian(script_)) return kEastAsianChange;
  if (is_east_asian(script) || is_east_asian(script_) || !in_word) {
    return seen_[script] ? kSeenScript : kNewScript + first_letter_bits(script);
  }
  if (++changes_ > kFewChanges && seen_[script]) return kChangeOfMixed;
  return (seen_[script] ? kSeenScript : kNewScript + first_letter_bits(script)) + kChangeInWord;
}

double TextBits::change_of_case(bool upper) noexcept {
  double bits = 0;
  if (upper) {
    bits = small_ > 0       ? kCapitalAfterSmall
           : capitals_ == 0 ? kCapitalFirst
           : capitals_ == 1 ? kSecondCapital
                            : kMoreCapitals;
    ++capitals_;
    small_ = 0;
  } else {
    if (capitals_ > 1 && small_ == 0) bits = kSmallAfterCapitals;
    ++small_;
  }
  return bits;
}

double TextBits::common(uint32_t c) noexcept {
  if (c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0x3000) return space(c);
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return control(c);
  if (c >= '0' && c <= '9') {
    const Kind before = kind_;
    kind_ = Kind::digit;
    return before == Kind::digit ? kDigitAgain : before == Kind::space ? kDigitOfColumn : kDigit;
  }
  return sign(c);
}

double TextBits::space(uint32_t c) noexcept {
  const Kind before = kind_;
  kind_ = Kind::space;
  if (last_ == c) return kRepeated;
  if (c == '\n' && last_ == '\r') return kSecondOfLineEnd;
  if (c != ' ' && c != 0x3000) return is_separator(last_but_one_) ? kCellEnd : c == '\t' ? kTab : kLineEnd;
  if (before == Kind::letter) return is_east_asian(script_) && script_ != kHangul ? kSpaceAfterSolo : kSpaceAfterLetter;
  return kSpaceElsewhere;
}

double TextBits::control(uint32_t c) noexcept {
  kind_ = kind_ == Kind::letter && last_ >= 0x80 ? Kind::inner_sign : Kind::other;
  if (c >= 0x80) return kC1Control;
  const size_t before = controls_[c]++;
  return before < std::size(kControlFalls) ? kControlFalls[before] : kUsualControl;
}

double TextBits::sign(uint32_t c) noexcept {
  const Kind before = kind_;
  kind_ = Kind::sign;
  if (last_ == c) return kRepeated;
  if (c < 0x80) return c == '.' || c == ',' || c == '-' || c == '\'' || c == '"' ? kCommonSign : kSign;
  if (is_east_asian_sign(c)) return east_asian_ || script_ == kNoScript ? kEastAsianSign : kSignOfOthers;
  if (before == Kind::letter && !is_joiner(c)) kind_ = Kind::inner_sign;
  if (is_typographic(c)) return kTypographic;
  if (c < 0xc0) return kLatinSign;
  return c >= 0x600 && c < 0x1000 ? kSign : kRareSign;
}

}  // namespace neardup
