// `neardup run`: refresh_duplicates() on one connection, its progress from another.
#include "cli/run.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "cli/base/interrupt.h"
#include "cli/base/job.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"

namespace neardup::cli {
namespace {

constexpr const char* kRunHelp = R"(usage: neardup run JOB [options]

Brings the table of duplicates JOB, made by create_duplicates(), up to date: calls refresh_duplicates() and shows its
progress. What a run has committed stays, and the next run continues from there.

      --batch N            sign and commit N rows at a time (default 10000)
      --time-limit T       stop after a batch when T has passed: 30min, '1 hour', or seconds
      --rebuild            discard the signatures and sign all rows again
{connection}
  -q, --quiet              no progress, no summary
      --help

Exit code: 0 done or the time limit was reached, 1 nothing could be done or the database failed, 2 wrong usage,
130 stopped by Ctrl-C, 143 by SIGTERM.
)";

constexpr int kLookEvery = 250;  // ms

struct RunOptions {
  std::string job;
  std::int64_t batch = 0;  // 0: the server's default
  std::string time_limit;
  bool rebuild = false;
  Connection::Options connection;
  bool quiet = false;
};

// Looks at a refresh through a second connection.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;

  // db may be null: then nothing is seen.
  Watch(Connection* db, const Job& job) : db_(db), job_(job), mode_(Progress::default_mode()) {
    if (db_ != nullptr) db_->query("SET statement_timeout = '5s'");
  }

  // Never throws: what cannot be watched goes on unwatched.
  void look() noexcept {
    if (db_ == nullptr || blind_) return;
    try {
      const Result row = ask_job(*db_, job_, "run_progress");
      if (PQntuples(row.get()) == 1) show(row);
    } catch (const Interrupted&) {
    } catch (const DatabaseError& error) {
      blind_ = error.sqlstate() != "57014";  // but a slow answer is not the last one
    } catch (const std::exception&) {
      blind_ = true;
    }
  }

  void clear() { line_.clear(); }

 private:
  void show(const Result& row) {
    const std::string phase(get_text(row, 0, 0));
    const auto whole = [&](int column) { return is_null(row, 0, column) ? 0 : get_int8(row, 0, column); };
    const auto number = [&](int column, double none) {
      return is_null(row, 0, column) ? none : get_float8(row, 0, column);
    };
    const std::int64_t done = whole(1), total = whole(2);
    const double rate = number(3, 0), left = number(4, -1), elapsed = number(5, 0);
    double share = -1;
    std::string text = phase;
    if (phase == "signing" && total > 0) {
      share = static_cast<double>(done) / static_cast<double>(total);
      text += ": " + std::to_string(done) + " of " + std::to_string(total) + " rows";
      if (rate > 0) text += ", " + std::to_string(static_cast<long long>(rate)) + " rows/s";
      if (left >= 0) text += ", " + human_seconds(left) + " left";
    } else if (phase == "clustering" || phase == "counting") {
      const bool counting = phase == "counting";
      if (counting) text = "counting passages";
      const std::string_view step = get_text(row, 0, 6);
      const double searched = number(8, -1);
      if (searched >= 0) {
        share = searched;
        text += ": searching";
        if (!counting) text += ", " + std::to_string(whole(9)) + " pairs";
        if (left >= 0) text += ", " + human_seconds(left) + " left";
      } else if (step == "reading rows") {
        text += ": " + std::to_string(whole(7)) + " rows read";
      } else if (!step.empty()) {
        text += ": " + printable(step);
      }
      if (share < 0) text += ", " + human_seconds(elapsed);
    } else if (phase == "listing" || phase == "indexing") {
      text = (phase == "listing" ? "listing the rows that have changed, " : "indexing the signatures, ") +
             human_seconds(elapsed);
    } else {
      return;  // before the start, after the end
    }
    if (mode_ == Progress::Mode::bar) {
      line_.draw(share, text);
      return;
    }
    const auto now = Clock::now();
    if (phase == phase_ && now - last_ < std::chrono::seconds(5)) return;
    phase_ = phase;
    last_ = now;
    std::fprintf(stderr, "%s\n", text.c_str());
  }

  Connection* db_;
  const Job& job_;
  Progress::Mode mode_;
  ProgressLine line_;
  std::string phase_;
  Clock::time_point last_;
  bool blind_ = false;
};

