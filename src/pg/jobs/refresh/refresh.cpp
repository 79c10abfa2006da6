// The object Refresh alone lives from one transaction to the next; all else is read again.
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh.h"

#include "pg/base/text_equals.h"
#include "pg/jobs/follow_triggers.h"
#include "pg/jobs/job_expressions.h"
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/signature_table.h"
#include "pg/sql/statement_scope.h"

namespace neardup {

namespace {

// Bytes of a job's name that a notice shows.
constexpr int kMaxShownName = 200;

// The next work of a refresh, named as in the row of a job.
enum class Phase : uint8_t { listing, counting, signing, indexing, clustering, idle };
constexpr const char* kPhaseNames[] = {"listing", "counting", "signing", "indexing", "clustering", "idle"};
const char* phase_name(Phase phase) { return kPhaseNames[static_cast<int>(phase)]; }

// Forgets the rows of the source. The result stays until it is written again.
void forget_all(Job* job, const Profile& profile) {
  clear_signatures(job, signature_kind(job->row, profile, job->function));
  demand_clustering(*job);
}

// As the error was raised, but without the statements of ours that led to it.
[[noreturn]] void raise_again(const ErrorData* error) {
  ereport(ERROR, (errcode(error->sqlerrcode), errmsg_internal("%s", error->message),
                  error->detail == nullptr ? 0 : errdetail_internal("%s", error->detail),
                  error->hint == nullptr ? 0 : errhint("%s", error->hint)));
  pg_unreachable();
}

// This runs one step, and returns the phase that comes next.
Phase run_step(Phase phase, RefreshStep* step, int32 batch) {
  JobRow& row = step->job.row;
  switch (phase) {
    case Phase::listing:
      row.total = list_rows(step);
      row.done = 0;
      update_job(step->job, "total = $1, done = 0", {value(row.total)});
      if (step->lacks_passages()) return Phase::counting;
      return row.total > 0 ? Phase::signing : Phase::indexing;
    case Phase::counting:
      count_passages(step);
      return row.total > 0 ? Phase::signing : Phase::indexing;
    case Phase::signing:
      sign_rows(*step, row.done, row.done + batch);
      row.done = Min(row.done + batch, row.total);
      update_job(step->job, "done = $1", {value(row.done)});
      return row.done < row.total ? Phase::signing : Phase::indexing;
    case Phase::indexing:
      return index_signatures(step) ? Phase::clustering : Phase::idle;
    default:
      cluster(*step);
      return Phase::idle;
  }
}

// 0.2.0 signed some documents otherwise: it guessed encodings by other means, had other rules, and a CR ended no line.
bool was_signed_otherwise(const JobRow& row, const Profile& profile) {
  if (row.body == nullptr || row.qualified) return false;
  return equals(profile.unit, "char") || !equals(profile.rules, "none") ||
         (row.body_type == BYTEAOID && !equals(profile.encoding, "bytes"));
}

class Refresh {
 public:
  explicit Refresh(const RefreshOptions& options)
      : options_(options),
        start_(GetCurrentTimestamp()),
        each_(AllocSetContextCreate(CurrentMemoryContext, "neardup refresh", ALLOCSET_DEFAULT_SIZES)) {}

  void run() {
    MemoryContext old = MemoryContextSwitchTo(each_);
    bool goes_on = begin();
    while (goes_on) {
      MemoryContextReset(each_);
      goes_on = run_next_step();
    }
    MemoryContextSwitchTo(old);
    MemoryContextDelete(each_);
  }

