// The one exception type of the core library, and the fence that keeps PostgreSQL out of it.
#pragma once

// With precompiled headers PostgreSQL comes first; `make syntax` reads the sources without.
#if defined(POSTGRES_H) && !defined(NEARDUP_PRECOMPILED)
#error "src/core must not see postgres.h: include core headers before pg/base/pg.h, or keep them apart"
#endif

#include <exception>
#include <string>
#include <utility>

namespace neardup {

enum class Errc {
  invalid_argument,  // a value outside its documented range
  incomparable,      // two signatures made with different parameters
  invalid_text,      // a literal that cannot be read
  corrupt_data,      // bytes that are not what they claim to be
  too_large,         // a result or input above a hard limit
  out_of_budget,     // the memory limit does not allow even the slow way
  cancelled,         // StopCheck asked us to stop
  device,            // the GPU or its driver failed
  unsupported,       // left out of this build, or of this system
};

// Thrown at the point of detection. The text follows PostgreSQL's message style: lower-case start,
// no full stop, the wrong value and the range allowed. detail and hint may be empty.
class Error : public std::exception {
 public:
  Error(Errc code, std::string message, std::string detail = {}, std::string hint = {})
      : code_(code), message_(std::move(message)), detail_(std::move(detail)), hint_(std::move(hint)) {}

  Errc code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& detail() const noexcept { return detail_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  Errc code_;
  std::string message_;
  std::string detail_;
  std::string hint_;
};

}  // namespace neardup
