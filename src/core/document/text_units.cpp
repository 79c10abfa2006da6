// See text_units.h.
#include "core/document/text_units.h"

#include "core/base/error.h"
#include "core/base/named_values.h"
#include "core/unicode/word_machine.h"

namespace neardup {
namespace {

CodePoint read(const uint8_t* p, const uint8_t* end, unsigned* length) noexcept {
  if (*p < 0x80) {
    *length = 1;
    return {kAsciiWordBytes[*p], kAsciiWordBytes[*p] != 0 ? WordClass::word : WordClass::none};
  }
  return detail::classify(detail::decode_utf8(p, end, length));
}

constexpr NamedValue<Unit> kUnits[] = {{"word", Unit::word}, {"char", Unit::character},      {"byte", Unit::byte},
                                       {"line", Unit::line}, {"paragraph", Unit::paragraph}, {"code", Unit::code}};

constexpr NamedValue<Unit> kUnitsInWords[] = {{"words", Unit::word},           {"characters", Unit::character},
                                              {"bytes", Unit::byte},           {"lines", Unit::line},
                                              {"paragraphs", Unit::paragraph}, {"tokens", Unit::code}};

}  // namespace

Unit parse_text_unit(std::string_view name) {
  const auto unit = value_named(kUnits, name);
  if (!unit)
    throw Error(Errc::invalid_argument, "unknown unit \"" + std::string(name) + "\"", {},
                "Units of text are 'word', 'char', 'line', 'paragraph' and 'code'.");
  if (*unit == Unit::byte)
    throw Error(Errc::invalid_argument, "unit \"byte\" does not apply to text", {},
                "Pass the document as bytea to shingle bytes, or use unit 'word' or 'char'.");
  return *unit;
}

const char* unit_name(Unit unit) noexcept { return find_name(kUnits, unit); }

const char* units_in_words(Unit unit) noexcept { return find_name(kUnitsInWords, unit); }

template <bool kKeys>
bool UnitScanner::next_word(TextUnit* unit) {
  WordMachine machine;
  unsigned length;
  CodePoint c{};
  for (;; step(length)) {
    const uint8_t* q = p_;
    while (q < end_ && *q < 0x80 && kAsciiWordBytes[*q] == 0) ++q;
    step_ascii(q);
    if (p_ == end_) return false;
    c = read(p_, end_, &length);
    if (machine.step(c.cls) == WordStep::begins) break;
  }
  unit->begin = static_cast<size_t>(p_ - text_);
  unit->position = position_;
  if (kKeys) key_.clear();
  const auto reads_on = [&] {
    if (p_ == end_) return false;
    c = read(p_, end_, &length);
    return machine.step(c.cls) == WordStep::continues;
  };
  bool goes_on = true;
  // A word that begins in ASCII begins a run.
  if (*p_ < 0x80) {
    const uint8_t* q = p_;
    while (q < end_ && kAsciiWordBytes[*q] != 0) ++q;
    if (kKeys) {
      key_.resize(static_cast<size_t>(q - p_));
      for (size_t i = 0; i < key_.size(); ++i) key_[i] = static_cast<char>(kAsciiWordBytes[p_[i]]);
    }
    step_ascii(q);
    // Most words end here, and none that goes on does so in ASCII.
    goes_on = p_ != end_ && *p_ >= 0x80 && reads_on();
  }
  for (; goes_on; goes_on = reads_on()) {
    if (kKeys && c.folded < 0x80) {
      key_.push_back(static_cast<char>(c.folded));
    } else if (kKeys) {
      uint8_t bytes[4];
      key_.append(reinterpret_cast<const char*>(bytes), detail::encode_utf8(c.folded, bytes));
    }
    step(length);
  }
  unit->end = static_cast<size_t>(p_ - text_);
  return true;
}

bool UnitScanner::next(TextUnit* unit) {
  if (unit_ == Unit::word) return next_word<false>(unit);
  if (is_of_lines(unit_)) return lines_.next(unit, nullptr);
  if (unit_ == Unit::code) {
    std::string_view unused;
    return code_.next(unit, &unused);
  }
  if (p_ == end_) return false;
  unsigned length = 1;
  if (unit_ == Unit::character) detail::decode_utf8(p_, end_, &length);
  unit->begin = static_cast<size_t>(p_ - text_);
  unit->position = position_;
  step(length);
  unit->end = static_cast<size_t>(p_ - text_);
  return true;
}

bool UnitScanner::next(TextUnit* unit, std::string_view* key) {
  if (unit_ == Unit::word) {
    if (!next_word<true>(unit)) return false;
    *key = key_;
    return true;
  }
  if (is_of_lines(unit_)) {
    if (!lines_.next(unit, &key_)) return false;
    *key = key_;
    return true;
  }
  if (unit_ == Unit::code) return code_.next(unit, key);
  if (!next(unit)) return false;
  const uint8_t* const p = text_ + unit->begin;
  if (unit_ == Unit::character && *p >= 0x80) {
    unsigned length;
    uint8_t bytes[4];
    const uint32_t c = detail::decode_utf8(p, end_, &length);
    key_.assign(reinterpret_cast<const char*>(bytes), detail::encode_utf8(c, bytes));
    *key = key_;
  } else {
    *key = {reinterpret_cast<const char*>(p), 1};
  }
  return true;
}

}  // namespace neardup