// The refresh itself; the server's notices are printed between the lines of progress.
void refresh(Connection& db, const Job& job, const RunOptions& options, Watch& watch) {
  PQsetNoticeProcessor(
      db.handle(),
      [](void* arg, const char* text) {
        static_cast<Watch*>(arg)->clear();
        std::fputs(printable_message(text).c_str(), stderr);
      },
      &watch);
  std::string call = "CALL " + job.extension + "refresh_duplicates($1::pg_catalog.text";
  Params params;
  params.text(job.name);
  if (options.batch > 0) {
    params.int8(options.batch);
    call += ", batch => $2::pg_catalog.int8::pg_catalog.int4";
  }
  if (!options.time_limit.empty()) {
    params.text(options.time_limit);
    call +=
        std::string(", time_limit => ") + (options.batch > 0 ? "$3" : "$2") + "::pg_catalog.text::pg_catalog.interval";
  }
  if (options.rebuild) call += ", rebuild => true";
  db.start(call + ")", params);
  bool canceling = false;
  while (!db.wait(canceling ? 1000 : kLookEvery)) {
    if (interrupt_signal() == 0) {
      watch.look();
    } else if (!canceling) {
      // the handler has asked the server
      canceling = true;
      watch.clear();
      std::fputs("canceling; once more to leave at once\n", stderr);
    } else {
      db.cancel();  // what came before the statement began is lost
    }
  }
  watch.clear();
  db.finish();
}

// "" where there was none
std::string last_start(Connection& db, const Job& job) {
  return std::string(get_text(
      db.query("SELECT started::pg_catalog.text FROM neardup_internal.neardup_job_row($1::pg_catalog.regclass)",
               Params().text(job.table)),
      0, 0));
}

void print_summary(Connection& db, const Job& job, double seconds) {
  const Result found = ask_job(db, job, "run_summary");
  const auto number = [&](int column) { return static_cast<long long>(get_int8(found, 0, column)); };
  if (!get_bool(found, 0, 0)) {
    std::printf("not finished: %lld of %lld rows signed in %.1f s; the next run goes on\n", number(1), number(2),
                seconds);
    return;
  }
  const long long rows = number(3), duplicates = number(5);
  std::printf(
      "%lld rows, %lld clusters of 2 or more, %lld duplicates (%.1f %%), %lld of them new since the last run; %.1f s\n",
      rows, number(4), duplicates, rows > 0 ? 100.0 * static_cast<double>(duplicates) / static_cast<double>(rows) : 0,
      number(6), seconds);
  const Result changes = ask_job(db, job, "run_changes");
  std::string text;
  for (int i = 0; i < PQntuples(changes.get()); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(get_int8(changes, i, 1)) + " " + std::string(get_text(changes, i, 0));
  }
  if (!text.empty()) std::printf("clusters of earlier runs: %s\n", text.c_str());
}

}  // namespace

int run_main(int argc, char** argv) {
  RunOptions options;
  const Option table[] = {{"batch", 0, Number{&options.batch, 1, INT32_MAX}},
                          {"time-limit", 0, NonEmpty{&options.time_limit}},
                          {"rebuild", 0, &options.rebuild},
                          options.connection,
                          {"quiet", 'q', &options.quiet}};
  const auto read_job = [&](Arguments arguments) { options.job = one_argument(arguments, "job"); };
  if (const auto code = read_command_line(argc, argv, kRunHelp, table, read_job)) return *code;
  install_interrupt_handlers();
  Connection db(options.connection);
  const Job job = find_job(db, options.job);
  std::optional<Connection> watcher;
  if (!options.quiet) {
    Connection::Options watching = options.connection;
    watching.canceled_by_signals = false;
    try {
      watcher.emplace(watching);
    } catch (const DatabaseError& error) {
      // a limit of connections: the refresh needs but one
      std::fprintf(stderr, "neardup run: no second connection to show how far it is: %s\n",
                   printable_message(error.what()).c_str());
    }
  }
  Watch watch(watcher ? &*watcher : nullptr, job);
  const std::string before = last_start(db, job);
  const auto start = Watch::Clock::now();
  const int code = run_until_signal("run", "; what was committed stays, the next run goes on", [&] {
    refresh(db, job, options, watch);
    return 0;
  });
  if (code != 0) return code;
  if (last_start(db, job) == before) return 1;  // paused: the server has said so
  if (!options.quiet) print_summary(db, job, std::chrono::duration<double>(Watch::Clock::now() - start).count());
  return 0;
}

}  // namespace neardup::cli
