// The table of signatures: what a job knows of each row of its source. SPI must be connected.
#pragma once

#include "pg/jobs/job_source.h"

namespace neardup {

// Makes it, empty, under the name that the job has for it.
Oid create_signatures(const Job& job, const JobSource& source);

// Forgets all signatures, and the passages that were cut out of what they are of; the next are of this kind. The tables
// themselves stay, and what has been granted on them.
void clear_signatures(Job* job, Kind kind);
void empty_passages(const Job& job);

// Indexes by which signatures are searched: a list of OIDs.
List* signature_indexes(const Job& job);
void drop_signature_indexes(const Job& job);

}  // namespace neardup
