// Rows in the order of their distance from a value, without a threshold: exact, as far as anyone asks.
#pragma once

#include <cmath>

#include "pg/lsh/scan/collector.h"

namespace neardup {

// A row and its distance, NaN where that is NULL: such rows come last.
struct NearRow {
  double distance;
  uint64_t tid;

  // As rows are handed out; those of one distance in the table's order.
  bool operator<(const NearRow& other) const {
    if (distance != other.distance && !(std::isnan(distance) && std::isnan(other.distance)))
      return std::isnan(other.distance) || distance < other.distance;
    return tid < other.tid;
  }
};

// First the rows that the index finds, as far as it reaches; then those beyond, of the whole table. What is handed out
// is not kept: where the rows do not fit in memory, a pass keeps the nearest, and the next one goes on behind the last
// that was handed out. Plain data, zeroed by its scan.
class NearestRows {
 public:
  // For the scan's order and conditions as they are now, none of which is on the value. context: of this (re)scan.
  void start(IndexScanDesc scan, Collector* collector, MemoryContext context);

  bool next(NearRow* row);

 private:
  struct Pass;

  bool begin_stage();
  void pass();
  void search_index(Pass* pass);
  void search_table(Pass* pass);

  IndexScanDesc scan_;
  Collector* collector_;
  MemoryContext context_;
  ProbesRequest plan_;
  bool has_order_;   // by a value that is not NULL
  bool asks_index_;  // it may reach farther yet
  uint64_t salt_;
  // A stage hands out the rows within a distance, in as many passes as memory wants.
  double reach_;
  bool in_table_;
  bool ended_;  // the last pass of the stage kept all that there were
  bool handed_out_;
  NearRow last_;   // that was handed out; without one, all rows are behind it
  NearRow* rows_;  // a heap, the nearest first
  size_t n_;
  size_t capacity_;
};

}  // namespace neardup
