// The progress of all_pairs() and related functions, for neardup_progress() in other sessions.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

enum class Phase : uint8_t { reading, sorting, searching, verifying, returning, counting, comparing, measuring };

// function: of the SQL function, as neardup_progress() shows it. Does nothing where another command, COPY say, tells
// its own progress. It ends with end_progress(), or with the transaction.
enum class Searching : uint8_t {
  all_pairs,
  pairs_between,
  all_clusters,
  cluster_bridges,
  blocked_pairs,
  oversized_blocks,
  word_similarities,
  word_model,
  suggest,
  repeated_passages,
  passage_counts,
  frequent_windows
};
void begin_progress(Searching function);
void report_phase(Phase phase);
// The rows that were read so far: reported once in kRowsBetweenReports.
inline constexpr uint64 kRowsBetweenReports = 1024;
void report_rows_read(uint64 rows);
void report_pairs(uint64 pairs);
// StopCheck says what these two mean. They raise no error.
void report_steps(uint64 done, uint64 total) noexcept;
void report_parts(uint64 done, uint64 total) noexcept;
void end_progress();

// The share of its search, 0 to 1, that a session which the caller may watch has done; 0 where it does not search.
double search_share(int pid);

}  // namespace neardup
