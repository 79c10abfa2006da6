// See html_attributes.h.
#include "cli/records/html_attributes.h"

#include <algorithm>
#include <vector>

namespace neardup::cli {
namespace {

// Where in a tag a reading of it is, as libxml2 before 2.14 reads tags.
enum class At { tag_name, between, name, after_name, after_equal, unquoted, double_quoted, single_quoted, bogus, end };

constexpr int kParserName = 100;  // what is longer goes on as another name

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool begins_name(char c) { return is_letter(c) || c == '_' || c == ':' || c == '.'; }
bool is_of_name(char c) { return begins_name(c) || (c >= '0' && c <= '9') || c == '-'; }

// A tag that is read on from a "<". It may be none: what is in a comment looks the same.
class Reading {
 public:
  // Returns how many comparisons an attribute that begins here needs; 0: none begins.
  int step(char c) {
    const int before = attributes_;
    read_char(c);
    return attributes_ > before ? attributes_ : 0;
  }

  bool has_ended() const { return at_ == At::end; }
  // True if both read the same from here on. The parser's has at most as many attributes as the joined one.
  bool joins(const Reading& other) const { return at_ == other.at_; }
  void join(const Reading& other) { attributes_ = std::max(attributes_, other.attributes_); }

 private:
  void read_char(char c) {
    switch (at_) {
      case At::tag_name:
        if (!goes_on(c)) next(c);
        break;
      case At::name:
        if (goes_on(c)) break;
        [[fallthrough]];
      case At::after_name:
        if (c == '=')
          at_ = At::after_equal;
        else if (is_blank(c))
          at_ = At::after_name;
        else
          next(c);
        break;
      case At::after_equal:
        if (!is_blank(c))
          at_ = c == '"' ? At::double_quoted : c == '\'' ? At::single_quoted : c == '>' ? At::end : At::unquoted;
        break;
      case At::double_quoted:
        if (c == '"') at_ = At::between;
        break;
      case At::single_quoted:
        if (c == '\'') at_ = At::between;
        break;
      case At::unquoted:
      case At::bogus:
        if (c == '>' || is_blank(c)) next(c);
        break;
      case At::between:
        next(c);
        break;
      case At::end:
        break;
    }
  }

  bool goes_on(char c) { return is_of_name(c) && name_length_++ < kParserName; }

  void next(char c) {
    if (c == '>') {
      at_ = At::end;
    } else if (is_blank(c)) {
      at_ = At::between;
    } else if (begins_name(c)) {
      at_ = At::name;
      name_length_ = 1;
      ++attributes_;
    } else {
      at_ = At::bogus;
    }
  }

  At at_ = At::tag_name;
  int attributes_ = 0, name_length_ = 0;
};

// The readings that have not ended: at most one for each At.
class Readings {
 public:
  bool none() const { return readings_.empty(); }
  void begin() { add({}); }

  // Returns how many comparisons the attributes that begin here need, in all readings: which of them is the parser's is
  // not known.
  std::int64_t step(char c) {
    if (readings_.size() == 1) {  // nearly always
      const std::int64_t comparisons = readings_.front().step(c);
      if (readings_.front().has_ended()) readings_.clear();
      return comparisons;
    }
    std::int64_t comparisons = 0;
    stepped_.swap(readings_);
    readings_.clear();
    for (Reading& reading : stepped_) {
      comparisons += reading.step(c);
      if (!reading.has_ended()) add(reading);
    }
    return comparisons;
  }

 private:
  void add(const Reading& reading) {
    const auto same =
        std::find_if(readings_.begin(), readings_.end(), [&](const Reading& r) { return r.joins(reading); });
    if (same == readings_.end())
      readings_.push_back(reading);
    else
      same->join(reading);
  }

  std::vector<Reading> readings_, stepped_;
};

}  // namespace

bool needs_more_comparisons(std::string_view html, std::int64_t most) {
  Readings readings;
  std::int64_t comparisons = 0;
  for (std::size_t i = 0; i < html.size(); ++i) {
    if (readings.none()) {
      i = html.find('<', i);
      if (i == std::string_view::npos) return false;
    } else {
      comparisons += readings.step(html[i]);
      if (comparisons > most) return true;
    }
    if (html[i] == '<' && i + 1 < html.size() && begins_name(html[i + 1])) readings.begin();
  }
  return false;
}

}  // namespace neardup::cli
