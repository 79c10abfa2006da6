// Weighted MinHash: the slow, obvious version (format 1, kind 7), written from docs/format.md; and samplers of the
// literature that it was chosen among. Shared by unit tests, fuzzers and benchmarks; never shipped.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <queue>
#include <utility>
#include <vector>

#include "reference/minhash_reference.h"

namespace neardup::reference {

__extension__ using Units = unsigned __int128;  // a weight as multiples of 2^-60
using WeightedSet = std::vector<std::pair<uint64_t, Units>>;

// -ln((~h | 1) / 2^64) as multiples of 2^-44, at least 1.
inline uint64_t exponential(uint64_t h) {
  uint64_t x = ~h | 1;
  uint64_t out = 0;
  while (x >> 63 == 0) {
    x <<= 1;
    out += 12193974156573u;
  }
  const uint64_t j = (x >> 56) - 128;
  const uint64_t c = (1u << 24) / (129 + j);
  out += static_cast<uint64_t>(std::llround(std::log1p(static_cast<double>(c - 65536) / 65536) * 0x1p44));
  const Units one = Units{1} << 64;
  const Units d = one - static_cast<Units>(x) * c / 65536;
  const Units inner = one / 3 + d / 4;
  const Units tail = one / 2 + d * inner / one;
  const Units e = d + d * (d * tail / one) / one;
  out += static_cast<uint64_t>(e >> 20);
  return out == 0 ? 1 : out;
}

// All kEmpty32 where no weight is above 0. Repeated features are added up first.
inline std::vector<uint32_t> weighted_minhash32(WeightedSet set, uint32_t num_perm, uint64_t seed) {
  std::vector<uint32_t> out(num_perm, kEmpty32);
  std::sort(set.begin(), set.end());
  for (size_t i = set.size(); i-- > 1;) {
    if (set[i].first != set[i - 1].first) continue;
    set[i - 1].second += set[i].second;
    set[i].second = 0;
  }
  uint32_t worst = kEmpty32;
  for (const auto& [x, units] : set) {
    const uint64_t base = mix64(x ^ mix64(seed ^ kSeed0));
    // Whole strata go downwards: the first may fill all components, and shows when to stop in the others.
    // Last the one of which a part counts.
    int part = 0;
    while (part < 128 && units >> part != 0) ++part;
    for (int i = 1; i <= part + 1; ++i) {
      const bool whole = i <= part;
      const int k = whole ? part - i : part;
      const Units start = k == 0 ? 0 : Units{1} << (k - 1);
      if (units <= start) continue;
      const int rate = k == 0 ? 0 : k - 1;
      uint64_t time = 0;
      uint64_t h = mix64(base ^ mix64(0x6c62272e07bb0142u + static_cast<uint64_t>(k)));
      for (;; h = mix64(h + 0x9e3779b97f4a7c15u)) {
        time += exponential(h);
        int exponent = -44;
        uint64_t fraction = time;
        while (fraction >> 63 == 0) {
          fraction <<= 1;
          --exponent;
        }
        exponent += 63 + 60 - rate;
        const uint32_t v =
            static_cast<uint32_t>(exponent + 128) << 24 | (static_cast<uint32_t>(fraction >> 39) & 0xffffffu);
        if (v > worst) break;
        const uint64_t g = mix64(h ^ 0x9216d5d98979fb1bu);
        if (!whole) {
          // Where in the stratum, as a share of its width in multiples of 2^-64.
          const uint64_t at = mix64(g + 0x9e3779b97f4a7c15u);
          const Units rest = units - start;
          const Units share = rate <= 64 ? rest << (64 - rate) : rest >> (rate - 64);
          if (at >= share) continue;
        }
        uint32_t& c = out[((g & 0xffffffffu) * num_perm) >> 32];
        if (v >= c) continue;
        c = v;
        worst = *std::max_element(out.begin(), out.end());
      }
    }
  }
  return out;
}

// ---- samplers of the literature, in doubles and with the library's logarithm ---------------------------------------

using RealSet = std::vector<std::pair<uint64_t, double>>;

class Stream {
 public:
  explicit Stream(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mix64(state_ += 0x9e3779b97f4a7c15u); }
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  double exponential() { return -std::log(uniform()); }

