// See detect_encoding.h.
#include "core/intake/detect_encoding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

#include "core/intake/text_bits.h"
#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

constexpr size_t kSampleBytes = 1 << 20;
constexpr size_t kWideSample = 8 * 1024;    // bytes that decide whether a document is UTF-16 or UTF-32; a multiple of 4
constexpr size_t kOrderSample = 64 * 1024;  // ... in which order it is
constexpr size_t kContext = 24;             // ASCII bytes around others that are evidence, too
constexpr size_t kSpaceShare = 3;           // UTF-16 has a tab or line end in so many bytes in some scripts

// Bits that UTF-8 must be ahead of UTF-16, UTF-32 and an encoding that nobody knows, to be certain in spite of broken
// sequences.
constexpr double kCertainLead = 20;
// Bits that an encoding must be ahead of UTF-8, which most documents are in.
constexpr double kUnlikelyLittle16 = 7;
constexpr double kUnlikelyBig16 = 8;
constexpr double kUnlikelyWide32 = 9;
constexpr double kUnlikelyUnknown = 9;
constexpr double kGuessed = 4;     // bits for uchardet's guess
constexpr double kBehind = 60;     // bits behind the first of those that are not looked at again
constexpr double kMistrust = 0.5;  // bits of the model that are worth one of truth: characters are not independent

// The likeliest first. GB18030 stands for GBK and EUC_CN, UHC for EUC_KR, of which they are supersets. JOHAB is left
// out: PostgreSQL up to 18 cannot decode it. Romanian is the same bytes in LATIN10 and LATIN2, which was used.
constexpr Candidate kCandidates[] = {
    {"WIN1252", 1},    {"LATIN1", 2},     {"WIN1251", 2}, {"GB18030", 2},      {"SJIS", 2},           {"BIG5", 2},
    {"UHC", 2},        {"EUC_JP", 2},     {"WIN1250", 4}, {"KOI8R", 3},        {"KOI8U", 3},          {"WIN1253", 3},
    {"WIN1254", 4},    {"WIN1255", 3},    {"WIN1256", 3}, {"WIN1257", 5},      {"WIN1258", 5},        {"WIN874", 3},
    {"WIN866", 3},     {"LATIN2", 4},     {"LATIN9", 4},  {"LATIN5", 5},       {"ISO_8859_7", 4},     {"ISO_8859_5", 4},
    {"ISO_8859_6", 4}, {"ISO_8859_8", 4}, {"LATIN7", 7},  {"LATIN4", 7},       {"LATIN3", 7},         {"LATIN6", 8},
    {"LATIN8", 6},     {"LATIN10", 12},   {"EUC_TW", 5},  {"EUC_JIS_2004", 6}, {"SHIFT_JIS_2004", 6},
};

bool is_high(uint8_t b) noexcept { return b >= 0x80; }

// Bytes that few texts in an encoding of bytes have: controls other than tab, line ends, form feed and escape; and 0.
bool is_control(uint8_t b) noexcept {
  return b < 0x20 && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b;
}

struct ByteCount {
  size_t high = 0;
  size_t zero = 0;
  size_t control = 0;
  size_t space = 0;  // tabs and line ends
};

void count_byte(uint8_t b, ByteCount* count) noexcept {
  count->high += is_high(b);
  count->zero += b == 0;
  count->control += is_control(b);
  count->space += b < 0x20 && !is_control(b);
}

ByteCount count_bytes(const Sample& s) noexcept {
  constexpr uint64_t kEightHighs = 0x8080808080808080ULL;
  constexpr uint64_t kEightSpaces = 0x2020202020202020ULL;
  ByteCount count;
  size_t i = 0;
  for (; s.size - i >= 8; i += 8) {
    uint64_t word;
    std::memcpy(&word, s.data + i, 8);
    if (((word - kEightSpaces) & ~word & kEightHighs) == 0) {  // none below U+0020
      count.high += static_cast<size_t>(std::popcount(word & kEightHighs));
    } else {
      for (size_t j = 0; j < 8; ++j) count_byte(s.data[i + j], &count);
    }
  }
  for (; i < s.size; ++i) count_byte(s.data[i], &count);
  return count;
}

