// Clusters of signatures: first-come representatives (anchor) and connected components.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/pairs/minhash/minhash_pairs.h"

namespace neardup {

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
  virtual void add_alone() = 0;
  virtual void run() = 0;

  // After run(), of size rows, owned by the clusterer. representative()[i]: row number of the row that represents row i
  // (i itself when it is kept). values()[i]: how near the two are, as in RowPair; of no meaning where it is i itself.
  virtual const std::vector<uint32_t>& representative() const noexcept = 0;
  virtual const std::vector<uint32_t>& values() const noexcept = 0;
};

// MinHash signatures that agree in at least `need` components. Values are equal components; for `connected` they may be
// below need.
class MinhashClusterer final : public Clusterer {
 public:
  MinhashClusterer(Linkage linkage, uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options);
  ~MinhashClusterer() override;

  // Adds a row as MinhashPairs::add() does.
  void add(const void* components);
  void add_value(const AnyValue& value) override { add(value.signature.components); }
  void add_alone() override;
  void run() override;
  const std::vector<uint32_t>& representative() const noexcept override;
  const std::vector<uint32_t>& values() const noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Clusters the pairs of an engine, which costs as much as they are many.
class PairClusterer final : public Clusterer {
 public:
  // The search is made with Identical::marked.
  PairClusterer(Linkage linkage, std::unique_ptr<PairSearch> search);

  void add_value(const AnyValue& value) override;
  void add_alone() override;
  void run() override;
  const std::vector<uint32_t>& representative() const noexcept override { return representative_; }
  const std::vector<uint32_t>& values() const noexcept override { return values_; }

 private:
  void run_anchor();
  void run_connected();

  Linkage linkage_;
  std::unique_ptr<PairSearch> search_;
  std::vector<uint32_t> row_of_;  // of the rows that are searched
  uint32_t total_ = 0;
  std::vector<uint32_t> representative_;
  std::vector<uint32_t> values_;
};

}  // namespace neardup
