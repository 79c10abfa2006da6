// job_status(): the rows of duplicates_status. One pass over pg_class; each job is opened by its OID and read as it
// is stored, so that nothing of its owner's runs; one that is locked, or holds nonsense, costs its own row and nothing
// else.
#include <cmath>

#include "pg/jobs/job_lock.h"
#include "pg/jobs/job_table.h"

#include "pg/base/own_schemas.h"
#include "pg/base/progress.h"
#include "pg/base/result_row.h"
#include "pg/base/text_equals.h"
#include "pg/values/old_sql.h"

extern "C" {
#include "access/table.h"
}

namespace {

using namespace neardup;

enum Column {
  kJob,
  kSource,
  kPhase,
  kDone,
  kTotal,
  kRate,
  kTimeLeft,
  kStarted,
  kFinished,
  kPid,
  kLastError,
  kRows,
  kClusters,
  kDuplicates,
  kRefreshed,
  kTook,
  kChanged,
  kNextStep,
  kLastProgress,  // 0.3.1 has not this column
  kColumns
};
using StatusRow = ResultRow<Column>;

// The bytes of a text that are shown: the owner of a job may have put a gigabyte into it.
constexpr int32 kMaxTextBytes = 10000;

// More than three thousand years are no estimate.
constexpr double kMaxSecondsLeft = 1e11;
constexpr double kLeastSeconds = 0.001;

Datum stored_value(const OpenJob& job, const char* column, bool* is_null) {
  return job_value(job.table, job.row, column, is_null);
}

void copy(const OpenJob& job, StatusRow* out, Column column, const char* name) {
  bool is_null;
  const Datum value = stored_value(job, name, &is_null);
  if (!is_null) out->set(column, value);
}

bool stored_flag(const OpenJob& job, const char* name) {
  bool is_null;
  const Datum value = stored_value(job, name, &is_null);
  return !is_null && DatumGetBool(value);
}

// Its beginning, kMaxTextBytes bytes at the most.
const char* stored_text(const OpenJob& job, const char* name) {
  bool is_null;
  const Datum value = stored_value(job, name, &is_null);
  if (is_null) return nullptr;
  const text* begin = DatumGetTextPSlice(value, 0, kMaxTextBytes);
  const int size = static_cast<int>(VARSIZE_ANY_EXHDR(begin));
  return pnstrdup(VARDATA_ANY(begin), static_cast<Size>(pg_mbcliplen(VARDATA_ANY(begin), size, kMaxTextBytes)));
}

// True if a session refreshes or changes the job.
bool is_locked(const LockData* locks, Oid job) {
  const LOCKTAG wanted = tag_of_job(job);
  for (int i = 0; i < locks->nelements; ++i)
    if (memcmp(&locks->locks[i].locktag, &wanted, sizeof wanted) == 0 && locks->locks[i].holdMask != 0) return true;
  return false;
}

// The phase that a stored one means now.
const char* phase_now(const OpenJob& job, const char* stored, bool running, bool is_dropped) {
  bool is_null;
  const Datum source = stored_value(job, "source", &is_null);
  if (is_dropped || is_null || !SearchSysCacheExists1(RELOID, source)) return "orphan";
  if (running) return stored;
  if (stored_flag(job, "paused")) return "paused";
  return equals_any(stored, {"listing", "counting", "signing", "indexing", "clustering"}) ? "interrupted" : stored;
}

// done of total since phase_started; nothing where these are no numbers to reckon with.
void estimate(const OpenJob& job, StatusRow* out) {
  bool is_null;
  const Datum began = stored_value(job, "phase_started", &is_null);
  if (is_null || out->is_null(kDone) || TIMESTAMP_NOT_FINITE(DatumGetTimestampTz(began))) return;
  const auto done = static_cast<double>(DatumGetInt64(out->value(kDone)));
  const double seconds = static_cast<double>(GetCurrentTimestamp() - DatumGetTimestampTz(began)) / USECS_PER_SEC;
  if (done <= 0) return;
  const double rate = done / Max(seconds, kLeastSeconds);
  out->set(kRate, Float8GetDatum(rate));
  if (out->is_null(kTotal)) return;
  const double left = (static_cast<double>(DatumGetInt64(out->value(kTotal))) - done) / rate;
  if (!(std::fabs(left) < kMaxSecondsLeft)) return;
  auto* interval = static_cast<Interval*>(palloc0(sizeof(Interval)));
  interval->time = static_cast<TimeOffset>(left * USECS_PER_SEC);
  out->set(kTimeLeft, IntervalPGetDatum(interval));
}

// Per cent of the clustering, or of the count of passages, that a session is at.
void estimate_search(const OpenJob& job, StatusRow* out) {
  bool is_null;
  const Datum pid = stored_value(job, "pid", &is_null);
  double share = 0;
  if (!is_null) share = search_share(DatumGetInt32(pid));
  out->set(kDone, Int64GetDatum(static_cast<int64>(std::round(share * 100))));
  out->set(kTotal, Int64GetDatum(100));
}

bool is_of_job(const PartTable& result) {
  return result.belonging == Belonging::owned || result.belonging == Belonging::like;
}

// As regclass writes it: with a schema where the search_path does not find it. Where the result has gone, the name that
// it had, by which drop_duplicates() finds the job. Null where that is the name of another table, which it would
// recommend to drop, and to others than the job's owner: anybody can make a row that looks like such a job.
const char* users_name(const OpenJob& job, const PartTable& result) {
  if (is_of_job(result)) return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(result.table)));
  if (job.table->rd_rel->relowner != GetUserId()) return nullptr;
  const char* base = name_of_part(job.table, JobPart::result);
  if (strcmp(base, RelationGetRelationName(job.table)) == 0) return nullptr;
  if (OidIsValid(get_relname_relid(base, RelationGetNamespace(job.table)))) return nullptr;
  return RelationIsVisible(RelationGetRelid(job.table)) ? quote_identifier(base) : job_name(job.table);
}

