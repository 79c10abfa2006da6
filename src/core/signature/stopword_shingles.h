// Shingles that begin with a stop word: what running text has, and menus, advertisements and lists of links have little
// of.
//
// Near to the spot signatures of Theobald, Siddharth, Paepcke, "SpotSigs: Robust and Efficient Near Duplicate Detection
// in Large Web Collections", SIGIR 2008; the definition here is another, and frozen: words w_1 .. w_n of a document
// (words.h), stop words S, following f: for each i with w_i in S and i + f <= n the words w_i .. w_{i+f}, joined by one
// space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/base/stop.h"
#include "core/document/words.h"
#include "core/signature/minhash_encode.h"

namespace neardup {

inline constexpr int kMaxFollowing = 16;

// Error{invalid_argument} unless 1 <= following <= 16.
void check_following(int64_t following);

class StopWords {
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const noexcept;
  };

 public:
  using WordSet = std::unordered_set<std::string, Hash, std::equal_to<>>;

  // Folds the word. Error{invalid_argument} for what is not one word. shown: the word in messages.
  void add(std::string_view word, std::string_view shown);
  void add(std::string_view word) { add(word, word); }
  // A word as Words gives it.
  void add_folded(std::string_view word) { words_.emplace(word); }
  bool contains(std::string_view folded) const { return words_.find(folded) != words_.end(); }
  bool empty() const noexcept { return words_.empty(); }
  size_t size() const noexcept { return words_.size(); }

 private:
  WordSet words_;
};

// The shingles of a document in order and with repeats. Memory: following + 1 words.
class StopwordShingles {
 public:
  // stop_words and text must stay valid. following 1..16, else Error{invalid_argument}. stop may be null.
  StopwordShingles(const StopWords& stop_words, int following, const uint8_t* text, size_t size,
                   StopCheck* stop = nullptr);

  // False at the end.
  bool next(std::string* shingle);

 private:
  struct Held {
    std::string word;
    bool starts;  // is a stop word
  };

  const StopWords& stop_words_;
  Words words_;
  std::vector<Held> ring_;  // the last following + 1 words
  size_t read_ = 0;         // words so far
};

// The signature of the set of shingles, the same as sign_set() over their element_hash(): params of kind text_set.
// False when there is none. components: params.num_perm values. stop may be null.
bool sign_stopword_shingles(const MinhashParams& params, const StopWords& stop_words, int following,
                            const uint8_t* text, size_t size, StopCheck* stop, uint32_t* components);

// The different words of a document, folded, in the order in which they come first.
std::vector<std::string> distinct_words(const uint8_t* text, size_t size, StopCheck* stop);

}  // namespace neardup
