// See clean.h.
#include "core/intake/clean.h"

#include <algorithm>
#include <bitset>

#include "core/base/named_values.h"
#include "core/unicode/utf8.h"

namespace neardup {
namespace {

constexpr size_t kLinesPerPoll = 4096;
constexpr size_t kMaxBody = (1ULL << 30) - 64;

constexpr NamedValue<RuleKind> kRuleKinds[] = {{"line", RuleKind::line},
                                               {"block", RuleKind::block},
                                               {"text", RuleKind::text},
                                               {"head", RuleKind::head},
                                               {"tail", RuleKind::tail}};

[[noreturn]] void refuse(const Rule& rule, const std::string& what) {
  throw Error(Errc::invalid_argument, "rule \"" + rule.name + "\": " + what);
}

bool is_blank(std::string_view line) noexcept {
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') continue;
    if (line.substr(i, 3) == "\xe3\x80\x80") {  // ideographic space
      i += 2;
      continue;
    }
    return false;
  }
  return true;
}

// Where the line around `at` begins, and where the next one does.
size_t line_begin(std::string_view s, size_t at) noexcept {
  const size_t newline = at == 0 ? s.npos : s.rfind('\n', at - 1);
  return newline == s.npos ? 0 : newline + 1;
}
size_t line_end(std::string_view s, size_t at) noexcept {
  const size_t newline = s.find('\n', at);
  return newline == s.npos ? s.size() : newline + 1;
}

// CR LF and CR as LF.
std::string with_line_feeds(std::string_view text, StopCheck* stop) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0, lines = 0; at < text.size(); ++lines) {
    if (stop != nullptr && lines % kLinesPerPoll == 0) stop->poll();
    const size_t end = std::min(text.find('\r', at), text.size());
    out.append(text.substr(at, end - at));
    if (end == text.size()) break;
    out += '\n';
    at = end + (end + 1 < text.size() && text[end + 1] == '\n' ? 2 : 1);
  }
  return out;
}

// The length of the next piece of rest.
size_t piece_length(std::string_view rest) noexcept {
  if (rest.size() <= kCleanPiece) return rest.size();
  size_t any_line = 0;
  size_t at = kCleanPiece;
  while (at > kCleanPiece / 2) {
    const size_t newline = rest.rfind('\n', at - 1);
    if (newline == rest.npos || newline + 1 <= kCleanPiece / 2) break;
    const size_t next = newline + 1;
    // A cut inside a run of blank lines would hide it from a rule that wants to see it whole.
    const char after = rest[next];
    const bool starts_line = after != '\n' && after != '\r' && after != ' ' && after != '\t';
    if (starts_line) {
      if (any_line == 0) any_line = next;
      if (is_blank(rest.substr(line_begin(rest, newline), newline - line_begin(rest, newline)))) return next;
    }
    at = newline;
  }
  if (any_line != 0) return any_line;
  const size_t newline = rest.rfind('\n', kCleanPiece - 1);
  if (newline != rest.npos) return newline + 1;
  size_t cut = kCleanPiece;
  while ((static_cast<uint8_t>(rest[cut]) & 0xc0) == 0x80) --cut;
  return cut;
}

void expand(const std::string& replacement, const std::string_view* groups, std::string* out) {
  for (size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '\\' || i + 1 == replacement.size()) {
      *out += replacement[i];
      continue;
    }
    const char c = replacement[++i];
    if (c >= '0' && c <= '9')
      out->append(groups[c - '0']);
    else
      *out += c;
  }
}

int highest_group(const std::string& replacement) noexcept {
  int highest = 0;
  for (size_t i = 0; i + 1 < replacement.size(); ++i) {
    if (replacement[i] != '\\') continue;
    ++i;
    if (replacement[i] >= '0' && replacement[i] <= '9') highest = std::max(highest, replacement[i] - '0');
  }
  return highest;
}

