// The stages of a refresh, a class each. A stage runs in one transaction, works on a step that was read in it, and is
// made anew for the next. One that has a pointer to the step changes it.
#pragma once

#include "pg/jobs/refresh/refresh_step.h"
#include "pg/sql/run_statement.h"

namespace neardup {

// Makes the tables of the job fit the source's columns and the profile, then lists the rows to be signed: their number.
class ListStage {
 public:
  explicit ListStage(RefreshStep* step) : step_(step) {}
  int64 run();

 private:
  bool follow_source();
  void forget_signatures();
  int64 list() const;
  bool has_outgrown_passages(int64 listed) const;
  void demand_ids() const;
  bool is_source_unchanged() const;

  RefreshStep* step_;
};

// Counts the passages of all documents, for the next stages to cut. In one transaction: progress as all_clusters().
class CountStage {
 public:
  explicit CountStage(RefreshStep* step) : step_(step) {}
  void run();

 private:
  void make_table();

  RefreshStep* step_;
};

// Signs a batch of the listed rows, and marks those that have gone. Rows keep their signature where the content is the
// same.
class SignStage {
 public:
  explicit SignStage(const RefreshStep& step) : step_(step) {}
  void run(int64 after, int64 upto);

 private:
  bool sign_as_new(const SqlValue& first, const SqlValue& last, const SqlValue& refresh) const;
  void sign(int64 after, int64 upto) const;
  void refuse_null_elements(const SqlValue& first, const SqlValue& last) const;

  const RefreshStep& step_;
};

// Makes the index of the signatures where there is none. Whether there is anything to cluster.
class IndexStage {
 public:
  explicit IndexStage(RefreshStep* step) : step_(step) {}
  bool run();

 private:
  double search_threshold() const;
  void create_index() const;

  RefreshStep* step_;
};

// Lists the rows whose cluster may have changed: {touched}. False, and no list to use, where they are so many that to
// cluster all rows is quicker.
//
// Connected: rows of two clusters are not similar. So what changes are the clusters of rows that have changed or gone,
// and those that the changed rows are near to now. Anchor: only representatives draw others to them, and only later
// ones. A row is affected when it has changed, when its representative has gone, has changed or is affected itself, or
// when an earlier near row is affected that may be a representative now. It is none for sure where an earlier
// representative that is not affected is near.
//
// The condition of the index may hold of more pairs than are similar (within, at and verify are left to the
// clustering): then the list is longer, nothing else.
class FindStage {
 public:
  explicit FindStage(const RefreshStep& step) : step_(step) {}
  bool run();

 private:
  bool may_search();
  bool spread();
  bool search_costs_too_much(int64 searches) const;
  bool add_connected() const;
  void add_representatives() const;
  SqlValue clustered() const { return value(step_.row().clustered); }

  const RefreshStep& step_;
  int64 rows_ = 0;
  int64 max_touched_ = 0;
};

// Clusters the touched rows, or all: {fresh}. The number of rows that it looked at.
class ClusterStage {
 public:
  ClusterStage(const RefreshStep& step, bool part) : step_(step), part_(part) {}
  uint64 run();

 private:
  const RefreshStep& step_;
  bool part_;
};

// Gives clusters their numbers and writes the result, the changes and the job's state.
class PublishStage {
 public:
  PublishStage(const RefreshStep& step, bool part) : step_(step), part_(part) {}
  void run(uint64 clustered_rows);

 private:
  void number_clusters() const;
  void write() const;

  const RefreshStep& step_;
  bool part_;
};

// Types of the source's columns may have changed since the tables of the job were made: theirs follow. Whether any did.
bool follow_source_types(RefreshStep* step);

}  // namespace neardup