struct Utf8Count {
  uint64_t sequences = 0;  // above ASCII
  uint64_t broken = 0;
  bool cut = false;
  double share() const noexcept {
    return broken == 0 ? 1 : static_cast<double>(sequences) / static_cast<double>(sequences + broken);
  }
};

// Calls whole(code point) or broken(place, bytes) for each character; a sequence that the end cuts is neither.
template <class Whole, class Broken>
Utf8Count each_utf8(const uint8_t* p, size_t n, Whole whole, Broken broken) {
  Utf8Count count;
  for (size_t i = 0; i < n;) {
    if (!is_high(p[i])) {
      whole(p[i++]);
      continue;
    }
    unsigned length;
    const uint32_t c = detail::decode_utf8(p + i, p + n, &length);
    if (c == 0xfffd && length == 1) {
      const size_t bytes = broken_length(UnicodeForm::utf8, p + i, n - i);
      const bool lead = p[i] >= 0xc2 && p[i] < 0xf5;
      if (i + bytes == n && lead && (bytes > 1 || count.sequences > 0)) {
        count.cut = true;
        break;
      }
      ++count.broken;
      broken(p + i, static_cast<unsigned>(bytes));
      i += bytes;
    } else {
      ++count.sequences;
      whole(c);
      i += length;
    }
  }
  return count;
}

Utf8Count count_utf8(const uint8_t* p, size_t n) noexcept {
  return each_utf8(
      p, n, [](uint32_t) {}, [](const uint8_t*, unsigned) {});
}

struct Measured {
  double bits = 0;
  double whole = 1;  // share of the characters that are not broken
};

Measured measured(const TextBits& text, uint64_t whole, uint64_t broken) {
  const double all = static_cast<double>(whole + broken);
  return {text.bits(), all == 0 ? 1 : static_cast<double>(whole) / all};
}

// UTF-8. Up to three continuation bytes in a row are one character whose beginning is lost.
Measured measure_utf8(const uint8_t* p, size_t n) {
  constexpr unsigned kMaxContinuations = 3;
  TextBits text;
  uint64_t whole = 0;
  uint64_t broken = 0;
  unsigned stray = 0;
  const Utf8Count count = each_utf8(
      p, n,
      [&](uint32_t c) {
        text.add(c);
        ++whole;
        stray = 0;
      },
      [&](const uint8_t* at, unsigned bytes) {
        const bool more = detail::continuation(*at) && stray > 0 && stray < kMaxContinuations;
        text.add_broken(more ? 0 : 1, bytes);
        broken += !more;
        stray = detail::continuation(*at) ? (more ? stray + 1 : 1) : 0;
      });
  if (count.cut) text.add_cut();
  return measured(text, whole, broken);
}

// The bits of the bytes in an encoding that nobody knows.
double unknown_bits(const uint8_t* p, size_t n) {
  TextBits text;
  for (size_t i = 0; i < n; ++i) text.add_byte(p[i]);
  return text.bits();
}

uint32_t unit_at(UnicodeForm form, const uint8_t* p) noexcept {
  switch (form) {
    case UnicodeForm::utf16le:
      return static_cast<uint32_t>(p[0] | p[1] << 8);
    case UnicodeForm::utf16be:
      return static_cast<uint32_t>(p[0] << 8 | p[1]);
    case UnicodeForm::utf32le:
      return static_cast<uint32_t>(p[0] | p[1] << 8 | p[2] << 16) | static_cast<uint32_t>(p[3]) << 24;
    default:
      return static_cast<uint32_t>(p[1] << 16 | p[2] << 8 | p[3]) | static_cast<uint32_t>(p[0]) << 24;
  }
}

bool is_surrogate(uint32_t c) noexcept { return c >= 0xd800 && c < 0xe000; }

