// Clusters of signatures: first-come representatives (anchor) and connected components.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/pairs/banding.h"
#include "core/pairs/minhash/minhash_pairs.h"
#include "core/work/row_store.h"
#include "core/work/workspace.h"

namespace neardup {

class Representatives;

enum class Linkage { anchor, connected };

// Rows are given in the caller's order of preference.
// anchor: each row joins the earliest representative that it is near, else it becomes a representative; so every row is
//   verified near the row that stands for it, and nothing chains. Of directed pairs (a, b), b is near a.
// connected: connected components of the near pairs; the first row represents.
class Clusterer {
 public:
  virtual ~Clusterer() = default;

  // The next row, of a kind that the clusterer takes.
  virtual void add_value(const AnyValue& value) = 0;
  // A row that is near nothing: a cluster of its own.
  void add_alone();
  virtual void run() = 0;

  // After run(), of size rows, owned by the clusterer. representative()[i]: row number of the row that represents row i
  // (i itself when it is kept). values()[i]: how near the two are, as in RowPair; of no meaning where it is i itself.
  const std::vector<uint32_t>& representative() const noexcept { return representative_; }
  const std::vector<uint32_t>& values() const noexcept { return values_; }

 protected:
  explicit Clusterer(Linkage linkage) : linkage_(linkage) {}

  // Notes that the row that is searched next is one more of the caller's.
  void note_row() {
    if (searched_ != total_) row_of_.push_back(total_);
    ++searched_;
    ++total_;
  }
  uint32_t searched() const noexcept { return searched_; }
  uint32_t caller_row(uint32_t i) const noexcept { return row_of_.empty() ? i : row_of_[i]; }
  // Makes each row represent itself, with this value.
  void start(uint32_t own_value);
  // Searched row i joins searched row r, or is a representative itself.
  void assign(uint32_t i, uint32_t r, uint32_t value) {
    representative_[caller_row(i)] = caller_row(r);
    values_[caller_row(i)] = value;
  }
  void join_components(PairSearch& search);

  const Linkage linkage_;
  uint32_t searched_ = 0;
  std::vector<uint32_t> row_of_;  // of the rows that are searched; empty while those are all rows
  uint32_t total_ = 0;
  std::vector<uint32_t> representative_;
  std::vector<uint32_t> values_;
};

// MinHash signatures that agree in at least `need` components. Values are equal components; for `connected` they may be
// below need.
class MinhashClusterer final : public Clusterer {
 public:
  MinhashClusterer(Linkage linkage, uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options);

  // Adds a row as MinhashPairs::add() does.
  void add(const void* components);
  void add_value(const AnyValue& value) override { add(value.signature.components); }
  void run() override;

 private:
  struct Waiting;

  bool waits(uint32_t i) const noexcept;
  void run_anchor();
  void pass(Representatives& kept, Representatives& own, uint32_t block_rows);
  void look_up(const Representatives& kept, Waiting* block, uint32_t* keys, uint32_t n);
  void compare_with(const Representatives& kept, Waiting* block, uint32_t n);

  const uint32_t num_perm_;
  const uint32_t need_;
  const unsigned threads_;
  Banding banding_;
  RowCompare compare_;
  Workspace ws_;
  RowStore rows_;
  std::unique_ptr<MinhashPairs> pairs_;
};

// Clusters the pairs of an engine, which costs as much as they are many.
class PairClusterer final : public Clusterer {
 public:
  // The search is made with Identical::marked.
  PairClusterer(Linkage linkage, std::unique_ptr<PairSearch> search);

  void add_value(const AnyValue& value) override;
  void run() override;

 private:
  void run_anchor();

  std::unique_ptr<PairSearch> search_;
};

}  // namespace neardup
