// The triggers by which a job follows its source: one on the source queues the rows that change, one on the result
// notes that somebody has changed it by hand. A trigger is the job's because pg_depend says so: it goes with the table
// of the job. A dump has no such entry; the next refresh records it again, and compares all rows.
#pragma once

#include "pg/jobs/job_queue.h"

namespace neardup {

// The function of these triggers, in neardup_internal.
inline constexpr const char* kFollowFunction = "neardup_follow";

// An error for a source whose triggers would not see all that changes in it, or a job that may look at other rows
// without a change of any. SPI need not be connected.
void check_followable(const JobRow& row);

// Makes queue and triggers, and makes the next refresh compare all rows. An error without the privilege TRIGGER on the
// source. Writers of the source are waited for, and wait until the transaction ends.
void begin_following(Job* job, const JobSource& source);

// Drops them. Whoever reads or writes the source is waited for.
void end_following(Job* job);

// The columns that the job reads may be others: after it nobody writes the source who goes by the old ones.
void follow_other_columns(const Job& job);

// Locks the source of a job that has triggers on it, so that they can be dropped. First of all: who writes the source
// reads the table of the job.
void lock_followed_source(Oid job);

// Records triggers that a dump has brought without their entries; then the next refresh compares all rows.
void adopt_triggers(const Job& job);

// Locks a table and all that inherit from it: their OIDs, its own first.
List* lock_with_partitions(Oid table, LOCKMODE mode);

// A trigger as pg_trigger and pg_depend have it.
struct FollowTrigger {
  Oid trigger;   // the one that was created, also for its clone on a partition
  Oid relation;  // that it was created on
  Oid job;       // that it belongs to; InvalidOid: none
  const char* name;
};
FollowTrigger find_origin(Oid trigger);

// The trigger of the job on this table, a partition say; InvalidOid where there is none that always fires.
Oid firing_trigger(const Job& job, Relation table);

// The trigger on the result notes nothing while f() runs.
extern Oid result_being_written;
template <typename F>
void write_unnoted(Oid result, F f) {
  const Oid before = result_being_written;
  result_being_written = result;
  PG_TRY();
  { f(); }
  PG_FINALLY();
  { result_being_written = before; }
  PG_END_TRY();
}

}  // namespace neardup