// The user's next step with the job; null while a session works at it, and where it has no name.
const char* next_step(const char* phase, const char* name, bool running) {
  if (running || name == nullptr) return nullptr;
  const char* job = quote_literal_cstr(name);
  if (strcmp(phase, "orphan") == 0) return psprintf("SELECT drop_duplicates(%s);", job);
  if (strcmp(phase, "paused") == 0) return psprintf("SELECT pause_duplicates(%s, false);", job);
  return psprintf("CALL refresh_duplicates(%s);", job);
}

// As of the last refresh that came to its end.
void describe_result(const OpenJob& job, StatusRow* out) {
  copy(job, out, kRows, "rows");
  copy(job, out, kClusters, "clusters");
  copy(job, out, kDuplicates, "duplicates");
  copy(job, out, kRefreshed, "refreshed");
  copy(job, out, kTook, "took");
  copy(job, out, kChanged, "changed");
}

// A refresh that has ended has left no pid.
void describe_end(const OpenJob& job, StatusRow* out) {
  bool has_ended;
  stored_value(job, "pid", &has_ended);
  if (has_ended) copy(job, out, kFinished, "finished");
  copy(job, out, kLastProgress, "finished");
}

void describe(const OpenJob& job, const char* stored, const char* name, bool running, bool is_dropped, StatusRow* out) {
  copy(job, out, kSource, "source");
  copy(job, out, kStarted, "started");
  describe_end(job, out);
  const char* error = stored_text(job, "last_error");
  if (error != nullptr) out->set(kLastError, CStringGetTextDatum(error));
  copy(job, out, kDone, "done");
  copy(job, out, kTotal, "total");
  if (running) copy(job, out, kPid, "pid");
  const char* phase = phase_now(job, stored, running, is_dropped);
  out->set(kPhase, CStringGetTextDatum(phase));
  describe_result(job, out);
  const char* step = next_step(phase, name, running);
  if (step != nullptr) out->set(kNextStep, CStringGetTextDatum(step));
  if (!running) return;
  const bool searches = equals_any(phase, {"counting", "clustering"});
  if (searches) estimate_search(job, out);
  if (searches || strcmp(phase, "signing") == 0) estimate(job, out);
}

// One job; false where it is none that the caller may see.
bool look_at(Oid oid, Oid row_type, const LockData* locks, StatusRow* out) {
  const OpenTable opened = open_typed_table(oid, row_type, Waiting::gives_up);
  if (opened.refusal != Refusal::none) return false;
  const OpenJob job = {opened.relation, first_row(opened.relation)};
  const char* stored = job.row == nullptr ? nullptr : stored_text(job, "phase");
  if (stored != nullptr) {
    const PartTable result = part_of_job(job.table, job.row, JobPart::result);
    const char* name = users_name(job, result);
    if (name != nullptr) out->set(kJob, CStringGetTextDatum(name));
    describe(job, stored, name, is_locked(locks, oid), result.belonging == Belonging::none, out);
  }
  table_close(opened.relation, NoLock);
  return stored != nullptr;
}

struct Listed {
  Oid oid;
  const char* name;
};

int by_name(const ListCell* a, const ListCell* b) {
  return strcmp(static_cast<const Listed*>(lfirst(a))->name, static_cast<const Listed*>(lfirst(b))->name);
}

List* tables_of_type(Oid row_type) {
  List* found = NIL;
  Relation classes = table_open(RelationRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_class_reloftype, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(row_type));
  SysScanDesc scan = systable_beginscan(classes, InvalidOid, false, nullptr, 1, &key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    const auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
    const char* schema = get_namespace_name(form->relnamespace);
    if (schema == nullptr) continue;
    auto* one = static_cast<Listed*>(palloc(sizeof(Listed)));
    one->oid = form->oid;
    one->name = psprintf("%s.%s", schema, NameStr(form->relname));
    found = lappend(found, one);
  }
  systable_endscan(scan);
  table_close(classes, AccessShareLock);
  list_sort(found, by_name);
  return found;
}

}  // namespace

SQL_FUNCTION(neardup_jobs) {
  ReturnSetInfo* rows = begin_rows(fcinfo);
  if (rows->setDesc->natts <= kNextStep) refuse_old_sql(fcinfo);
  const Oid row_type = own_type(fcinfo->flinfo->fn_oid, "neardup_job");
  const LockData* locks = GetLockStatusData();
  List* jobs = tables_of_type(row_type);
  MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "neardup job", ALLOCSET_DEFAULT_SIZES);
  ListCell* cell;
  foreach (cell, jobs) {
    CHECK_FOR_INTERRUPTS();
    MemoryContext old = MemoryContextSwitchTo(each);
    StatusRow row;
    if (look_at(static_cast<const Listed*>(lfirst(cell))->oid, row_type, locks, &row)) row.put(rows);
    MemoryContextSwitchTo(old);
    MemoryContextReset(each);
  }
  return static_cast<Datum>(0);
}
