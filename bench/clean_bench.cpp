// The speed of the built-in cleaning rules: on a text without anything to clean, and with addresses and notices.
//   build/clean_bench [FILE]     a text of one's own instead of the made one
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "core/intake/clean.h"
#include "core/intake/text_quality.h"
#include "text/patterns.h"

using namespace neardup;

namespace {

constexpr size_t kBytes = 64 << 20;

// English-like lines of words with a blank line here and there.
std::string made_text() {
  static const char* const words[] = {"the",     "of",     "and",   "storm", "had",  "come", "before",
                                      "they",    "could",  "reach", "house", "that", "part", "share",
                                      "comment", "number", "next",  "home",  "it",   "was"};
  std::mt19937 random(1);
  std::string text;
  while (text.size() < (4 << 20)) {
    for (size_t n = 8 + random() % 8; n > 0; --n)
      text.append(words[random() % std::size(words)]).append(n > 1 ? " " : ".\n");
    if (random() % 6 == 0) text += '\n';
  }
  return text;
}

void repeat_to(std::string* text, size_t size) {
  const size_t once = text->size();
  while (once > 0 && text->size() < size) text->append(*text, 0, once);
}

template <class F>
void timed(const char* what, const std::string& text, F f) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto began = std::chrono::steady_clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  std::printf("%-40s %8.0f MB/s\n", what, static_cast<double>(text.size()) / 1e6 / best);
}

}  // namespace

int main(int argc, char** argv) {
  std::string text;
  if (argc > 1) {
    std::ifstream file(argv[1], std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
  } else {
    text = made_text();
  }
  std::string dirty;
  for (size_t at = 0; at < text.size(); at += 4000)
    dirty += text.substr(at, 4000) + "\nAdvertisement\nSee https://example.org/page for more.\n\n";
  repeat_to(&text, kBytes);
  repeat_to(&dirty, kBytes);
  timed("quality without cleaning", text,
        [&] { measure_quality(reinterpret_cast<const uint8_t*>(text.data()), text.size(), nullptr); });
  if (!has_patterns()) {
    std::puts("built without RE2: no rules to measure");
    return 0;
  }
  const std::vector<Rule> rules = default_rules();
  const auto patterns = compile_patterns(rules);
  size_t fired = 0;
  timed("built-in rules, nothing to clean", text,
        [&] { fired = clean_text(rules, *patterns, text, nullptr).fired.size(); });
  std::printf("  %zu rules changed something\n", fired);
  timed("built-in rules, a notice every 4 kB", dirty,
        [&] { fired = clean_text(rules, *patterns, dirty, nullptr).fired.size(); });
  std::printf("  %zu rules changed something\n", fired);
}
