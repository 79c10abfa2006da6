// The queue of a job: a table of the ids of rows that have changed, which the trigger of its source writes and a
// refresh reads. Writers only append: nothing is unique but the key that a sequence gives, so that nobody waits. An
// entry without an id says that the next refresh has to compare all rows.
#pragma once

#include "pg/jobs/job_source.h"

namespace neardup {

// Makes it, empty, beside the table of the job; it belongs to the job. SPI must be connected.
void create_queue(Job* job, const JobSource& source);

// A queue that a statement writes. What is remembered of it stays as it is: the statement locks the table.
struct QueueWriter {
  Oid table;
  Oid index;
  Oid sequence;
  Oid id_type;
  struct IndexInfo* info;
};

// Locks the queue of a job for writing. An error for a table of another shape than create_queue() made: an expression,
// a check or a trigger on it would run with the rights of who writes the source.
QueueWriter open_queue(Oid table, const char* job);

// Adds an entry, with the rights of nobody: what is on a table of this shape runs no code. open_queue() has locked it.
void append_entry(const QueueWriter& queue, Datum id, bool is_null);

}  // namespace neardup
