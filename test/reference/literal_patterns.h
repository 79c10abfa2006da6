// Patterns that are plain words: rules can be tested without a library of regular expressions. ^ before a word asks for
// a line's begin.
#pragma once

#include <string_view>
#include <vector>

#include "core/intake/clean.h"

namespace neardup::reference {

class LiteralPatterns final : public Patterns {
 public:
  explicit LiteralPatterns(const std::vector<Rule>& rules) : rules_(rules) {}

  void may_match(std::string_view piece, std::vector<uint8_t>* flags) override {
    flags->clear();
    std::string_view match;
    for (size_t i = 0; i < rules_.size(); ++i) flags->push_back(find(i, piece, 0, &match, 1));
  }

  bool find(size_t i, std::string_view piece, size_t from, std::string_view* groups, int n) override {
    std::string_view word = rules_[i].pattern;
    const bool at_line = word.starts_with('^');
    if (at_line) word.remove_prefix(1);
    for (size_t at = piece.find(word, from); at != piece.npos; at = piece.find(word, at + 1)) {
      if (at_line && at > 0 && piece[at - 1] != '\n') continue;
      groups[0] = piece.substr(at, word.size());
      for (int g = 1; g < n; ++g) groups[g] = {};
      return true;
    }
    return false;
  }

  int groups(size_t) const override { return 0; }

 private:
  const std::vector<Rule>& rules_;
};

}  // namespace neardup::reference
