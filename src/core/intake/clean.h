// Rules that take out of a text what is not its own: advertisements, notices, comments, headings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stop.h"

namespace neardup {

enum class RuleKind : uint8_t {
  line,   // a line in which the pattern matches is left out
  block,  // the run of lines that are not blank around a match is left out, with the blank lines behind it
  text,   // a match is replaced
  head,   // all up to the last line in which it matches, where that begins in the first third of the document
  tail,   // all from the first line in which it matches, where that begins in the last third
};

// The kind by its name; Error{invalid_argument} that names the rule. Both are short.
RuleKind parse_rule_kind(std::string_view kind, std::string_view rule);
const char* rule_kind_name(RuleKind kind) noexcept;

struct Rule {
  std::string name;  // in any encoding: for messages
  RuleKind kind = RuleKind::line;
  std::string pattern;      // ^ and $ match at line ends; only `text` patterns match across them
  std::string replacement;  // of kind text; \1 to \9 are groups, \0 the match, \\ a backslash
  std::string shown;        // the pattern for messages, in their encoding; empty: the pattern
};

inline constexpr size_t kMaxRules = 256;
inline constexpr size_t kMaxRuleName = 256;
inline constexpr size_t kMaxPattern = 4096;
inline constexpr size_t kMaxReplacement = 1024;
inline constexpr size_t kMaxRuleBlock = 8192;      // bytes of a block that a rule may take out
inline constexpr size_t kCleanPiece = 32 * 1024;   // bytes that patterns look at together, at most
inline constexpr size_t kMaxGrowth = 1024 * 1024;  // bytes that one piece may become by replacements

// Error{invalid_argument} for a set that is outside these limits.
void check_rules(const std::vector<Rule>& rules);

inline constexpr int kMaxGroups = 10;

// The patterns of a set of rules, compiled by a library that the core does not know. Not thread-safe.
class Patterns {
 public:
  virtual ~Patterns() = default;

  // flags[i] = 0 for rules whose pattern matches nowhere in the piece; may be 1 without a match.
  virtual void may_match(std::string_view piece, std::vector<uint8_t>* flags) = 0;

  // The first match of rule i that begins at `from` or later: groups[0 .. n), the match itself first; a group that took
  // no part has a null data(). Views into piece.
  virtual bool find(size_t i, std::string_view piece, size_t from, std::string_view* groups, int n) = 0;

  // The number of groups in the pattern of rule i.
  virtual int groups(size_t i) const = 0;
};

// Error{invalid_argument} where a replacement names a group that its pattern has not.
void check_replacements(const std::vector<Rule>& rules, const Patterns& patterns);

struct Cleaned {
  bool changed = false;
  std::string body;  // when changed
  double kept = 1;   // characters of body over those of the input, CR LF as one; at most 1; of an empty text 1
  std::vector<uint32_t> fired;  // rules that changed something, in their order
};

// Applies the rules to valid UTF-8, in which CR LF and CR are read as LF, so that $ matches at every line end, and a
// text has one body whatever its line ends are: first those of kinds head and tail, then, over pieces of at most
// kCleanPiece bytes cut at blank lines, else at line ends, else between characters, the others in their order; each
// sees what the ones before it left. Memory: the result, and the text where it has a CR. Error{too_large}: a piece
// outgrows kMaxGrowth, or the body 1 GB.
Cleaned clean_text(const std::vector<Rule>& rules, Patterns& patterns, std::string_view text, StopCheck* stop);

// The built-in set, in order; in clean_rules.cpp. name, kind, pattern, replacement: UTF-8.
struct BuiltInRule {
  const char* name;
  RuleKind kind;
  const char* pattern;
  const char* replacement;
};
extern const BuiltInRule kDefaultRules[];
extern const size_t kDefaultRuleCount;
std::vector<Rule> default_rules();

}  // namespace neardup