 private:
  // False where the job is paused.
  bool begin() {
    Job job;
    with_open_job(options_.job, options_.function, [&](const OpenJob& opened) {
      demand_owner(opened);
      job = read_job(opened, options_.function);
      if (!job.row.paused) adopt_parts(opened);
    });
    if (job.row.paused) {
      ereport(NOTICE, (errmsg("%s is paused", job.name),
                       errhint("SELECT pause_duplicates(%s, false);", quote_literal_cstr(job.name))));
      return false;
    }
    // Only a name that 0.2.0 has written is looked up in the caller's search_path.
    const bool qualified = job.row.qualified;
    Profile profile = qualified ? Profile{} : read_profile(job.row, options_.function);
    const bool sign_again = was_signed_otherwise(job.row, profile);
    qualify_expressions(&job.row);
    const CatalogPath path = CatalogPath::begin();
    begin_refresh(job, sign_again);
    adopt_triggers(job);
    if (options_.scan && job.row.follows()) update_job(job, "scan = true");
    if (options_.rebuild && qualified) profile = read_profile(job.row, options_.function);
    if (options_.rebuild) forget_all(&job, profile);
    path.end();
    commit();
    return true;
  }

  void commit() const {
    if (options_.commit) commit_statements();
  }

  bool is_time_up() const {
    if (options_.time_limit == nullptr) return false;
    const Datum took =
        DirectFunctionCall2(timestamp_mi, TimestampTzGetDatum(GetCurrentTimestamp()), TimestampTzGetDatum(start_));
    return DatumGetBool(DirectFunctionCall2(interval_ge, took, IntervalPGetDatum(options_.time_limit)));
  }

  // The row of a job that has gone, or has another owner by now, is left alone: what is on its table is not the
  // caller's.
  void fail(const ErrorData* error) const {
    if (options_.commit) LockRelationOid(options_.job, AccessShareLock);
    if (options_.commit && is_own_job(options_.job)) {
      const CatalogPath path = CatalogPath::begin();
      run_statement(sql("UPDATE {job} SET phase = 'failed', finished = clock_timestamp(), pid = NULL, last_error = $1",
                        {{"job", QualifiedName::held(options_.job)}}),
                    {value(error->message)});
      path.end();
    }
    commit();
    raise_again(error);
  }

  // Stores the next phase. Whether the refresh ends here: nothing is left, or the job is paused, or the time is up. Not
  // before a batch was signed: what only lists, and is stopped, would never come further.
  bool is_over(const Job& job) const {
    const bool paused = enter_phase(job, phase_name(phase_));
    if (phase_ == Phase::idle) {
      update_job(job,
                 "finished = clock_timestamp(), pid = NULL, refreshed = clock_timestamp(),"
                 " took = clock_timestamp() - started, changed = total");
      return true;
    }
    if (!paused && !(has_signed_ && is_time_up())) return false;
    update_job(job, "finished = clock_timestamp(), pid = NULL, phase = 'waiting'");
    ereport(NOTICE, (errmsg("%s: " INT64_FORMAT " of " INT64_FORMAT " rows signed, then %s; the next refresh goes on",
                            pnstrdup(job.name, static_cast<Size>(pg_mbcliplen(
                                                   job.name, static_cast<int>(strlen(job.name)), kMaxShownName))),
                            job.row.done, job.row.total, paused ? "paused" : "the time limit was reached")));
    return true;
  }

  // This runs a step, and returns whether another one follows. The job may have got another owner since the last
  // commit: then read_own_job() refuses it.
  bool run_next_step() {
    const Phase phase = phase_;
    RefreshStep step;
    const CatalogPath path = CatalogPath::begin();
    ErrorData* error = run_undoing([&] {
      step = read_step(read_own_job(options_.job, options_.function));
      phase_ = run_step(phase, &step, options_.batch);
    });
    if (error != nullptr) {
      path.end();
      fail(error);
    }
    has_signed_ = has_signed_ || phase == Phase::signing;
    const bool over = is_over(step.job);
    path.end();
    commit();
    return !over;
  }

  RefreshOptions options_;
  TimestampTz start_;
  MemoryContext each_;  // of one transaction
  Phase phase_ = Phase::listing;
  bool has_signed_ = false;
};

}  // namespace

void refresh(const RefreshOptions& options) { Refresh(options).run(); }

}  // namespace neardup