class Cleaner {
 public:
  Cleaner(const std::vector<Rule>& rules, Patterns& patterns, StopCheck* stop)
      : rules_(rules), patterns_(patterns), stop_(stop) {}

  Cleaned run(std::string_view text) {
    const std::string_view left = without_ends(text);
    const size_t from = left.data() == nullptr ? 0 : static_cast<size_t>(left.data() - text.data());
    const size_t to = from + left.size();
    Cleaned out;
    size_t unchanged = from;  // up to here nothing has changed
    bool changed = false;
    for (const Piece& p : pieces_) {
      const size_t begin = std::max(p.begin, from);
      const size_t end = std::min(p.end, to);
      if (begin >= end) continue;
      if (stop_ != nullptr) stop_->poll();
      const std::string_view piece = text.substr(begin, end - begin);
      if (p.flags.any() && apply(piece, p.flags)) {
        if (!changed) out.body.assign(text.substr(from, unchanged - from));
        changed = true;
        out.body.append(piece_);
      } else if (changed) {
        out.body.append(piece);
      } else {
        unchanged = end;
      }
      if (out.body.size() > kMaxBody) throw Error(Errc::too_large, "the cleaned text would be larger than 1 GB");
    }
    out.changed = changed || left.size() != text.size();
    if (out.changed) {
      if (!changed) out.body.assign(left);
      const double before = static_cast<double>(characters(text));
      out.kept = std::min(1.0, static_cast<double>(characters(out.body)) / before);
    }
    for (uint32_t i = 0; i < rules_.size(); ++i)
      if (fired_[i]) out.fired.push_back(i);
    return out;
  }

 private:
  using Flags = std::bitset<kMaxRules>;
  struct Piece {
    size_t begin;
    size_t end;
    Flags flags;  // rules that may match in it
  };

  size_t characters(std::string_view text) const {
    return count_code_points(reinterpret_cast<const uint8_t*>(text.data()), text.size(), stop_);
  }

  bool find(size_t i, std::string_view piece, size_t from, std::string_view* groups, int n) {
    if (stop_ != nullptr) stop_->poll();
    return patterns_.find(i, piece, from, groups, n);
  }

  Flags may_match(std::string_view piece) {
    Flags flags;
    patterns_.may_match(piece, &candidates_);
    for (size_t i = 0; i < rules_.size(); ++i) flags[i] = candidates_[i] != 0;
    return flags;
  }

  // Cuts the text into pieces; what the rules of kinds head and tail leave of it.
  std::string_view without_ends(std::string_view text) {
    const size_t third = text.size() / 3;
    const size_t last_third = text.size() - third;
    size_t begin = 0;
    size_t end = text.size();
    for (size_t at = 0; at < text.size();) {
      if (stop_ != nullptr) stop_->poll();
      const size_t n = piece_length(text.substr(at));
      const std::string_view piece = text.substr(at, n);
      pieces_.push_back({at, at + n, may_match(piece)});
      const Flags flags = pieces_.back().flags;
      for (size_t i = 0; i < rules_.size(); ++i) {
        if (!flags[i]) continue;
        if (rules_[i].kind == RuleKind::head && at < third) begin = std::max(begin, head_end(i, piece, at, third));
        if (rules_[i].kind == RuleKind::tail && at + n > last_third)
          end = std::min(end, tail_begin(i, piece, at, last_third));
      }
      at += n;
    }
    return end > begin ? text.substr(begin, end - begin) : std::string_view();
  }

  // Behind the last line with a match that begins before `limit`; 0: none. The piece begins at `at`.
  size_t head_end(size_t i, std::string_view piece, size_t at, size_t limit) {
    std::string_view match;
    size_t end = 0;
    for (size_t from = 0; from < piece.size() && find(i, piece, from, &match, 1);) {
      const size_t where = static_cast<size_t>(match.data() - piece.data());
      if (where == piece.size() || at + line_begin(piece, where) >= limit) break;
      from = line_end(piece, where);
      end = at + from;
      fired_[i] = true;
    }
    return end;
  }

