// Compares ctph digests and scores with those of libfuzzy on made-up inputs and, where named, files; prints ok or not
// ok a group, and the speeds of both side by side. libfuzzy is no part of the project: it is the oracle only.
//   g++ -std=c++20 -O2 -Isrc -I. test/oracle/ctph_oracle.cpp src/core/*/*.cpp src/core/*/*/*.cpp -lfuzzy -o ctph_oracle
//   ./ctph_oracle [inputs [pairs [FILE...]]]      200000 inputs and 1000000 pairs unless said
//   ./ctph_oracle --golden > test/data/golden_ctph.tsv
#if __has_include(<fuzzy.h>)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <fuzzy.h>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "core/kernels/kernels.h"
#include "core/signature/ctph.h"
#include "core/signature/ctph_compare.h"

#include "test/reference/ctph_inputs.h"

using namespace neardup;

namespace {

using Random = std::mt19937_64;
int g_failed = 0;

void report(const std::string& name, size_t count, size_t wrong) {
  std::printf("%s - %s: %zu compared, %zu differ\n", wrong == 0 ? "ok" : "not ok", name.c_str(), count, wrong);
  std::fflush(stdout);
  g_failed += wrong != 0;
}

std::string theirs(const std::string& s) {
  char out[FUZZY_MAX_RESULT];
  if (fuzzy_hash_buf(reinterpret_cast<const unsigned char*>(s.data()), static_cast<uint32_t>(s.size()), out) != 0)
    return "failed";
  return out;
}

std::string ours(const std::string& s) { return ctph_to_text(digest_view(ctph(s.data(), s.size()))); }

std::string streamed(const std::string& s, Random& random) {
  CtphHasher h;
  const size_t most = size_t{1} << random() % 16;
  for (size_t at = 0; at < s.size();) {
    const size_t n = std::min<size_t>(s.size() - at, random() % (most + 1));
    h.update(s.data() + at, n);
    at += n;
    if (random() % 64 == 0) h.digest();
  }
  return ctph_to_text(digest_view(h.digest()));
}

bool same(const std::string& s, Random& random) {
  const std::string expected = theirs(s);
  if (ours(s) == expected && streamed(s, random) == expected) return true;
  if (g_failed == 0)
    std::printf("# %zu bytes\n# %s\n# %s\n# %s\n", s.size(), expected.c_str(), ours(s).c_str(),
                streamed(s, random).c_str());
  return false;
}

size_t some_size(Random& random) {
  switch (random() % 8) {
    case 0:
      return random() % 16;
    case 1:
    case 2: {  // around the sizes where the first block size changes
      const size_t border = size_t{192} << random() % 9;
      return border + random() % 9 - 4;
    }
    case 3:
      return random() % 60000;
    default:
      return random() % (size_t{2} << random() % 13);
  }
}

// Seven bytes after which a piece ends at 3 * 2^e or above, by chance.
std::string trigger_bytes(Random& random, unsigned e) {
  for (;;) {
    uint64_t x = random();
    std::string s(reinterpret_cast<const char*>(&x), 7);
    uint32_t linear = 0, shifted = 0;
    for (int i = 0; i < 7; ++i) {
      const uint32_t c = static_cast<uint8_t>(s[6 - static_cast<size_t>(i)]);
      linear += (8u - static_cast<uint32_t>(i)) * c;
      shifted ^= c << 5 * i;
    }
    const uint32_t v = linear + shifted + 1;
    if (v != 0 && v % (3u << e) == 0) return s;
  }
}

struct Kind {
  const char* name;
  std::string (*make)(Random&, const std::vector<std::vector<std::string>>& triggers);
};

std::string random_bytes(Random& random, size_t n, unsigned letters = 256) {
  std::string s(n, '\0');
  for (char& c : s) c = static_cast<char>(random() % letters);
  return s;
}

std::string words(Random& random, size_t n) {
  static const char* const kWords[] = {"the ", "of ",     "and\n", "return ",     "int ", "0x",
                                       "} ",   "static ", "x ",    "lua_State *", "  "};
  std::string s;
  while (s.size() < n) s += kWords[random() % std::size(kWords)];
  s.resize(n);
  return s;
}

const Kind kKinds[] = {
    {"zeros", [](Random& r, const auto&) { return std::string(some_size(r), '\0'); }},
    {"one byte value", [](Random& r, const auto&) { return std::string(some_size(r), static_cast<char>(r())); }},
    {"runs",
     [](Random& r, const auto&) {
       std::string s;
       const size_t n = some_size(r);
       while (s.size() < n) s.append(1 + r() % (1u << r() % 10), static_cast<char>(r()));
       s.resize(n);
       return s;
     }},
    {"random bytes", [](Random& r, const auto&) { return random_bytes(r, some_size(r)); }},
    {"few letters",
     [](Random& r, const auto&) { return random_bytes(r, some_size(r), 1 + static_cast<unsigned>(r() % 5)); }},
    {"text", [](Random& r, const auto&) { return words(r, some_size(r)); }},
    {"repeats",
     [](Random& r, const auto&) {
       const size_t n = some_size(r);
       std::string s = random_bytes(r, 1 + r() % (1u << r() % 12));
       const std::string unit = s;
       while (s.size() < n) s += unit;
       s.resize(n);
       return s;
     }},
    {"random, ending in zeros",
     [](Random& r, const auto&) { return random_bytes(r, some_size(r)) + std::string(r() % 12, '\0'); }},
    {"many triggers of all block sizes",
     [](Random& r, const auto& triggers) {
       const size_t n = some_size(r);
       const unsigned least = static_cast<unsigned>(r() % triggers.size());
       const unsigned gap = 1u << r() % 9;
       std::string s;
       while (s.size() < n) {
         const auto& of_size = triggers[least + r() % (triggers.size() - least)];
         s += of_size[r() % of_size.size()];
         if (r() % 2) s += random_bytes(r, r() % gap);
       }
       s.resize(n);
       if (r() % 3 == 0) s += std::string(7, '\0');
       return s;
     }},
    {"triggers first, then none",
     [](Random& r, const auto& triggers) {
       std::string s;
       const size_t pieces = 20 + r() % 100;
       const auto& of_size = triggers[r() % triggers.size()];
       for (size_t i = 0; i < pieces; ++i) s += of_size[r() % of_size.size()];
       s += std::string(some_size(r), '\0');
       if (r() % 2) s += random_bytes(r, r() % 40);
       return s;
     }},
    {"none first, then triggers",
     [](Random& r, const auto& triggers) {
       std::string s(some_size(r), static_cast<char>(r() % 2 ? 0 : r()));
       const size_t pieces = 20 + r() % 100;
       const auto& of_size = triggers[r() % triggers.size()];
       for (size_t i = 0; i < pieces; ++i) s += of_size[r() % of_size.size()];
       return s;
     }},
};

std::string made_up_part(Random& random) {
  static const char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t n = random() % 3 == 0 ? 64 : random() % 65;
  const unsigned letters = random() % 4 == 0 ? 2 : 64;
  std::string s;
  while (s.size() < n) s.append(random() % 12 == 0 ? 1 + random() % 8 : 1, kAlphabet[random() % letters]);
  s.resize(n);
  return s;
}

std::string edited(Random& random, std::string s) {
  for (uint64_t edits = random() % (1u << random() % 6); edits > 0; --edits) {
    const size_t at = s.empty() ? 0 : random() % s.size();
    const char c = static_cast<char>('A' + random() % 26);
    switch (random() % 4) {
      case 0:
        if (s.size() < 64) s.insert(at, 1, c);
        break;
      case 1:
        if (!s.empty()) s.erase(at, 1);
        break;
      case 2:
        if (!s.empty()) s[at] = c;
        break;
      default:
        if (!s.empty()) std::rotate(s.begin(), s.begin() + static_cast<long>(at), s.end());
    }
  }
  return s;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Medians of seven turns, the two sides by turns.
template <class A, class B>
void race(A a, B b, double* time_a, double* time_b) {
  std::vector<double> ta, tb;
  for (int turn = 0; turn < 7; ++turn) {
    double t = seconds();
    a();
    ta.push_back(seconds() - t);
    t = seconds();
    b();
    tb.push_back(seconds() - t);
  }
  std::sort(ta.begin(), ta.end());
  std::sort(tb.begin(), tb.end());
  *time_a = ta[3];
  *time_b = tb[3];
}

// test/data/golden_ctph.tsv
int print_golden() {
  std::puts("# kind, seed, size (test/reference/ctph_inputs.h) -> digest by libfuzzy 2.14.1");
  uint64_t seed = 1;
  for (const char* kind : reference::kCtphInputKinds)
    for (const size_t size :
         {0u,    1u,     2u,     6u,     7u,     8u,     20u,    63u,    64u,    65u,     100u,    191u,   192u,  193u,
          250u,  383u,   384u,   385u,   500u,   767u,   768u,   769u,   1000u,  1537u,   2000u,   3072u,  3073u, 5000u,
          6145u, 10000u, 12288u, 20000u, 24577u, 49152u, 49153u, 70000u, 98305u, 150000u, 196608u, 300001u}) {
      std::printf("%s\t%lu\t%zu\t%s\n", kind, seed, size, theirs(reference::ctph_input(kind, seed, size)).c_str());
      ++seed;
    }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--golden") return print_golden();
  const size_t inputs = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200000;
  const size_t pairs = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000000;
  Random random(20240611);

  std::vector<std::vector<std::string>> triggers(13);
  for (unsigned e = 0; e < triggers.size(); ++e)
    for (int i = 0; i < 40; ++i) triggers[e].push_back(trigger_bytes(random, e));
  std::vector<std::string> digests;
  for (const Kind& kind : kKinds) {
    size_t wrong = 0;
    const size_t n = inputs / std::size(kKinds) + 1;
    for (size_t i = 0; i < n; ++i) {
      force_kernels(kKernelForms[i % std::size(kKernelForms)]);
      const std::string s = kind.make(random, triggers);
      wrong += !same(s, random);
      if (i % 8 == 0) digests.push_back(ours(s));
    }
    report(std::string("digests, ") + kind.name, n, wrong);
  }
  force_kernels("auto");
  {
    size_t wrong = 0, n = 0;
    for (size_t size = 0; size <= 2000; ++size, ++n) wrong += !same(words(random, size), random);
    for (unsigned e = 9; e <= 16; ++e)
      for (int d = -2; d <= 2; ++d, ++n)
        wrong += !same(e % 2 ? words(random, (size_t{192} << e) + static_cast<size_t>(d))
                             : random_bytes(random, (size_t{192} << e) + static_cast<size_t>(d)),
                       random);
    for (const size_t size : {33000000u, 100000001u}) wrong += !same(random_bytes(random, size), random), ++n;
    report("digests, every size to 2000 and large borders", n, wrong);
  }
  if (argc > 3) {
    size_t wrong = 0;
    for (int i = 3; i < argc; ++i) {
      std::ifstream in(argv[i], std::ios::binary);
      const std::string s((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
      wrong += !same(s, random);
      digests.push_back(ours(s));
    }
    report("digests of files", static_cast<size_t>(argc - 3), wrong);
  }

  // Scores: neighbours among the digests, made-up digests and edited copies of both, at every block size.
  {
    size_t wrong = 0, positive = 0, n = 0;
    std::vector<std::string> pool = digests;
    while (n < pairs) {
      std::string a = pool[random() % pool.size()], b = pool[random() % pool.size()];
      if (random() % 4 != 0) {
        const uint32_t e = static_cast<uint32_t>(random() % 3 == 0 ? random() % 31 : random() % 6);
        CtphDigest x{e, kCtphLength, made_up_part(random), made_up_part(random)};
        if (random() % 3 == 0) {
          x = ctph_from_text(a);
          x.exponent = e;
        }
        CtphDigest y{e, kCtphLength, edited(random, x.part1), edited(random, x.part2)};
        switch (random() % 4) {
          case 0:
            y.exponent = std::min(e + 1, 30u);
            std::swap(y.part1, y.part2);
            break;
          case 1:
            y.exponent = e == 0 ? 0 : e - 1;
            std::swap(y.part1, y.part2);
            break;
          default:
            break;
        }
        a = ctph_to_text(digest_view(x));
        b = ctph_to_text(digest_view(y));
      }
      const CtphDigest x = ctph_from_text(a), y = ctph_from_text(b);
      const int expected = fuzzy_compare(a.c_str(), b.c_str());
      const int got = ctph_score(digest_view(x), digest_view(y));
      const int back = ctph_score(digest_view(y), digest_view(x));
      if (expected != got || expected != back) {
        if (wrong++ == 0) std::printf("# %s\n# %s\n# %d, %d, %d\n", a.c_str(), b.c_str(), expected, got, back);
      }
      positive += expected > 0;
      ++n;
    }
    report("scores (" + std::to_string(positive) + " above 0)", n, wrong);
  }

  // Valid digests: what is accepted here is accepted there, and the other way round for well-formed ones.
  {
    size_t wrong = 0, n = 0, accepted = 0;
    for (size_t i = 0; i < pairs / 10; ++i) {
      std::string text = i % 2 ? digests[random() % digests.size()]
                               : ctph_to_text(digest_view(CtphDigest{static_cast<uint32_t>(random() % 31), kCtphLength,
                                                                     made_up_part(random), made_up_part(random)}));
      // Edits within the grammar: characters of the alphabet, runs, colons, the suffix.
      for (uint64_t edits = random() % 4; edits > 0; --edits) {
        const size_t from = text.find(':') == std::string::npos ? 0 : text.find(':') + 1;
        const size_t at = from + random() % (text.size() - from + 1);
        switch (random() % 5) {
          case 0:
            text.insert(at, 1 + random() % 5, static_cast<char>('a' + random() % 26));
            break;
          case 1:
            text.insert(at, 1 + random() % 80, 'q');
            break;
          case 2:
            if (at < text.size()) text.erase(at, 1);
            break;
          case 3:
            text += ",\"a file:name\"";
            break;
          default:
            break;
        }
      }
      // There any character will do, in part 1 even a comma; here the alphabet, and a comma starts the suffix.
      const size_t second = text.find(':', text.find(':') + 1);
      if (second == std::string::npos || text.find(',') < second || text.find('"') < text.find(',')) continue;
      const bool valid = fuzzy_compare(text.c_str(), text.c_str()) != -1;
      bool taken = true;
      try {
        ctph_from_text(text);
      } catch (const Error&) {
        taken = false;
      }
      accepted += taken;
      ++n;
      if (valid != taken && wrong++ == 0) std::printf("# %s: %d there, %d here\n", text.c_str(), valid, taken);
    }
    report("validity (" + std::to_string(accepted) + " accepted)", n, wrong);
  }

  // Speed.
  for (const size_t size : {300u, 1500u, 6000u, 100000u, 10000000u}) {
    const std::string s = words(random, size);
    const std::string t = random_bytes(random, size);
    for (const std::string* x : {&s, &t}) {
      const size_t times = std::max<size_t>(1, 10000000 / size);
      double a, b;
      race(
          [&] {
            for (size_t i = 0; i < times; ++i) theirs(*x);
          },
          [&] {
            for (size_t i = 0; i < times; ++i) ctph(x->data(), x->size());
          },
          &a, &b);
      const double mb = static_cast<double>(times * size) / 1e6;
      std::printf("digest of %zu bytes, %s: libfuzzy %.0f MB/s, neardup %.0f MB/s: %.2f x\n", size,
                  x == &s ? "text" : "random", mb / a, mb / b, a / b);
    }
  }
  {
    std::vector<std::string> texts;
    if (argc > 3 + 100)
      texts.assign(digests.end() - (argc - 3), digests.end());
    else
      texts = digests;
    std::shuffle(texts.begin(), texts.end(), random);
    if (texts.size() > 5000) texts.resize(5000);
    std::vector<CtphDigest> read;
    for (const std::string& t : texts) read.push_back(ctph_from_text(t));
    const size_t n = texts.size();
    long sum_a = 0, sum_b = 0;
    size_t scored = 0;
    double a, b;
    race(
        [&] {
          sum_a = 0, scored = 0;
          for (size_t i = 0; i < n; i += 20)
            for (size_t j = i + 1; j < n; ++j, ++scored) sum_a += fuzzy_compare(texts[i].c_str(), texts[j].c_str());
        },
        [&] {
          sum_b = 0;
          for (size_t i = 0; i < n; i += 20)
            for (size_t j = i + 1; j < n; ++j) sum_b += ctph_score(digest_view(read[i]), digest_view(read[j]));
        },
        &a, &b);
    report("sum of scores of " + std::to_string(n) + " digests, every 20th against all", scored, sum_a != sum_b);
    const double pairs = static_cast<double>(scored) / 1e9;
    std::printf("score: libfuzzy %.1f ns, neardup %.1f ns a pair: %.1f x\n", a / pairs, b / pairs, a / b);
  }
  return g_failed != 0;
}

#else
#include <cstdio>
int main() { std::puts("skip - ctph digests against libfuzzy: no fuzzy.h (Debian: libfuzzy-dev)"); }
#endif
