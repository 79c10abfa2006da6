// The links of a stream of near pairs: clusters by first-come representatives or components, and the pairs that alone
// hold a component together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/union_find.h"
#include "core/pairs/pair_search.h"

namespace neardup {

// For each row the row that stands for it (itself when it is kept), and the value of the pair of both.
struct LinkedRows {
  explicit LinkedRows(uint32_t rows);
  std::vector<uint32_t> representative;
  std::vector<uint32_t> value;  // kNotNear: the two are no pair of the stream, or one row
};

// Anchor linkage: each row joins the earliest representative that it is near, else it is one.
class AnchorLinks {
 public:
  explicit AnchorLinks(uint32_t rows) : rows_(rows) {}

  // Pairs in ascending (a, b). Equal rows marked with kEqualRows: the first of them decides for all. True when b joins
  // a's cluster by it. A directed pair whose first row is the later one says nothing: no row joins a later one.
  bool add(const RowPair& pair);
  // True if add() would still make something of the pair, given after all that come before it so far: once false, for
  // good.
  bool wants(const RowPair& pair) const noexcept;
  // A search outside the stream has found that b, after row a, is near it, and a is a representative. b joins it unless
  // it has joined an earlier one. It may be called once the pairs of all rows before b were added.
  void join(uint32_t b, uint32_t a, uint32_t value) noexcept;
  const LinkedRows& rows() const noexcept { return rows_; }

 private:
  LinkedRows rows_;
};

// Connected components; the first row stands for all.
class ComponentLinks {
 public:
  explicit ComponentLinks(uint32_t rows) : sets_(rows), rows_(rows) {}

  // Pairs in ascending (a, b), none marked. True when b keeps the pair's value until finish().
  bool add(const RowPair& pair);
  bool wants(const RowPair& pair) noexcept;
  const LinkedRows& finish();

 private:
  UnionFind sets_;
  LinkedRows rows_;  // while pairs come: the least row that each is near
};

// The bridges of the graph of near pairs: those whose loss would part a component. Keeps a forest of the pairs, and a
// forest of the others, in which every bridge is one still (Nagamochi and Ibaraki, "A linear-time algorithm for finding
// a sparse k-connected spanning subgraph of a k-connected graph", Algorithmica 7, 1992, section 2): at most two pairs a
// row are held, however many there are.
class BridgeFinder {
 public:
  explicit BridgeFinder(uint32_t rows);

  // Pairs in any order, once each. Marked with kEqualRows, (a, b): b has the signature of a; of such rows a alone is in
  // pairs with further rows. False when the pair is no bridge.
  bool add(const RowPair& pair);

  // The pair is not marked.
  bool wants(const RowPair& pair) noexcept;

  // The bridges after the last pair, in ascending (a, b) (R. Tarjan, "A note on finding the bridges of a graph",
  // Information Processing Letters 2, 1974). Throws Error{cancelled} when stop (may be null) says so.
  std::vector<RowPair> finish(StopCheck* stop);

 private:
  uint32_t rows_;
  UnionFind first_;
  UnionFind second_;
  std::vector<RowPair> pairs_;    // of both forests
  std::vector<uint32_t> equals_;  // per row: how many others have its signature and are near it
  std::vector<RowPair> twins_;    // the first of them
};

}  // namespace neardup
