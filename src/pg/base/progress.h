// The progress of all_pairs() and related functions, for neardup_progress() in other sessions, and the time of their
// stages.
#pragma once

#include "pg/base/guc.h"
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

// neardup.log_stages: a NOTICE with the time that each stage of the call took.
struct Stages {
  instr_time began;
};

inline void begin_stages(Stages* stages) { INSTR_TIME_SET_CURRENT(stages->began); }

// what: what the stage has done; detail: more of it, or null.
inline void end_stage(Stages* stages, const char* what, const char* detail = nullptr) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  instr_time took = now;
  INSTR_TIME_SUBTRACT(took, stages->began);
  stages->began = now;
  if (guc_log_stages)
    ereport(NOTICE, (errmsg("%s in %.1f ms%s%s", what, INSTR_TIME_GET_MILLISEC(took), detail == nullptr ? "" : ": ",
                            detail == nullptr ? "" : detail)));
}

}  // namespace neardup
