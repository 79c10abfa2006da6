// Edit distances of documents in ms: one thread, medians.
// Usage: edit_distance_bench                 a table, every form of the kernels
//        edit_distance_bench --export FILE   the pairs of the table, one a line: name, text a, text b
//        edit_distance_bench --rates FILE    such pairs: name, distance, ms without and with a bound of 1.05 distances;
//                                            for the script beside this
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/exact/edit_distance.h"
#include "core/kernels/kernels.h"

#include "bench/texts.h"

namespace {

using namespace neardup;

struct Pair {
  std::string name, a, b;
};

double median_ms(const std::function<void()>& work) {
  std::vector<double> times;
  double total = 0;
  for (int i = 0; i < 5 || (i < 101 && total < 300); ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    total += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// Numbers from mix64, the same on every machine.
struct Generator {
  uint64_t state;
  uint64_t next() { return mix64(state += 0x9e3779b97f4a7c15u); }
};

std::string letters(Generator& random, size_t n) {
  std::string out(n, ' ');
  for (char& c : out) c = static_cast<char>('a' + random.next() % 26);
  return out;
}

// `rate` of the code points replaced, left out, or preceded by a letter.
std::string edited(Generator& random, const std::string& from, double rate) {
  std::string out;
  for (size_t i = 0; i < from.size();) {
    unsigned length;
    const uint8_t* const p = reinterpret_cast<const uint8_t*>(from.data());
    decode_utf8(p + i, p + from.size(), &length);
    const bool edit = static_cast<double>(random.next() >> 11) * 0x1p-53 < rate;
    const uint64_t how = random.next() % 3;
    if (edit && how != 0) out += static_cast<char>('a' + random.next() % 26);
    if (!edit || how == 2) out.append(from, i, length);
    i += length;
  }
  return out;
}

std::vector<Pair> make_pairs() {
  Generator random{1};
  std::vector<Pair> out;
  const std::string a = letters(random, 10000);
  for (const double rate : {0.005, 0.01, 0.05, 0.15}) {
    char name[40];
    std::snprintf(name, sizeof name, "10 KB, %g %% edits", 100 * rate);
    out.push_back({name, a, edited(random, a, rate)});
  }
  out.push_back({"10 KB, random", a, letters(random, 10000)});
  const auto document = [](bench::Script script, size_t i, size_t bytes) {
    std::string text = bench::Texts(script).document(i, bytes);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  };
  const std::string english = document(bench::Script::ascii, 1, 10000);
  out.push_back({"10 KB English, 5 % edits", english, edited(random, english, 0.05)});
  out.push_back({"10 KB English, unlike", english, document(bench::Script::ascii, 2, 10000)});
  const std::string chinese = document(bench::Script::chinese, 1, 30000);
  out.push_back({"10,000 Chinese, 5 % edits", chinese, edited(random, chinese, 0.05)});
  out.push_back({"10,000 Chinese, unlike", chinese, document(bench::Script::chinese, 2, 30000)});
  const std::string small = letters(random, 1000);
  out.push_back({"1 KB, 5 % edits", small, edited(random, small, 0.05)});
  out.push_back({"1 KB, random", small, letters(random, 1000)});
  const std::string tiny = letters(random, 64);
  out.push_back({"64 B, 5 % edits", tiny, edited(random, tiny, 0.05)});
  out.push_back({"64 B, random", tiny, letters(random, 64)});
  const std::string large = letters(random, 1'000'000);
  out.push_back({"1 MB, 0.1 % edits", large, edited(random, large, 0.001)});
  out.push_back({"1 MB, 1 % edits", large, edited(random, large, 0.01)});
  return out;
}

uint64_t distance(const Pair& pair, uint64_t most) {
  return edit_distance(Unit::character, reinterpret_cast<const uint8_t*>(pair.a.data()), pair.a.size(),
                       reinterpret_cast<const uint8_t*>(pair.b.data()), pair.b.size(), most)
      .value_or(UINT64_MAX);
}

int table() {
  std::printf("edit distance, ms, one thread; bound: 1.05 distances\n");
  std::printf("%-28s %-8s %9s %10s %10s\n", "texts", "kernels", "distance", "no bound", "bound");
  for (const Pair& pair : make_pairs()) {
    for (const char* form : {"scalar", "avx512"}) {
      if (!force_kernels(form)) continue;
      const uint64_t d = distance(pair, UINT64_MAX);
      std::printf("%-28s %-8s %9llu %10.4f %10.4f\n", pair.name.c_str(), form, static_cast<unsigned long long>(d),
                  median_ms([&] { distance(pair, UINT64_MAX); }), median_ms([&] { distance(pair, d + d / 20); }));
      std::fflush(stdout);
    }
  }
  force_kernels("auto");
  return 0;
}

int export_pairs(const char* path) {
  std::ofstream out(path);
  for (const Pair& pair : make_pairs()) out << pair.name << '\t' << pair.a << '\t' << pair.b << '\n';
  return out ? 0 : 1;
}

int rates(const char* path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (second == line.npos) return 1;
    const Pair pair{line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)};
    for (const char* form : {"scalar", "avx512"}) {
      if (!force_kernels(form)) continue;
      const uint64_t d = distance(pair, UINT64_MAX);
      std::printf("%s\t%s\t%llu\t%.5f\t%.5f\n", pair.name.c_str(), form, static_cast<unsigned long long>(d),
                  median_ms([&] { distance(pair, UINT64_MAX); }), median_ms([&] { distance(pair, d + d / 20); }));
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return table();
  if (argc == 3 && std::strcmp(argv[1], "--export") == 0) return export_pairs(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "--rates") == 0) return rates(argv[2]);
  std::fprintf(stderr, "usage: edit_distance_bench [--export FILE | --rates FILE]\n");
  return 2;
}
