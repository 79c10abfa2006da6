// Writes documents as COPY text to standard output: a corpus with Zipf's frequencies, planted classes of words that
// keep the same company, and rows as long as one wants them, for word models. The same for the same options.
//
//   g++ -O2 -std=c++20 -I src bench/make_words.cpp -o make_words
//   make_words --vocabulary 100000 --tokens 200000000 | psql -c 'COPY t (body) FROM STDIN'
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/hash.h"

namespace {

using neardup::mix64;

constexpr char kUsage[] =
    R"(usage: make_words --vocabulary N --tokens N [OPTION ...] >FILE

  --vocabulary N  different words; the r-th is drawn as the middle of a sentence with frequency 1 / (r + 2)^zipf
  --tokens N      words in all, and with them the length of the corpus: some 6 bytes each
  --company C     different words that stand beside the words of a class, on average (100)
  --members M     words of a class, neighbours in rank (5)
  --around A      words on either side of the middle one: a sentence has 2 A + 1 (3)
  --noise S       share of words that stand beside any word (0.1)
  --zipf S        exponent of frequencies (1)
  --document W    words of a document (1000)
  --seed S        another corpus (1)
  --classes FILE  writes word, tab, number of its class, in order of rank
  --measure W     says to standard error how many different words stand at most `around` places from each of W sampled
                  words, on average, and the bytes of text
)";

struct Options {
  uint64_t vocabulary = 0, tokens = 0, company = 100, members = 5, around = 3, document = 1000, seed = 1, measure = 0;
  double noise = 0.1, zipf = 1;
  std::string classes;
};

[[noreturn]] void usage(const std::string& what) {
  if (!what.empty()) std::fprintf(stderr, "make_words: %s\n", what.c_str());
  std::fputs(kUsage, what.empty() ? stdout : stderr);
  std::exit(what.empty() ? 0 : 2);
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help") usage("");
    if (i + 1 == argc) usage(name + " needs a value");
    const char* const value = argv[++i];
    const auto number = [&](uint64_t least, uint64_t most) {
      char* end;
      const uint64_t n = std::strtoull(value, &end, 10);
      if (*end != '\0' || *value == '-' || n < least || n > most) {
        usage(name + " must be from " + std::to_string(least) + " to " + std::to_string(most) + ": " + value);
      }
      return n;
    };
    const auto real = [&](double least, double most) {
      char* end;
      const double x = std::strtod(value, &end);
      if (*end != '\0' || !(x >= least && x <= most))
        usage(name + " must be from " + std::to_string(least) + " to " + std::to_string(most));
      return x;
    };
    if (name == "--vocabulary")
      o.vocabulary = number(1, 1'000'000);
    else if (name == "--tokens")
      o.tokens = number(1, uint64_t{1} << 40);
    else if (name == "--company")
      o.company = number(1, 1'000'000);
    else if (name == "--members")
      o.members = number(1, 1'000'000);
    else if (name == "--around")
      o.around = number(1, 16);
    else if (name == "--document")
      o.document = number(1, 10'000'000);
    else if (name == "--seed")
      o.seed = number(0, UINT64_MAX);
    else if (name == "--measure")
      o.measure = number(0, 1'000'000);
    else if (name == "--noise")
      o.noise = real(0, 1);
    else if (name == "--zipf")
      o.zipf = real(0, 4);
    else if (name == "--classes")
      o.classes = value;
    else
      usage("unknown option " + name);
  }
  if (o.vocabulary == 0 || o.tokens == 0) usage("--vocabulary and --tokens are needed");
  if (o.company >= o.vocabulary) usage("--company must be below --vocabulary");
  return o;
}

struct Random {
  uint64_t state;
  uint64_t next() { return mix64(state += 0x9e3779b97f4a7c15u); }
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64); }
};

// Ranks by their frequencies from 64 random bits: the alias method.
class Zipf {
 public:
  Zipf(uint64_t n, double exponent) : p_(n), keep_(n), other_(n) {
    double sum = 0;
    for (uint64_t r = 0; r < n; ++r) sum += p_[r] = std::pow(static_cast<double>(r + 2), -exponent);
    std::vector<uint32_t> less, more;
    std::vector<double> scaled(n);
    for (uint64_t r = 0; r < n; ++r) {
      p_[r] /= sum;
      scaled[r] = p_[r] * static_cast<double>(n);
      (scaled[r] < 1 ? less : more).push_back(static_cast<uint32_t>(r));
    }
    while (!less.empty() && !more.empty()) {
      const uint32_t a = less.back(), b = more.back();
      less.pop_back();
      keep_[a] = scaled[a];
      other_[a] = b;
      scaled[b] -= 1 - scaled[a];
      if (scaled[b] < 1) {
        more.pop_back();
        less.push_back(b);
      }
    }
    for (const auto* rest : {&less, &more}) {
      for (const uint32_t r : *rest) keep_[r] = 1;
    }
  }

