// The border between C++ exceptions and PostgreSQL's errors, in both directions.
//
// A frame that calls PostgreSQL may be long-jumped over: it holds only trivially destructible locals.
// A frame that holds std:: objects, or may throw, calls no PostgreSQL. call_core() leads from the first world into
// the second; PgStop and PgTempFiles lead back for what the core needs of its host, and turn an error raised there
// into an exception, which call_core() raises again as the very same PostgreSQL error.
#pragma once

#include <type_traits>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/work/temp_file.h"

struct MemoryContextData;  // PostgreSQL's

namespace neardup {

namespace detail {
// Runs f(arg); on an exception raises the matching PostgreSQL error.
void run_core(void (*f)(void*), void* arg);
}  // namespace detail

// Calls f(), which may use the core and throw, but must not call PostgreSQL. Errc becomes its SQLSTATE, bad_alloc
// out_of_memory, anything else internal_error. An error that PostgreSQL raised below f is raised again even when f
// returned. The only catch in src/pg.
template <typename F>
inline void call_core(F&& f) {
  detail::run_core([](void* p) { (*static_cast<std::remove_reference_t<F>*>(p))(); }, &f);
}

// Core code logs a line, ASCII, of level DEBUG1.
void log_debug1(const char* text) noexcept;

// Serves PostgreSQL's interrupts from inside the core; true when one of them raised an error (cancel, shutdown,
// recovery conflict), which call_core() then raises.
class PgStop final : public StopCheck {
 public:
  bool should_stop() noexcept override;
  void steps(uint64_t done, uint64_t total) noexcept override;
  void parts(uint64_t done, uint64_t total) noexcept override;
  void be_quiet() noexcept { quiet_ = true; }  // about progress, where this is one of many searches

 private:
  bool quiet_ = false;
};

// The core's temporary files as BufFiles of the current resource owner: they obey temp_tablespaces and temp_file_limit.
class PgTempFiles final : public TempFileFactory {
 public:
  // context: where the files' buffers live; it outlives this object (see context.h).
  explicit PgTempFiles(MemoryContextData* context) : context_(context) {}

  std::unique_ptr<TempFile> create() override;

  // After an error PostgreSQL has closed, or will close, the files itself: destructors must leave them alone.
  void abandon() noexcept { abandoned_ = true; }

 private:
  friend class PgTempFile;
  MemoryContextData* context_;
  bool abandoned_ = false;
};

}  // namespace neardup
