// All pairs of MinHash signatures that agree in at least `need` components: exact, within a memory limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/stop.h"
#include "core/temp_file.h"

namespace neardup {

// What an engine may use. files and stop must outlive it; files may be null: then memory is not bounded.
struct EngineOptions {
  size_t memory_limit = SIZE_MAX;  // bytes for everything proportional to rows or pairs
  TempFileFactory* files = nullptr;
  StopCheck* stop = nullptr;
};

struct MatchPair {
  uint32_t a;        // smaller row (or rank) number; of set A when there are two sets
  uint32_t b;        // greater row (or rank) number; of set B when there are two sets
  uint32_t matches;  // equal components, need .. num_perm
};

class PairEngine {
 public:
  // num_perm 16..4096; bits 8, 16 or 32 (width of a stored component); need 1..num_perm, see min_matches().
  PairEngine(uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options);
  ~PairEngine();
  PairEngine(const PairEngine&) = delete;
  PairEngine& operator=(const PairEngine&) = delete;

  // Appends the next row: num_perm * bits / 8 bytes, native byte order, copied. Rows of empty documents
  // are not added (they are similar to nothing). At most 2^31 rows, else Error{too_large}.
  void add(const void* components);

  // Rows added from now on belong to set B and are numbered from 0 again; only pairs (row of A, row of B) are sought.
  void start_set_b();

  // Finds the pairs. rank_a / rank_b (may be null: identity) rename rows before the result is ordered:
  // with one set a pair is reported as (min, max) of its two ranks.
  void run(const uint32_t* rank_a = nullptr, const uint32_t* rank_b = nullptr);

  // After run(): the next at most `max` pairs in ascending (a, b); 0 at the end. Each pair once.
  size_t next(MatchPair* out, size_t max);

  // Instead of run(): calls `sink` for a set of pairs, in no particular order, whose connected components are
  // those of all pairs (rows with equal signatures are reported as a star; a pair is left out when
  // `joined(a, b)` says that both are connected already).
  void run_components(const std::function<bool(uint32_t, uint32_t)>& joined,
                      const std::function<void(uint32_t, uint32_t)>& sink);

  // With one set, also after run_components(): matches[i] = equal components of row i and row of[i] (num_perm where
  // of[i] == i). Rows that do not fit in memory are read once per block of rows `of`.
  void count_matches(const uint32_t* of, uint32_t* matches);

  // For reports and tests.
  struct Stats {
    uint64_t rows = 0, distinct = 0, looked = 0, compared = 0, found = 0, spilled_bytes = 0;
    size_t peak_bytes = 0;  // own estimate of the memory held at once
    bool brute_force = false;
  };
  const Stats& stats() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace neardup
