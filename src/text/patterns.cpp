// See patterns.h.
#include "text/patterns.h"

#ifdef NEARDUP_WITH_RE2
#include <algorithm>
#include <chrono>
#include <re2/re2.h>
#include <re2/set.h>
#include <string>
#endif

namespace neardup {

#ifdef NEARDUP_WITH_RE2

namespace {

constexpr int64_t kAllPatternsMemory = 64 << 20;  // of all patterns together
constexpr int64_t kMaxPatternMemory = 4 << 20;    // of one
constexpr int64_t kLeastPatternMemory = 256 << 10;
constexpr int64_t kSetMemory = 32 << 20;
// Steps of a search without its table are program size times text: bounded, so that a piece takes moments.
constexpr int kMaxProgram = 5000;
constexpr std::chrono::milliseconds kPatience(100);  // with the search for all patterns at once, over one piece

RE2::Options options_for(int64_t memory, bool never_nl) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(memory);
  options.set_never_nl(never_nl);
  return options;
}

// ^ and $ at line ends.
std::string lined(const Rule& rule) { return "(?m)" + rule.pattern; }

class Re2Patterns final : public Patterns {
 public:
  explicit Re2Patterns(const std::vector<Rule>& rules)
      : set_(options_for(kSetMemory, false), RE2::UNANCHORED), n_(rules.size()) {
    const int64_t each = std::clamp(kAllPatternsMemory / static_cast<int64_t>(std::max<size_t>(n_, 1)),
                                    kLeastPatternMemory, kMaxPatternMemory);
    for (const Rule& rule : rules) {
      auto pattern = std::make_unique<RE2>(lined(rule), options_for(each, rule.kind != RuleKind::text));
      if (!pattern->ok()) refuse(rule, pattern->error());
      const int size = std::max(pattern->ProgramSize(), pattern->ReverseProgramSize());
      if (size < 0 || size > kMaxProgram)
        refuse(rule, "the pattern is too large, " + std::to_string(size) + " steps of at most " +
                         std::to_string(kMaxProgram));
      patterns_.push_back(std::move(pattern));
      std::string error;
      if (set_.Add(lined(rule), &error) < 0) refuse(rule, error);
    }
    has_set_ = n_ > 1 && set_.Compile();
  }

  void may_match(std::string_view piece, std::vector<uint8_t>* flags) override {
    flags->assign(n_, has_set_ ? 0 : 1);
    if (!has_set_) return;
    RE2::Set::ErrorInfo info{RE2::Set::kNoError};
    hits_.clear();
    const auto began = std::chrono::steady_clock::now();
    const bool any = set_.Match({piece.data(), piece.size()}, &hits_, &info);
    // There are patterns for which its table never ends; unlike a single search it does not give up by itself.
    if (std::chrono::steady_clock::now() - began > kPatience) has_set_ = false;
    if (any) {
      for (const int i : hits_) (*flags)[static_cast<size_t>(i)] = 1;
    } else if (info.kind != RE2::Set::kNoError) {
      flags->assign(n_, 1);  // its memory did not do: each rule looks for itself
    }
  }

  bool find(size_t i, std::string_view piece, size_t from, std::string_view* groups, int n) override {
    re2::StringPiece found[kMaxGroups];
    if (!patterns_[i]->Match({piece.data(), piece.size()}, from, piece.size(), RE2::UNANCHORED, found, n)) return false;
    for (int g = 0; g < n; ++g) groups[g] = {found[g].data(), found[g].size()};
    return true;
  }

  int groups(size_t i) const override { return patterns_[i]->NumberOfCapturingGroups(); }

 private:
  // RE2 quotes a part of the pattern; its bytes above ASCII are not in the encoding of messages.
  [[noreturn]] static void refuse(const Rule& rule, std::string why) {
    std::replace_if(
        why.begin(), why.end(), [](char c) { return static_cast<uint8_t>(c) >= 0x80; }, '?');
    throw Error(Errc::invalid_argument, "rule \"" + rule.name + "\" has a bad pattern: " + why,
                "The pattern is: " + (rule.shown.empty() ? rule.pattern : rule.shown),
                "Patterns are RE2's: no backreferences, no look-around.");
  }

  RE2::Set set_;
  size_t n_;
  bool has_set_ = false;
  std::vector<std::unique_ptr<RE2>> patterns_;
  std::vector<int> hits_;
};

}  // namespace

bool has_patterns() noexcept { return true; }

std::unique_ptr<Patterns> compile_patterns(const std::vector<Rule>& rules) {
  check_rules(rules);
  auto patterns = std::make_unique<Re2Patterns>(rules);
  check_replacements(rules, *patterns);
  return patterns;
}

#else

bool has_patterns() noexcept { return false; }

std::unique_ptr<Patterns> compile_patterns(const std::vector<Rule>&) {
  throw Error(Errc::unsupported, "this build of neardup cannot clean texts", {},
              "Install libre2-dev and build and install neardup again.");
}

#endif

}  // namespace neardup
