// The source of a job, a table or view of the user's: what its columns are now, and the query that reads its rows.
#pragma once

#include "core/kinds/measure.h"
#include "pg/jobs/job.h"

namespace neardup {

// The type of what is stored for a row, a signature or a set of integers, and its name in SQL.
Oid signature_type(Kind kind, Oid function);
Sql signature_type_sql(Kind kind, const Identifier& neardup);

// The measures of sets that a job may have, by the names of its argument: those from 0 to 1.
inline constexpr NamedValue<Measure> kJobMeasures[] = {{"jaccard", Measure::set_jaccard},
                                                       {"containment", Measure::set_in_query},
                                                       {"dice", Measure::set_dice},
                                                       {"cosine", Measure::set_cosine}};

struct JobSource {
  Kind kind;                 // of the signatures
  Oid id_type;               // of a domain the type below it
  EqualityOperator same_id;  // of ids
  bool joins_fully;          // whether PostgreSQL makes a FULL JOIN by it
  // True if place and version of a row say that it has changed: in tables that lie here, whole. Rows of a foreign
  // partition have no version, and their place is one on another server, where a later row may lie.
  bool stored;
  // A query with the columns id; origin, place and version, NULL where it is not stored; key, by which a row of a
  // cluster is kept; within_1 .., at; body: the document, or the signature itself. A row that this very transaction
  // wrote has no version: it may write it again, and VACUUM FULL then put it where it was.
  Sql rows;
  // The same rows with the hash of their body, content, in place of it. A condition that begins with AND may follow.
  Sql states;
  // The columns of `rows` that a job stores beside the signature: key, within_1 .., at.
  int n_kept;
  Identifier* kept;
};

// This raises an error if the source does not exist any more.
void demand_source(const JobRow& row);

// An error where the source, or a column that the job names, does not exist, or is of a type that a job cannot use.
// The profile is that of read_profile().
JobSource read_source(const JobRow& row, const Profile& profile, Oid function);

// This puts the version of the profile and the type of the documents, as they are now, into the row. It returns whether
// they were others.
bool follow_profile(JobRow* row, const Profile& profile);

// Type of a column that a job names; of a domain that below it. what: the argument that names it, for the error.
Oid source_column_type(Oid source, const char* column, const char* what);

// Its columns, "a, b, c": for messages.
const char* source_columns(Oid source);

// SQL of a column's value, of a domain as the type below it: tables of the job are not to evaluate what the domain's
// owner has put into it.
Sql source_value(Oid source, const char* column, const char* what);

Kind signature_kind(const JobRow& row, const Profile& profile, Oid function);

// SQL of the hash of `value`, a column `body` of rows: equal contents have equal hashes.
Sql content_sql(const JobRow& row, Kind kind, Oid function, Pattern value);

// Condition that rows a and b of `kept` columns differ in their bytes: values that are equal may be written otherwise.
Sql kept_differ(const JobSource& source, const char* a, const char* b);

// {alias}.column of all kept columns, with a comma before each.
Sql kept_columns(const JobSource& source, const char* alias);

}  // namespace neardup