// The characters of one of the wide forms; one that the end cuts is left out.
Measured measure_wide(UnicodeForm form, const uint8_t* p, size_t n) {
  const size_t unit = unit_size(form);
  TextBits text;
  uint64_t whole = 0;
  uint64_t broken = 0;
  for (size_t i = 0; n - i >= unit; i += unit) {
    uint32_t c = unit_at(form, p + i);
    if (unit == 2 && c >= 0xd800 && c < 0xdc00) {
      if (n - i < 4) break;
      const uint32_t low = unit_at(form, p + i + 2);
      if (low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        i += 2;
      }
    }
    if (is_surrogate(c) || c >= 0x110000 || c == 0) {
      text.add_broken(1, 2 * unit);  // that it is none speaks against the form more than in encodings of bytes
      ++broken;
    } else {
      text.add(c);
      ++whole;
    }
  }
  if (n % unit != 0) text.add_cut();
  return measured(text, whole, broken);
}

Measured measure_decoded(const Decoded& decoded) {
  TextBits bits;
  const std::string_view text = decoded.text;
  const uint64_t whole = bits.add_utf8(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  bits.add_broken(decoded.broken, decoded.broken_bytes);
  // Where the cut character is the only one above ASCII, it is none.
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) { return is_high(static_cast<uint8_t>(c)); });
  if (decoded.cut_bytes > 0 && plain) bits.add_broken(1, decoded.cut_bytes);
  if (decoded.cut_bytes > 0 && !plain) bits.add_cut();
  return measured(bits, whole, decoded.broken);
}

// The share that a rival so many bits behind takes from the first one's probability.
double weight(double behind) noexcept { return std::exp2(-behind * kMistrust); }

struct WideForm {
  UnicodeForm form;
  double unlikely;
};
constexpr WideForm kWideForms[] = {{UnicodeForm::utf16le, kUnlikelyLittle16},
                                   {UnicodeForm::utf16be, kUnlikelyBig16},
                                   {UnicodeForm::utf32le, kUnlikelyWide32},
                                   {UnicodeForm::utf32be, kUnlikelyWide32}};

// Decides if a document that is well-formed UTF-8, and would be so with this confidence, is likelier UTF-16 or UTF-32.
EncodingGuess utf8_or_wide(const Sample& s, double confidence) {
  struct Reading {
    const char* name;
    double bits;
    double confidence;
  };
  const size_t n = std::min(s.size, kWideSample);
  std::vector<Reading> readings = {{"UTF8", measure_utf8(s.data, n).bits, confidence}};
  for (const WideForm& w : kWideForms) {
    if (n < unit_size(w.form)) continue;
    const Measured wide = measure_wide(w.form, s.data, n);
    readings.push_back({unicode_form_name(w.form), wide.bits + w.unlikely, wide.whole});
  }
  const Reading best = *std::min_element(readings.begin(), readings.end(),
                                         [](const Reading& a, const Reading& b) { return a.bits < b.bits; });
  double all = 0;
  for (const Reading& r : readings) all += weight(r.bits - best.bits);
  return {best.name, best.confidence / all};
}

// ISO-2022 and HZ: seven bits and escapes.
EncodingGuess escaped(const Sample& s) {
  const std::string_view text(reinterpret_cast<const char*>(s.data), s.size);
  for (size_t at = text.find('\x1b'); at != text.npos; at = text.find('\x1b', at + 1)) {
    const std::string_view rest = text.substr(at + 1, 3);
    if (rest.substr(0, 3) == "$)C") return {"ISO-2022-KR", 0.99};
    if (rest.substr(0, 3) == "$)A" || rest.substr(0, 3) == "$)G") return {"ISO-2022-CN", 0.99};
    if (rest.substr(0, 2) == "$@" || rest.substr(0, 2) == "$B" || rest.substr(0, 2) == "(J" ||
        rest.substr(0, 2) == "(I")
      return {"ISO-2022-JP", 0.99};
  }
  size_t runs = 0;
  for (size_t at = text.find("~{"); at != text.npos; at = text.find("~{", at + 1)) {
    size_t i = at + 2;
    bool good = true;
    while (i + 1 < text.size() && !(text[i] == '~' && text[i + 1] == '}')) {
      good = good && text[i] >= 0x21 && text[i] <= 0x77 && text[i + 1] >= 0x21 && text[i + 1] <= 0x7e;
      if (!good) break;
      i += 2;
    }
    if (!good || i == at + 2) continue;
    if (i + 1 < text.size() || !s.whole) ++runs;
    at = i;
  }
  if (runs > 0) return {"HZ", 0.95};
  return {};
}

