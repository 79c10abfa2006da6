// See refresh.h. What lives from one transaction to the next is Refresh; all else is read again.
#include "pg/jobs/refresh/refresh.h"

#include "pg/base/text_equals.h"
#include "pg/jobs/job_expressions.h"
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/signature_table.h"
#include "pg/profiles/profile.h"
#include "pg/sql/statement_scope.h"

namespace neardup {

namespace {

// Of a name in a notice.
constexpr int kMaxShownName = 200;

// What a refresh does next. As the row of a job has it, by name.
enum class Phase : uint8_t { listing, counting, signing, indexing, clustering, idle };
constexpr const char* kPhaseNames[] = {"listing", "counting", "signing", "indexing", "clustering", "idle"};
const char* name_of(Phase phase) { return kPhaseNames[static_cast<int>(phase)]; }

// What a job knows of its rows. The result stays until it is written anew.
void forget_all(const Job& job) {
  clear_signatures(job, signature_kind(job.row, job.function));
  demand_clustering(job);
}

class Refresh {
 public:
  explicit Refresh(const RefreshOptions& options)
      : options_(options),
        start_(GetCurrentTimestamp()),
        each_(AllocSetContextCreate(CurrentMemoryContext, "neardup refresh", ALLOCSET_DEFAULT_SIZES)) {}

  void run();

 private:
  bool begin();
  void take_step();
  bool is_over();
  void commit() const;
  [[noreturn]] void fail(const ErrorData* error) const;
  bool is_time_up() const;

  RefreshOptions options_;
  TimestampTz start_;
  MemoryContext each_;  // of one transaction
  Phase phase_ = Phase::listing;
  bool has_signed_ = false;
};

// As the error was raised, but without the statements of ours that led to it.
[[noreturn]] void raise_again(const ErrorData* error) {
  ereport(ERROR, (errcode(error->sqlerrcode), errmsg_internal("%s", error->message),
                  error->detail == nullptr ? 0 : errdetail_internal("%s", error->detail),
                  error->hint == nullptr ? 0 : errhint("%s", error->hint)));
  pg_unreachable();
}

Phase cluster(const RefreshStep& step) {
  const bool part = FindStage(step).run();
  const uint64 rows = ClusterStage(step, part).run();
  PublishStage(step, part).run(rows);
  return Phase::idle;
}

// One step; what comes next. The job may have got another owner since the last commit.
Phase run_step(Phase phase, const RefreshOptions& options) {
  demand_owner(options.job, options.function);
  RefreshStep step = read_step(options.job, options.function);
  const int64 done = step.row().done;
  switch (phase) {
    case Phase::listing: {
      const int64 rows = ListStage(&step).run();
      store_listed(step.job, rows);
      if (lacks_passages(step.row(), options.function)) return Phase::counting;
      return rows > 0 ? Phase::signing : Phase::indexing;
    }
    case Phase::counting:
      CountStage(&step).run();
      return step.row().total > 0 ? Phase::signing : Phase::indexing;
    case Phase::signing:
      SignStage(step).run(done, done + options.batch);
      store_signed(step.job, options.batch);
      return done + options.batch < step.row().total ? Phase::signing : Phase::indexing;
    case Phase::indexing:
      return IndexStage(&step).run() ? Phase::clustering : Phase::idle;
    default:
      return cluster(step);
  }
}

// 0.2.0 signed some documents otherwise: it guessed encodings by other means, had other rules, and a CR ended no line.
bool was_signed_otherwise(const Job& job) {
  const JobRow& row = job.row;
  if (row.body == nullptr || row.qualified) return false;
  const Profile profile = profile_named(row.profile, job.function);
  return equals(profile.unit, "char") || !equals(profile.rules, "none") ||
         (row.body_type == BYTEAOID && !equals(profile.encoding, "bytes"));
}

// False where the job is paused.
bool Refresh::begin() {
  demand_owner(options_.job, options_.function);
  Job job = read_job(options_.job, options_.function);
  if (job.row.paused) {
    ereport(NOTICE, (errmsg("%s is paused", job.name),
                     errhint("SELECT pause_duplicates(%s, false);", quote_literal_cstr(job.name))));
    return false;
  }
  Oid tables[kJobParts];
  adopt_parts(options_.job, options_.function, tables);
  const bool sign_again = was_signed_otherwise(job);
  qualify_expressions(&job.row);
  const CatalogPath path = CatalogPath::begin();
  begin_refresh(job, sign_again);
  if (options_.rebuild) forget_all(job);
  path.end();
  commit();
  return true;
}

void Refresh::commit() const {
  if (options_.commit) commit_statements();
}

bool Refresh::is_time_up() const {
  if (options_.time_limit == nullptr) return false;
  const Datum took =
      DirectFunctionCall2(timestamp_mi, TimestampTzGetDatum(GetCurrentTimestamp()), TimestampTzGetDatum(start_));
  return DatumGetBool(DirectFunctionCall2(interval_ge, took, IntervalPGetDatum(options_.time_limit)));
}

// The row of a job that has gone, or has another owner by now, is left alone: what is on its table is not the caller's.
void Refresh::fail(const ErrorData* error) const {
  if (options_.commit) LockRelationOid(options_.job, AccessShareLock);
  if (options_.commit && is_own_job(options_.job)) {
    const CatalogPath path = CatalogPath::begin();
    fail_refresh(options_.job, error->message);
    path.end();
  }
  commit();
  raise_again(error);
}

// A step, and in the row of the job what comes next.
void Refresh::take_step() {
  const Phase taken = phase_;
  const CatalogPath path = CatalogPath::begin();
  ErrorData* error = run_undoing([&] { phase_ = run_step(taken, options_); });
  path.end();
  if (error != nullptr) fail(error);
  has_signed_ = has_signed_ || taken == Phase::signing;
}

// Stores the next phase. Whether the refresh ends here: nothing is left, or the job is paused, or the time is up. Not
// before a batch was signed: what only lists, and is stopped, would never come further.
bool Refresh::is_over() {
  const CatalogPath path = CatalogPath::begin();
  Job job = read_job(options_.job, options_.function);
  enter_phase(job, name_of(phase_));
  bool over = phase_ == Phase::idle;
  if (over) {
    finish_refresh(job);
  } else if (job.row.paused || (has_signed_ && is_time_up())) {
    over = true;
    interrupt_refresh(job);
    ereport(NOTICE, (errmsg("%s: " INT64_FORMAT " of " INT64_FORMAT " rows signed, then %s; the next refresh goes on",
                            pnstrdup(job.name, static_cast<Size>(pg_mbcliplen(
                                                   job.name, static_cast<int>(strlen(job.name)), kMaxShownName))),
                            job.row.done, job.row.total, job.row.paused ? "paused" : "the time limit was reached")));
  }
  path.end();
  commit();
  return over;
}

void Refresh::run() {
  MemoryContext old = MemoryContextSwitchTo(each_);
  bool over = !begin();
  while (!over) {
    MemoryContextReset(each_);
    take_step();
    over = is_over();
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(each_);
}

}  // namespace

void refresh(const RefreshOptions& options) { Refresh(options).run(); }

}  // namespace neardup
