// Small sets of signatures that are hard in one way each, and a stop check that counts.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/base/stop.h"

#include "test/reference/pairs_reference.h"

namespace neardup::reference {

// Stops at the n-th question.
class StopAfter final : public StopCheck {
 public:
  explicit StopAfter(int64_t calls) : left_(calls) {}
  bool should_stop() noexcept override {
    ++asked;
    return left_-- <= 0;
  }
  int64_t asked = 0;

 private:
  int64_t left_;
};

class SetMaker {
 public:
  SetMaker(uint32_t num_perm, uint32_t bits, uint32_t seed) : random_(seed), rows_{num_perm, bits, {}} {}

  // `families` unrelated rows; each is followed by `versions` rows that change about `changes` components of it.
  void families(uint32_t families, uint32_t versions, uint32_t changes) {
    for (uint32_t f = 0; f < families; ++f) {
      const std::vector<uint32_t> base = fresh();
      push(base);
      for (uint32_t v = 0; v < versions; ++v) push(changed(base, random_() % (changes + 1)));
    }
  }

  // Each row changes some components of the row before.
  void chain(uint32_t n, uint32_t changes) {
    std::vector<uint32_t> row = fresh();
    for (uint32_t i = 0; i < n; ++i) {
      push(row);
      row = changed(row, changes);
    }
  }

  void equal(uint32_t n) {
    const std::vector<uint32_t> row = fresh();
    for (uint32_t i = 0; i < n; ++i) push(row);
  }

  // Unrelated but for the first `shared` components: hot buckets without pairs.
  void boilerplate(uint32_t n, uint32_t shared) {
    const std::vector<uint32_t> header = fresh();
    for (uint32_t i = 0; i < n; ++i) {
      std::vector<uint32_t> row = fresh();
      std::copy(header.begin(), header.begin() + shared, row.begin());
      push(row);
    }
  }

  // Components of two values only: everything is similar to everything, at all distances.
  void coarse(uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) {
      std::vector<uint32_t> row(rows_.num_perm);
      const uint32_t odds = 2 + random_() % 30;
      for (uint32_t& c : row) c = random_() % odds == 0;
      push(row);
    }
  }

  void shuffle() {
    const size_t size = rows_.row_bytes();
    for (uint32_t i = rows_.size(); i > 1; --i) {
      const uint32_t j = random_() % i;
      std::swap_ranges(rows_.data.begin() + (i - 1) * size, rows_.data.begin() + i * size,
                       rows_.data.begin() + j * size);
    }
  }

  const Rows& rows() const { return rows_; }

 private:
  std::vector<uint32_t> fresh() {
    std::vector<uint32_t> row(rows_.num_perm);
    for (uint32_t& c : row) c = random_();
    return row;
  }
  std::vector<uint32_t> changed(std::vector<uint32_t> row, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) row[random_() % row.size()] = random_();
    return row;
  }
  void push(const std::vector<uint32_t>& row) {
    for (const uint32_t c : row) {
      unsigned char bytes[4];
      if (rows_.bits == 8) bytes[0] = static_cast<unsigned char>(c);
      const uint16_t half = static_cast<uint16_t>(c);
      if (rows_.bits == 16) std::memcpy(bytes, &half, 2);
      if (rows_.bits == 32) std::memcpy(bytes, &c, 4);
      rows_.data.insert(rows_.data.end(), bytes, bytes + rows_.bits / 8);
    }
  }

  std::mt19937 random_;
  Rows rows_;
};

// Sets of a few hundred rows by name: "empty", "one", "two", "random", "equal", "chain", "giant", "boilerplate",
// "coarse", "mixed".
inline std::vector<std::string> set_names() {
  return {"empty", "one", "two", "random", "equal", "chain", "giant", "boilerplate", "coarse", "mixed"};
}

inline Rows make_set(const std::string& name, uint32_t num_perm, uint32_t bits, uint32_t n, uint32_t seed = 1) {
  SetMaker m(num_perm, bits, seed);
  const uint32_t few = num_perm / 8;
  if (name == "one") m.equal(1);
  if (name == "two") m.chain(2, few);
  if (name == "random") m.families(n, 0, 0);
  if (name == "equal") m.equal(n);
  if (name == "chain") m.chain(n, few);
  if (name == "giant") m.families(1, n - 1, few);
  if (name == "boilerplate") m.boilerplate(n, num_perm / 2);
  if (name == "coarse") m.coarse(n);
  if (name == "mixed") {
    m.families(n / 20, 5, num_perm / 3);
    m.equal(n / 10);
    m.equal(3);
    m.chain(n / 5, few);
    m.boilerplate(n / 5, num_perm / 2);
    m.equal(n / 10);
    m.shuffle();
  }
  return m.rows();
}

// Thresholds worth trying for a width: extremes, about the usual ones, and where bands stop being usable.
inline std::vector<uint32_t> needs_for(uint32_t num_perm) {
  std::vector<uint32_t> needs = {1, num_perm / 2, (num_perm * 4 + 4) / 5, num_perm - 1, num_perm};
  if (num_perm > 64) needs.insert(needs.end(), {num_perm - 63, num_perm - 64, num_perm - 31});
  return needs;
}

}  // namespace neardup::reference