  // Where the first line with a match begins that begins at `limit` or later.
  size_t tail_begin(size_t i, std::string_view piece, size_t at, size_t limit) {
    std::string_view match;
    const size_t from = at >= limit ? 0 : line_end(piece, limit - at - 1);
    if (from >= piece.size() || !find(i, piece, from, &match, 1)) return SIZE_MAX;
    const size_t where = static_cast<size_t>(match.data() - piece.data());
    if (where == piece.size()) return SIZE_MAX;
    fired_[i] = true;
    return at + line_begin(piece, where);
  }

  // Applies lines, blocks and texts to a piece; true: piece_ is what is left.
  bool apply(std::string_view piece, Flags flags) {
    bool changed = false;
    std::string_view now = piece;
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!flags[i] || now.empty()) continue;
      next_.clear();
      bool hit = false;
      switch (rules_[i].kind) {
        case RuleKind::line:
          hit = drop_lines(i, now);
          break;
        case RuleKind::block:
          hit = drop_blocks(i, now);
          break;
        case RuleKind::text:
          hit = replace(i, now);
          break;
        case RuleKind::head:
        case RuleKind::tail:
          break;
      }
      if (!hit || now == next_) continue;
      fired_[i] = true;
      changed = true;
      piece_.swap(next_);
      now = piece_;
      flags = may_match(now);
    }
    return changed;
  }

  bool drop_lines(size_t i, std::string_view now) {
    std::string_view match;
    size_t done = 0;
    bool hit = false;
    for (size_t from = 0; from < now.size() && find(i, now, from, &match, 1);) {
      const size_t where = static_cast<size_t>(match.data() - now.data());
      if (where == now.size() && where > 0 && now[where - 1] == '\n') break;  // no line is there
      next_.append(now.substr(done, line_begin(now, where) - done));
      done = from = line_end(now, where);
      hit = true;
    }
    if (hit) next_.append(now.substr(done));
    return hit;
  }

  bool drop_blocks(size_t i, std::string_view now) {
    std::string_view match;
    size_t done = 0;
    bool hit = false;
    for (size_t from = 0; from < now.size() && find(i, now, from, &match, 1);) {
      const size_t where = static_cast<size_t>(match.data() - now.data());
      size_t begin = line_begin(now, where);
      size_t end = line_end(now, where);
      if (is_blank(now.substr(begin, end - begin))) {
        from = end;
        continue;
      }
      // No farther than a block may be long.
      while (begin > done && end - begin <= kMaxRuleBlock) {
        const size_t before = line_begin(now, begin - 1);
        if (is_blank(now.substr(before, begin - before))) break;
        begin = before;
      }
      while (end < now.size() && end - begin <= kMaxRuleBlock) {
        const size_t after = line_end(now, end);
        if (is_blank(now.substr(end, after - end))) break;
        end = after;
      }
      if (end - begin > kMaxRuleBlock) {
        // It is too large, and is so for every other line of the run as well.
        while (end < now.size() && !is_blank(now.substr(end, line_end(now, end) - end))) end = line_end(now, end);
        from = end;
        continue;
      }
      while (end < now.size()) {
        const size_t after = line_end(now, end);
        if (!is_blank(now.substr(end, after - end))) break;
        end = after;
      }
      next_.append(now.substr(done, begin - done));
      done = from = end;
      hit = true;
    }
    if (hit) next_.append(now.substr(done));
    return hit;
  }

  bool replace(size_t i, std::string_view now) {
    const std::string& replacement = rules_[i].replacement;
    const int n = highest_group(replacement) + 1;
    std::string_view groups[kMaxGroups];
    size_t done = 0;
    bool hit = false;
    for (size_t from = 0; from <= now.size() && find(i, now, from, groups, n);) {
      const size_t where = static_cast<size_t>(groups[0].data() - now.data());
      const size_t length = groups[0].size();
      next_.append(now.substr(done, where - done));
      expand(replacement, groups, &next_);
      done = where + length;
      from = done;
      if (length == 0) {  // on by one character
        from = done + 1;
        while (from < now.size() && (static_cast<uint8_t>(now[from]) & 0xc0) == 0x80) ++from;
      }
      hit = true;
      if (next_.size() > kMaxGrowth)
        throw Error(Errc::too_large, "rule \"" + rules_[i].name + "\" makes more than " + std::to_string(kMaxGrowth) +
                                         " bytes of at most " + std::to_string(kCleanPiece));
    }
    if (hit) next_.append(now.substr(std::min(done, now.size())));
    return hit;
  }

  const std::vector<Rule>& rules_;
  Patterns& patterns_;
  StopCheck* stop_;
  std::vector<Piece> pieces_;
  std::vector<uint8_t> candidates_;
  Flags fired_;
  std::string piece_;
  std::string next_;
};

}  // namespace