 private:
  uint64_t state_;
};

// S. Ioffe, Improved consistent sampling, weighted minhash and L1 sketching, ICDM 2010: a sample (feature, t) a
// component.
inline std::vector<uint64_t> icws(const RealSet& set, uint32_t num_perm) {
  std::vector<uint64_t> out(num_perm);
  std::vector<double> least(num_perm, HUGE_VAL);
  for (const auto& [x, weight] : set) {
    const double log_weight = std::log(weight);
    for (uint32_t i = 0; i < num_perm; ++i) {
      Stream s(mix64(x) ^ mix64(i + 1));
      const double r = s.exponential() + s.exponential();
      const double c = s.exponential() + s.exponential();
      const double beta = s.uniform();
      const double t = std::floor(log_weight / r + beta);
      const double a = std::log(c) - r * (t - beta) - r;
      if (a >= least[i]) continue;
      least[i] = a;
      out[i] = mix64(x ^ mix64(static_cast<uint64_t>(static_cast<int64_t>(t))));
    }
  }
  return out;
}

// O. Ertl, ProbMinHash, TKDE 2022, algorithm 1: collisions with the probability Jaccard similarity J_p, which is that
// of the weights only where both sets have one total.
inline std::vector<uint64_t> prob_minhash(const RealSet& set, uint32_t num_perm) {
  std::vector<uint64_t> out(num_perm);
  std::vector<double> least(num_perm, HUGE_VAL);
  double worst = HUGE_VAL;
  for (const auto& [x, weight] : set) {
    Stream s(mix64(x));
    for (double h = s.exponential() / weight; h < worst; h += s.exponential() / weight) {
      const size_t i = (s.next() >> 32) * num_perm >> 32;
      if (h >= least[i]) continue;
      out[i] = x;
      const bool was_worst = least[i] == worst;
      least[i] = h;
      if (was_worst) worst = *std::max_element(least.begin(), least.end());
    }
  }
  return out;
}

// O. Ertl, BagMinHash, KDD 2018, algorithm 1, over the single-precision numbers as levels of weights.
inline std::vector<uint64_t> bag_minhash(const RealSet& set, uint32_t num_perm) {
  struct Process {
    double at;     // time of its first event
    uint32_t low;  // levels low .. high
    uint32_t high;
    uint64_t state;
    bool operator<(const Process& o) const { return at > o.at; }
  };
  const auto level = [](uint32_t i) { return static_cast<double>(std::bit_cast<float>(i)); };
  constexpr uint32_t kTop = 0x7f7fffffu;
  std::vector<uint64_t> out(num_perm);
  std::vector<double> least(num_perm, HUGE_VAL);
  double worst = HUGE_VAL;
  for (const auto& [x, weight] : set) {
    const uint32_t w = std::bit_cast<uint32_t>(static_cast<float>(weight));
    std::priority_queue<Process> heap;
    const auto step = [&](Process p) {  // to its next event
      Stream s(p.state);
      p.at += s.exponential() / (level(p.high) - level(p.low));
      p.state = s.next();
      return p;
    };
    Process p = step({0, 0, kTop, mix64(x)});
    for (;;) {
      // Down to the level that holds the event, however much of it counts: other sets must find the same events. The
      // other parts begin after it.
      while (p.high - p.low > 1) {
        const uint32_t middle = p.low + (p.high - p.low) / 2;
        Stream s(p.state ^ mix64(middle));
        const bool lower = s.uniform() * (level(p.high) - level(p.low)) < level(middle) - level(p.low);
        Process left{p.at, p.low, middle, s.next()};
        Process right{p.at, middle, p.high, s.next()};
        if (lower) {
          if (middle < w) {
            right = step(right);
            if (right.at < worst) heap.push(right);
          }
          p = left;
        } else {
          if (middle < w) {
            left = step(left);
            if (left.at < worst) heap.push(left);
            p = right;
          } else {
            p = step(left);  // the event is above the weight
          }
        }
        if (p.at >= worst) break;
      }
      if (p.at < worst && p.high <= w) {
        const size_t i = (mix64(p.state) >> 32) * num_perm >> 32;
        if (p.at < least[i]) {
          const bool was_worst = least[i] == worst;
          out[i] = p.state;
          least[i] = p.at;
          if (was_worst) worst = *std::max_element(least.begin(), least.end());
        }
        p = step(p);
        if (p.at < worst) heap.push(p);
      }
      if (heap.empty() || heap.top().at >= worst) break;
      p = heap.top();
      heap.pop();
    }
  }
  return out;
}

}  // namespace neardup::reference