EncodingGuess marked(const Sample& s, UnicodeForm form, size_t mark) {
  if (form == UnicodeForm::utf8) return {"UTF8", count_utf8(s.data, s.size).share()};
  return {unicode_form_name(form), measure_wide(form, s.data + mark, std::min(s.size - mark, kOrderSample)).whole};
}

// UTF-8 that no other encoding competes with: a valid sequence is a coincidence of 1 in 4 in other texts.
double confidence_of_utf8(const Utf8Count& count) noexcept {
  return (1 - std::pow(0.25, static_cast<double>(count.sequences))) * count.share();
}

}  // namespace

Sample encoding_sample(const uint8_t* document, size_t n, StopCheck* stop) {
  size_t first = 0;
  while (first < n && n > kSampleBytes) {
    if (first % (1 << 20) == 0 && stop != nullptr) stop->poll();
    if (first % 8 == 0 && n - first >= 8) {
      uint64_t word;
      std::memcpy(&word, document + first, 8);
      if (((word | (word - 0x0101010101010101ULL)) & 0x8080808080808080ULL) == 0) {
        first += 8;
        continue;
      }
    }
    if (is_high(document[first]) || document[first] == 0) break;
    ++first;
  }
  // The bytes before are ASCII, so that a character begins there in every encoding; a wide one would have had zeros.
  const size_t begin = first < kSampleBytes / 2 || first == n ? 0 : first;
  const size_t size = std::min(kSampleBytes, n - begin);
  return {document + begin, size, begin + size == n};
}

EncodingGuess certain_encoding(const Sample& s) {
  UnicodeForm form;
  if (const size_t mark = byte_order_mark(s.data, s.size, &form); mark != 0) return marked(s, form, mark);
  const ByteCount bytes = count_bytes(s);
  if (bytes.high == 0 && bytes.zero == 0) {
    if (const EncodingGuess guess = escaped(s); guess.name != nullptr) return guess;
  }
  const Utf8Count count = bytes.high == 0 ? Utf8Count{} : count_utf8(s.data, s.size);
  if (count.broken == 0) {
    const double confidence = count.sequences == 0 ? 1 : confidence_of_utf8(count);
    const bool doubtful = bytes.control > 0 || bytes.space * kSpaceShare > s.size;
    return doubtful ? utf8_or_wide(s, confidence) : EncodingGuess{"UTF8", confidence};
  }
  const Contest contest(s, kWideSample);
  const bool utf8 = std::strcmp(contest.winner().name, "UTF8") == 0 && contest.lead() >= kCertainLead;
  return utf8 ? EncodingGuess{"UTF8", confidence_of_utf8(count)} : EncodingGuess{};
}

std::string encoding_evidence(const Sample& s, size_t most) {
  std::string out;
  size_t i = 0;
  while (i < s.size && out.size() < most) {
    size_t high = i;
    while (high < s.size && !is_high(s.data[high])) ++high;
    if (high == s.size) {
      if (out.empty() && s.size > 0)
        high = 0;  // ASCII: its beginning
      else
        break;
    }
    if (high > i + kContext) i = high - kContext;
    // To where so many ASCII bytes end: no character lies across.
    for (size_t ascii = 0; i < s.size && (ascii < kContext) && out.size() < most + kContext; ++i) {
      ascii = is_high(s.data[i]) ? 0 : ascii + 1;
      if (i < high) ascii = 0;
      if (s.data[i] != 0) out += static_cast<char>(s.data[i]);
    }
  }
  return out;
}