RuleKind parse_rule_kind(std::string_view kind, std::string_view rule) {
  if (const auto known = value_named(kRuleKinds, kind)) return *known;
  throw Error(Errc::invalid_argument, "rule \"" + std::string(rule) + "\": unknown kind: " + std::string(kind), {},
              std::string("Kinds are ") + list_names(kRuleKinds, "", "and").text + ".");
}

const char* rule_kind_name(RuleKind kind) noexcept { return find_name(kRuleKinds, kind, ""); }

void check_rules(const std::vector<Rule>& rules) {
  if (rules.size() > kMaxRules)
    throw Error(Errc::invalid_argument,
                "there must be at most " + std::to_string(kMaxRules) + " rules: " + std::to_string(rules.size()));
  for (const Rule& r : rules) {
    if (r.name.empty() || r.name.size() > kMaxRuleName)
      throw Error(Errc::invalid_argument, "the name of a rule must have 1 to " + std::to_string(kMaxRuleName) +
                                              " bytes: " + std::to_string(r.name.size()));
    if (r.pattern.empty() || r.pattern.size() > kMaxPattern)
      refuse(r,
             "a pattern must have 1 to " + std::to_string(kMaxPattern) + " bytes: " + std::to_string(r.pattern.size()));
    if (r.replacement.size() > kMaxReplacement)
      refuse(r, "a replacement must have at most " + std::to_string(kMaxReplacement) +
                    " bytes: " + std::to_string(r.replacement.size()));
    if (r.kind != RuleKind::text && !r.replacement.empty())
      refuse(r, std::string("only rules of kind text have a replacement, not ") + rule_kind_name(r.kind));
  }
}

void check_replacements(const std::vector<Rule>& rules, const Patterns& patterns) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const int wanted = highest_group(rules[i].replacement);
    if (wanted > patterns.groups(i))
      refuse(rules[i], "the replacement names group " + std::to_string(wanted) + ", the pattern has " +
                           std::to_string(patterns.groups(i)));
  }
}

Cleaned clean_text(const std::vector<Rule>& rules, Patterns& patterns, std::string_view text, StopCheck* stop) {
  if (text.find('\r') == text.npos) return Cleaner(rules, patterns, stop).run(text);
  std::string lines = with_line_feeds(text, stop);
  Cleaned out = Cleaner(rules, patterns, stop).run(lines);
  if (!out.changed) out.body = std::move(lines);
  out.changed = true;
  return out;
}

std::vector<Rule> default_rules() {
  std::vector<Rule> rules;
  for (size_t i = 0; i < kDefaultRuleCount; ++i) {
    const BuiltInRule& r = kDefaultRules[i];
    rules.push_back({r.name, r.kind, r.pattern, r.replacement, {}});
  }
  return rules;
}

}  // namespace neardup