  uint32_t draw(uint64_t bits) const {
    const auto product = static_cast<unsigned __int128>(bits) * keep_.size();
    const auto r = static_cast<uint32_t>(product >> 64);
    return static_cast<double>(static_cast<uint64_t>(product) >> 11) * 0x1p-53 < keep_[r] ? r : other_[r];
  }

  // Draws after which about `different` ranks have come.
  uint64_t draws_for(uint64_t different) const {
    uint64_t low = 1, high = uint64_t{1} << 40;
    while (low < high) {
      const uint64_t n = low + (high - low) / 2;
      double come = 0;
      for (const double p : p_) come -= std::expm1(static_cast<double>(n) * std::log1p(-p));
      if (come < static_cast<double>(different))
        low = n + 1;
      else
        high = n;
    }
    return low;
  }

 private:
  std::vector<double> p_, keep_;
  std::vector<uint32_t> other_;
};

// Letters only: a word with a digit would be none. Syllables of a consonant and a vowel; the more frequent, the
// shorter.
std::string spell_rank(uint64_t rank) {
  std::string name;
  uint64_t n = rank + 1;
  do {
    --n;
    name += {"bcdfghjklmnpqrstvwxz"[n % 20], "aeiou"[n / 20 % 5]};
    n /= 100;
  } while (n > 0);
  return name;
}

// Different words near each of a sample of words.
class Measure {
 public:
  Measure(const Options& o)
      : around_(o.around), place_(o.vocabulary, UINT32_MAX), near_(std::min(o.measure, o.vocabulary)) {
    for (uint64_t i = 0; i < near_.size(); ++i) place_[i * o.vocabulary / near_.size()] = static_cast<uint32_t>(i);
  }
  void sentence(const std::vector<uint32_t>& words) {
    for (size_t p = 0; p < words.size(); ++p) {
      if (place_[words[p]] == UINT32_MAX) continue;
      for (size_t q = p < around_ ? 0 : p - around_; q < std::min(words.size(), p + around_ + 1); ++q) {
        if (q != p) near_[place_[words[p]]].insert(words[q]);
      }
    }
  }
  double average() const {
    double sum = 0;
    for (const auto& n : near_) sum += static_cast<double>(n.size());
    return sum / static_cast<double>(near_.size());
  }

 private:
  const size_t around_;
  std::vector<uint32_t> place_;
  std::vector<std::unordered_set<uint32_t>> near_;
};

void write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  std::perror("make_words");
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  const Zipf zipf(o.vocabulary, o.zipf);
  const uint64_t company = zipf.draws_for(o.company);
  std::vector<std::string> names;
  for (uint64_t r = 0; r < o.vocabulary; ++r) names.push_back(spell_rank(r));
  if (!o.classes.empty()) {
    FILE* const f = std::fopen(o.classes.c_str(), "w");
    for (uint64_t r = 0; f != nullptr && r < o.vocabulary; ++r)
      std::fprintf(f, "%s\t%llu\n", names[r].c_str(), static_cast<unsigned long long>(r / o.members));
    if (f == nullptr || std::fclose(f) != 0) {
      std::perror(o.classes.c_str());
      return 1;
    }
  }
  Measure measure(o);
  Random random{mix64(o.seed)};
  const auto noise = static_cast<uint64_t>(o.noise * 0x1p32);
  const uint64_t size = 2 * o.around + 1;
  std::vector<uint32_t> sentence(size);
  std::string text;
  uint64_t bytes = 0, tokens = 0, in_document = 0;
  while (tokens < o.tokens) {
    const uint32_t middle = zipf.draw(random.next());
    // A class draws from the first `company` numbers of its own, each one word. The frequent ones come more than once.
    const uint64_t own = mix64(mix64(o.seed + 1) ^ (middle / o.members + 1));
    for (uint64_t i = 0; i < size; ++i) {
      if (i == o.around)
        sentence[i] = middle;
      else if ((random.next() >> 32) < noise)
        sentence[i] = zipf.draw(random.next());
      else
        sentence[i] = zipf.draw(mix64(own + random.below(company)));
      text += names[sentence[i]];
      text += i + 1 < size ? " " : ".";
    }
    if (o.measure != 0) measure.sentence(sentence);
    tokens += size;
    in_document += size;
    const bool ends = in_document >= o.document || tokens >= o.tokens;
    text += ends ? '\n' : ' ';
    if (ends) in_document = 0;
    if (text.size() >= 1 << 16 || ends) {
      bytes += text.size();
      write(text);
      text.clear();
    }
  }
  if (o.measure != 0)
    std::fprintf(stderr, "%.0f different words near a word, %llu bytes\n", measure.average(),
                 static_cast<unsigned long long>(bytes));
}
