#include "pg/base/boundary.h"

#include <new>

#include "core/work/parallel.h"

#include "pg/base/pg.h"
#include "pg/base/progress.h"
#include "pg/base/scratch_file.h"

namespace neardup {
namespace {

// An error that PostgreSQL raised below the core, on its way up as Error{cancelled}.
ErrorData* pending_error = nullptr;
// Where it is kept: the context of the call that will raise it again.
MemoryContext pending_context = nullptr;

struct Failure {
  bool failed;
  int sqlstate;
  bool cancelled;
  char message[512];
  char detail[1024];
  char hint[512];
};

int to_sqlstate(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument:
      return ERRCODE_INVALID_PARAMETER_VALUE;
    case Errc::incomparable:
      return ERRCODE_DATATYPE_MISMATCH;
    case Errc::invalid_text:
      return ERRCODE_INVALID_TEXT_REPRESENTATION;
    case Errc::corrupt_data:
      return ERRCODE_INVALID_BINARY_REPRESENTATION;
    case Errc::too_large:
      return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case Errc::out_of_budget:
      return ERRCODE_OUT_OF_MEMORY;
    case Errc::cancelled:
      return ERRCODE_QUERY_CANCELED;
    case Errc::device:
      return ERRCODE_SYSTEM_ERROR;
    case Errc::unsupported:
      return ERRCODE_FEATURE_NOT_SUPPORTED;
  }
  return ERRCODE_INTERNAL_ERROR;
}

template <size_t N>
void copy_text(char (&to)[N], const char* from) noexcept {
  strlcpy(to, from, N);
}

// No PostgreSQL call in here, and no exception leaves it.
void run_guarded(void (*f)(void*), void* arg, Failure* out) noexcept {
  try {
    f(arg);
  } catch (const Error& e) {
    out->failed = true;
    out->sqlstate = to_sqlstate(e.code());
    out->cancelled = e.code() == Errc::cancelled;
    copy_text(out->message, e.what());
    copy_text(out->detail, e.detail().c_str());
    copy_text(out->hint, e.hint().c_str());
  } catch (const std::bad_alloc&) {
    out->failed = true;
    out->sqlstate = ERRCODE_OUT_OF_MEMORY;
    copy_text(out->message, "out of memory");
  } catch (const std::exception& e) {
    out->failed = true;
    out->sqlstate = ERRCODE_INTERNAL_ERROR;
    copy_text(out->message, e.what());
  } catch (...) {
    out->failed = true;
    out->sqlstate = ERRCODE_INTERNAL_ERROR;
    copy_text(out->message, "unknown C++ exception");
  }
}

[[noreturn]] void report(Failure* failure) {
  if (pending_error != nullptr) {
    ErrorData* error = pending_error;
    pending_error = nullptr;
    ReThrowError(error);
  }
  if (failure->cancelled) CHECK_FOR_INTERRUPTS();
  // Core text is ASCII; a literal quoted in it is in the server encoding. Texts were cut to their arrays' sizes.
  for (char* text : {failure->message, failure->detail, failure->hint}) {
    const int length = static_cast<int>(strlen(text));
    text[pg_mbcliplen(text, length, length)] = '\0';
  }
  ereport(ERROR, (errcode(failure->sqlstate), errmsg_internal("%s", failure->message),
                  failure->detail[0] != '\0' ? errdetail_internal("%s", failure->detail) : 0,
                  failure->hint[0] != '\0' ? errhint("%s", failure->hint) : 0));
  pg_unreachable();
}

// Runs f(arg), which may call PostgreSQL and holds nothing with a destructor. False when it raised an error, which is
// then pending. Without a subtransaction that is safe only because the error is always raised again.
bool try_pg(void (*f)(void*), void* arg) noexcept {
  if (pending_error != nullptr) return false;
  MemoryContext const context = CurrentMemoryContext;
  volatile bool ok = false;
  PG_TRY();
  {
    f(arg);
    ok = true;
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(pending_context);
    pending_error = CopyErrorData();
    FlushErrorState();
    MemoryContextSwitchTo(context);
  }
  PG_END_TRY();
  return ok;
}

template <typename F>
void call_pg(F f) {
  if (!try_pg([](void* p) { (*static_cast<F*>(p))(); }, &f)) throw Error(Errc::cancelled, "error in PostgreSQL");
}

}  // namespace

namespace detail {

// A backend that is to end (terminated, its server stopped, its database dropped) does not come back from
// CHECK_FOR_INTERRUPTS(): it frees all memory and exits, with our threads still at work.
static void join_at_exit() {
  static int of_process = 0;  // what a process has registered, those that it forks have not
  if (of_process == MyProcPid) return;
  of_process = MyProcPid;
  before_shmem_exit([](int, Datum) { join_all_tasks(); }, 0);
}

void run_core(void (*f)(void*), void* arg) {
  join_at_exit();
  Failure failure;
  failure.failed = false;
  failure.cancelled = false;
  failure.message[0] = failure.detail[0] = failure.hint[0] = '\0';
  pending_error = nullptr;
  pending_context = CurrentMemoryContext;
  run_guarded(f, arg, &failure);
  if (failure.failed || pending_error != nullptr) report(&failure);
}
}  // namespace detail

void PgStop::steps(uint64_t done, uint64_t total) noexcept {
  if (!quiet_) report_steps(done, total);
}
void PgStop::parts(uint64_t done, uint64_t total) noexcept {
  if (!quiet_) report_parts(done, total);
}

void log_debug1(const char* text) noexcept {
  try_pg([](void* arg) { ereport(DEBUG1, (errmsg_internal("%s", static_cast<const char*>(arg)))); },
         const_cast<char*>(text));
}

bool PgStop::should_stop() noexcept {
  if (!INTERRUPTS_PENDING_CONDITION()) return pending_error != nullptr;
  return !try_pg([](void*) { CHECK_FOR_INTERRUPTS(); }, nullptr);
}

class PgTempFile final : public TempFile {
 public:
  explicit PgTempFile(PgTempFiles* owner) : owner_(owner) {}

  ~PgTempFile() override {
    if (scratch_.file == nullptr || owner_->abandoned_ || pending_error != nullptr) return;
    // Closing writes what is buffered, which may fail: the error is then pending, and call_core() raises it.
    try_pg([](void* f) { BufFileClose(static_cast<BufFile*>(f)); }, scratch_.file);
  }

  void append(const void* data, size_t n) override {
    call_pg([this, data, n] { append_scratch(&scratch_, owner_->context_, data, n); });
  }

  void read(uint64_t offset, void* out, size_t n) override {
    if (offset > scratch_.size || n > scratch_.size - offset)
      throw Error(Errc::corrupt_data, "read beyond the end of a temporary file");
    if (n > 0) call_pg([this, offset, out, n] { read_scratch(&scratch_, offset, out, n); });
  }

 private:
  PgTempFiles* owner_;
  ScratchFile scratch_ = {};
};

std::unique_ptr<TempFile> PgTempFiles::create() { return std::make_unique<PgTempFile>(this); }

}  // namespace neardup
