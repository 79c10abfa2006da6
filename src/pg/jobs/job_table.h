// The tables of a job: the one of type neardup_job that its name stands for, and those that belong to it. A table
// belongs to a job because pg_depend says so, not because of its name.
#pragma once

#include "pg/base/open_table.h"

namespace neardup {

// passages: only of jobs whose profile cuts. queue: only of jobs that follow their source by a trigger.
enum class JobPart : uint8_t { result, signatures, changes, passages, queue };
inline constexpr int kJobParts = 5;

// The suffix of the job's own table, and those of its parts, behind the name of the job.
inline constexpr const char* kJobSuffix = "_job";
const char* part_suffix(JobPart part);

// Opened for reading, and the first row, which may be null. `function`: the one that is running, beside whose schema
// the type is found. Errors say what is wrong with the job.
struct OpenJob {
  Relation table;
  HeapTuple row;
};
OpenJob open_job(Oid job, Oid function);

// Calls f(const OpenJob&) with the job open, and with what this transaction has changed in its row.
template <typename F>
void with_open_job(Oid job, Oid function, F f) {
  PushActiveSnapshot(GetTransactionSnapshot());
  const OpenJob opened = open_job(job, function);
  f(opened);
  table_close(opened.table, NoLock);
  PopActiveSnapshot();
}

// The table of the job that a name stands for; an error where there is none. Not locked.
Oid job_named(const text* name, Oid function);

// The relation of a table to a job.
enum class Belonging : uint8_t {
  none,      // there is no such table
  stranger,  // it is not the job's
  like,  // nothing records it, but it is of the same owner, has the columns and belongs to no other job: restored from
         // a dump, or made by 0.2.0
  owned,
};
struct PartTable {
  Oid table;
  Belonging belonging;
};
PartTable part_of_job(Relation job, HeapTuple row, JobPart part);

// The table, an error where it is missing or a stranger.
Oid demand_part(const OpenJob& job, JobPart part);

// The same of a part that a job may lack: InvalidOid where it does.
Oid optional_part(const OpenJob& job, JobPart part);

// Records that the table belongs to the job: it cannot go alone any more without CASCADE.
void record_part(Oid job, Oid table);

// The name that a part of a job has when it is made, without its schema.
const char* name_of_part(Relation job, JobPart part);

// The name of a job: that of its table without "_job", with its schema.
const char* job_name(Relation job);

// True if the caller owns the job; also for a superuser, where another superuser owns it. False where there is none.
bool is_own_job(Oid job);

// This raises an error unless is_own_job(). The lock of an open job keeps its owner until the transaction ends.
void demand_owner(const OpenJob& job);

// This records the tables that belong to a job of the caller's, if they are not recorded: after a dump was restored, or
// because 0.2.0 made the job. If `tables` is not null, it gets kJobParts tables of the job, which may be another
// role's; a table that does not exist is InvalidOid.
void adopt_parts(const OpenJob& job, Oid* tables = nullptr);

// A column of the row; *is_null also where the type has no such column yet.
Datum job_value(Relation job, HeapTuple row, const char* column, bool* is_null);

}  // namespace neardup