std::span<const Candidate> encoding_candidates() { return kCandidates; }

Contest::Contest(const Sample& sample, size_t most) : evidence_(encoding_evidence(sample, most)) {
  const double unknown = unknown_bits(reinterpret_cast<const uint8_t*>(evidence_.data()), evidence_.size());
  unknown_ = kUnlikelyUnknown + unknown;
  const Measured utf8 = measure_utf8(reinterpret_cast<const uint8_t*>(evidence_.data()), evidence_.size());
  entries_.push_back({{"UTF8", 0}, utf8.bits, utf8.bits, utf8.whole, false, "UTF8"});
  // Evidence is cut to pieces, which the wide forms cannot be: they are compared on the beginning of the document.
  const size_t n = std::min(sample.size, most / 4 * 4);
  const double as_bytes = unknown_bits(sample.data, n);
  for (const WideForm& w : kWideForms) {
    if (n < unit_size(w.form)) continue;
    const Measured wide = measure_wide(w.form, sample.data, n);
    const Candidate candidate{unicode_form_name(w.form), w.unlikely};
    const double bits = unknown + wide.bits - as_bytes;
    entries_.push_back({candidate, bits, bits + w.unlikely, wide.whole, false, candidate.name});
  }
  own_ = entries_.size();
}

void Contest::enter(const Candidate& candidate, const Decoded& decoded, bool guessed) {
  const double handicap = candidate.unlikely - (guessed ? kGuessed : 0);
  const bool clean = decoded.broken == 0 && decoded.cut_bytes == 0;
  // Encodings of one family mostly give the same text.
  const auto same = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const Entry& e) { return clean && e.clean && e.text == decoded.text; });
  const Measured m = same != entries_.end() ? Measured{same->text_bits, 1} : measure_decoded(decoded);
  entries_.push_back({candidate, m.bits, m.bits + handicap, m.whole, clean, std::string(decoded.text)});
}

size_t Contest::best() const {
  size_t best = 0;
  for (size_t i = 1; i < entries_.size(); ++i)
    if (entries_[i].bits < entries_[best].bits) best = i;
  return best;
}

double Contest::lead() const {
  const size_t first = best();
  double second = unknown_;
  for (size_t i = 0; i < entries_.size(); ++i)
    if (i != first) second = std::min(second, entries_[i].bits);
  return second - entries_[first].bits;
}

std::vector<Candidate> Contest::leaders() const {
  std::vector<Candidate> out;
  const double least = entries_[best()].bits;
  for (size_t i = own_; i < entries_.size(); ++i)
    if (entries_[i].bits < least + kBehind) out.push_back(entries_[i].candidate);
  return out;
}

EncodingGuess Contest::winner() const {
  const Entry& first = entries_[best()];
  const char* name = first.candidate.name;
  double unlikely = first.candidate.unlikely;
  double rivals = weight(unknown_ - first.bits);
  for (const Entry& e : entries_)
    if (e.text != first.text) {
      rivals += weight(e.bits - first.bits);
    } else if (e.candidate.unlikely < unlikely) {
      name = e.candidate.name;
      unlikely = e.candidate.unlikely;
    }
  return {name, first.whole / (1 + rivals)};
}

UnicodeForm unicode_order(const uint8_t* document, size_t n, bool utf32) {
  const UnicodeForm little = utf32 ? UnicodeForm::utf32le : UnicodeForm::utf16le;
  const UnicodeForm big = utf32 ? UnicodeForm::utf32be : UnicodeForm::utf16be;
  UnicodeForm form;
  if (byte_order_mark(document, n, &form) != 0 && (form == little || form == big)) return form;
  const size_t size = std::min(n, kOrderSample);
  return measure_wide(big, document, size).bits < measure_wide(little, document, size).bits ? big : little;
}

}  // namespace neardup
