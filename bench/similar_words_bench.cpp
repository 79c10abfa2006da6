// Similar words of a generated matrix: Zipf-like columns, a given number of features a word. One line a size: time,
// what was compared, beside the seconds of the 2015 study on its CPU and its GPU. Usage: similar_words_bench
// [words[:features per word] ...] [--threads N] [--memory MB] [--kernels NAME] [--k N]
//        [--by-position]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/kernels/kernels.h"
#include "core/word_model/similar_words.h"
#include "core/word_model/word_row.h"

namespace {

using namespace neardup;

struct Matrix {
  std::vector<uint64_t> begin{0};
  std::vector<uint32_t> features;
  std::vector<uint16_t> values;
  std::vector<uint32_t> weights;
  std::vector<uint32_t> tie;
  uint32_t most = 0;

  WordRow row(uint32_t i) const {
    return {features.data() + begin[i], values.data() + begin[i], static_cast<size_t>(begin[i + 1] - begin[i])};
  }
};

// Column f is held by a share of min(0.9, c / (f + 10)^0.7) of the words. With positions six columns share a context
// word, each with a part of its words.
Matrix make(uint32_t words, double per_word, bool by_position) {
  Matrix m;
  const uint32_t columns = by_position ? words * 6 : words;
  const double contexts = by_position ? per_word / 2 : per_word;  // of 6 positions, 2 are taken on average
  std::vector<double> share(columns);
  double low = 0;
  double high = 1e9;
  const auto feature_share = [](double c, uint32_t f) { return std::min(0.9, c / std::pow(f + 10, 0.7)); };
  for (int step = 0; step < 100; ++step) {
    const double c = (low + high) / 2;
    double sum = 0;
    for (uint32_t f = 0; f < words; ++f) sum += feature_share(c, f);
    (sum < contexts ? low : high) = c;
  }
  for (uint32_t f = 0; f < columns; ++f)
    share[f] = by_position ? feature_share(high, f / 6) / 3 : feature_share(high, f);
  m.most = columns;
  std::mt19937_64 random(1);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (uint32_t i = 0; i < words; ++i) {
    uint64_t weight = 0;
    for (uint32_t f = 0; f < columns; ++f) {
      // Shares fall slowly: skip by this one, and keep what the next one's share allows.
      const double q = share[f];
      const double skip = std::floor(std::log1p(-uniform()) / std::log1p(-q));
      if (skip >= columns - f) break;
      f += static_cast<uint32_t>(skip);
      if (uniform() * q >= share[f]) continue;
      m.features.push_back(f);
      m.values.push_back(static_cast<uint16_t>(1 + random() % 8000));
      weight += m.values.back();
    }
    m.begin.push_back(m.features.size());
    m.weights.push_back(static_cast<uint32_t>(weight));
    m.tie.push_back(i);
  }
  return m;
}

double study_seconds(uint32_t words, bool gpu) {
  static const struct {
    uint32_t words;
    double cpu, gpu;
  } kStudy[] = {
      {5000, 80.4, 3.1}, {10000, 649.4, 15.8}, {20000, 3327.9, 69.0}, {50000, 10166.7, 200.7}, {100000, 16731, 322.6}};
  for (const auto& s : kStudy)
    if (s.words == words) return gpu ? s.gpu : s.cpu;
  return 0;
}

void run(uint32_t words, double per_word, bool by_position, const SimilarOptions& options) {
  const Matrix m = make(words, per_word, by_position);
  const auto start = std::chrono::steady_clock::now();
  SimilarWords engine(words, m.weights.data(), m.tie.data(), m.most, options);
  for (uint32_t first = 0; first < words;) {
    engine.begin_block(first);
    uint32_t end = first;
    while (end < words && engine.load(m.row(end))) ++end;
    for (uint32_t i = 0; i < end; ++i) engine.probe(m.row(i));
    engine.end_block();
    first = end;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const SimilarWords::Stats& s = engine.stats();
  std::vector<SimilarWord> best(options.k);
  double top = 0;
  for (uint32_t i = 0; i < words; ++i) top += engine.best(i, best.data()) > 0 ? best[0].similarity : 0;
  std::printf(
      "%7u words %8.1f features each%s: %8.2f s, %u blocks, %llu dense, %.3g additions, %zu MB (mean best %.4f)", words,
      static_cast<double>(m.features.size()) / words, by_position ? " by position" : "", seconds, s.blocks,
      static_cast<unsigned long long>(s.dense), static_cast<double>(s.additions), s.peak_bytes >> 20, top / words);
  if (study_seconds(words, false) > 0)
    std::printf("; 2015 study: CPU %.1f s (%.0f x), GPU %.1f s (%.1f x)", study_seconds(words, false),
                study_seconds(words, false) / seconds, study_seconds(words, true),
                study_seconds(words, true) / seconds);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  SimilarOptions options;
  options.threads = 2;
  bool by_position = false;
  std::vector<std::string> sizes;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = [&] {
      if (++i == argc) std::exit((std::fprintf(stderr, "%s needs a value\n", a.c_str()), 2));
      return argv[i];
    };
    if (a == "--threads") {
      options.threads = static_cast<unsigned>(std::atoi(value()));
    } else if (a == "--memory") {
      options.memory_limit = static_cast<size_t>(std::atof(value()) * 1e6);
    } else if (a == "--k") {
      options.k = static_cast<uint32_t>(std::atoi(value()));
    } else if (a == "--by-position") {
      by_position = true;
    } else if (a == "--kernels") {
      if (!force_kernels(value())) return std::fprintf(stderr, "this machine has no kernels of that name\n"), 2;
    } else {
      sizes.push_back(a);
    }
  }
  if (sizes.empty()) sizes = {"5000", "10000", "20000"};
  for (const std::string& size : sizes) {
    const size_t colon = size.find(':');
    const auto words = static_cast<uint32_t>(std::atoi(size.c_str()));
    run(words, colon == std::string::npos ? std::min(6000.0, 0.6 * words) : std::atof(size.c_str() + colon + 1),
        by_position, options);
  }
  return 0;
}
