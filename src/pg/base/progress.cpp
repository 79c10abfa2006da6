// See progress.h. Progress goes where PostgreSQL keeps that of its own commands: in the backend's status, under a
// number that none of them has, so that their views do not show it.
#include "pg/base/progress.h"

#include "pg/base/result_row.h"

namespace neardup {
namespace {

// No value of ProgressCommandType: as one, C++ would not define it. So it is written and read as the integer that it is
// in C.
constexpr int kCommand = 0x6e64;
static_assert(sizeof(ProgressCommandType) == sizeof(kCommand));

// The parameters of PostgreSQL's progress reports.
enum { kFunction, kPhase, kRowsRead, kPairs, kStepsDone, kSteps, kPartsDone, kParts, kParameters };
static_assert(static_cast<int>(kParameters) <= PGSTAT_NUM_PROGRESS_PARAM);

const char* const kFunctions[] = {"all_pairs",         "pairs_between",     "all_clusters",
                                  "cluster_bridges",   "blocked_pairs",     "oversized_blocks",
                                  "word_similarities", "create_word_model", "neardup_suggest",
                                  "repeated_passages", "passage_counts",    "neardup_frequent_windows"};
const char* const kPhases[] = {"reading rows",   "sorting rows",   "searching",           "verifying",
                               "returning rows", "counting words", "comparing documents", "measuring"};

// Calls under way within the query of the one that is reported. Only while is_ours(): an error ends all of them at
// once.
int inner_calls = 0;

int progress_command(const PgBackendStatus& status) noexcept {
  int command;
  memcpy(&command, &status.st_progress_command, sizeof command);
  return command;
}

bool is_ours() noexcept { return MyBEEntry != nullptr && progress_command(*MyBEEntry) == kCommand; }

// pgstat_progress_start_command() does the same, but takes only commands that PostgreSQL knows.
void start_command() noexcept {
  if (!pgstat_track_activities) return;
  PGSTAT_BEGIN_WRITE_ACTIVITY(MyBEEntry);
  memcpy(&MyBEEntry->st_progress_command, &kCommand, sizeof kCommand);
  MyBEEntry->st_progress_command_target = InvalidOid;
  memset(&MyBEEntry->st_progress_param, 0, sizeof MyBEEntry->st_progress_param);
  PGSTAT_END_WRITE_ACTIVITY(MyBEEntry);
}

void report(int parameter, uint64 value) noexcept {
  if (is_ours() && inner_calls == 0) pgstat_progress_update_param(parameter, static_cast<int64>(value));
}

// The share of the search, 0 to 1.
double share_done(const int64* p) {
  const double part = p[kParts] == 0 ? 0 : static_cast<double>(p[kPartsDone]) / static_cast<double>(p[kParts]);
  if (p[kSteps] == 0) return part;
  return Min((static_cast<double>(p[kStepsDone]) + part) / static_cast<double>(p[kSteps]), 1.0);
}

// The status of the backend with this number, if it reports our progress and the caller may see it: as PostgreSQL's own
// views of progress, of others only with the right to see their statistics.
const PgBackendStatus* watched(int number) {
  const LocalPgBackendStatus* local = local_backend_status(number);
  if (local == nullptr || progress_command(local->backendStatus) != kCommand) return nullptr;
  if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) &&
      !has_privs_of_role(GetUserId(), local->backendStatus.st_userid))
    return nullptr;
  return &local->backendStatus;
}

}  // namespace

void begin_progress(Searching function) {
  if (is_ours()) {
    ++inner_calls;
    return;
  }
  if (MyBEEntry == nullptr || progress_command(*MyBEEntry) != PROGRESS_COMMAND_INVALID) return;
  inner_calls = 0;
  start_command();
  report(kFunction, static_cast<uint64>(function));
}

void report_phase(Phase phase) { report(kPhase, static_cast<uint64>(phase)); }
void report_rows_read(uint64 rows) { report(kRowsRead, rows); }
void report_pairs(uint64 pairs) { report(kPairs, pairs); }

void report_steps(uint64 done, uint64 total) noexcept {
  report(kSteps, total);
  report(kStepsDone, done);
  report(kPartsDone, 0);
}

void report_parts(uint64 done, uint64 total) noexcept {
  report(kParts, total);
  report(kPartsDone, done);
}

void end_progress() {
  if (!is_ours()) return;
  if (inner_calls > 0) {
    --inner_calls;
  } else {
    pgstat_progress_end_command();
  }
}

double search_share(int pid) {
  const int n = pgstat_fetch_stat_numbackends();
  for (int i = 1; i <= n; ++i) {
    const PgBackendStatus* status = watched(i);
    if (status == nullptr || status->st_procpid != pid) continue;
    const int64* p = status->st_progress_param;
    if (p[kPhase] == static_cast<int64>(Phase::searching)) return share_done(p);
  }
  return 0;
}

}  // namespace neardup

SQL_FUNCTION(neardup_progress) {
  using namespace neardup;
  enum class Column { kPid, kDatname, kFunction, kPhase, kRowsRead, kSearched, kPairs, kColumns };
  ReturnSetInfo* rows = begin_rows(fcinfo);
  const int n = pgstat_fetch_stat_numbackends();
  for (int i = 1; i <= n; ++i) {
    const PgBackendStatus* status = watched(i);
    if (status == nullptr) continue;
    const int64* p = status->st_progress_param;
    const bool known = p[kFunction] >= 0 && p[kFunction] < static_cast<int64>(lengthof(kFunctions)) && p[kPhase] >= 0 &&
                       p[kPhase] < static_cast<int64>(lengthof(kPhases));
    if (!known) continue;
    ResultRow<Column> row;
    row.set(Column::kPid, Int32GetDatum(status->st_procpid));
    char* database = get_database_name(status->st_databaseid);
    if (database != nullptr) row.set(Column::kDatname, DirectFunctionCall1(namein, CStringGetDatum(database)));
    row.set(Column::kFunction, CStringGetTextDatum(kFunctions[p[kFunction]]));
    row.set(Column::kPhase, CStringGetTextDatum(kPhases[p[kPhase]]));
    row.set(Column::kRowsRead, Int64GetDatum(p[kRowsRead]));
    if (p[kPhase] == static_cast<int64>(Phase::searching)) row.set(Column::kSearched, Float8GetDatum(share_done(p)));
    row.set(Column::kPairs, Int64GetDatum(p[kPairs]));
    row.put(rows);
  }
  return static_cast<Datum>(0);
}
