// Karp-Rabin fingerprints: a document, or every window of it, as the value of a polynomial modulo 2^61 - 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/stop.h"
#include "core/document/shingle.h"

namespace neardup {

// Both reach disk and are frozen. The base was drawn once, uniformly from 1 .. 2^61 - 2, by the random generator of an
// operating system (61 bits of /dev/urandom, drawn again for 0 and for the prime), on 2026-11-22.
inline constexpr uint64_t kFingerprintPrime = (uint64_t{1} << 61) - 1;
inline constexpr uint64_t kFingerprintBase = 0x0936e6f6839d61bcULL;

// F(c_1 .. c_n) = sum (c_i + 1) * kFingerprintBase^(n - i) mod kFingerprintPrime, 0 .. 2^61 - 2; 0 for no bytes. Since
// no digit is 0, leading NULs and the length count. Two different runs of at most n bytes agree for at most n - 1 of
// the bases that could have been drawn: with a probability of at most n / (2^61 - 1). The base is public, so whoever
// wants a collision can build one. Time: some 0.2 ns a byte. stop (may be null) is polled every megabyte.
uint64_t fingerprint(const uint8_t* bytes, size_t size, StopCheck* stop = nullptr);

// F(ab) from F(a), F(b) and the length of b in bytes. Error{invalid_argument} for numbers that are no fingerprints and
// for a negative length.
uint64_t fingerprint_concat(int64_t a, int64_t b, int64_t length_b);

// F of every window of so many symbols of a document, from the first on; none where the document is shorter. Constant
// memory and a time that does not depend on the window.
class RollingFingerprints {
 public:
  // unit character (code points of UTF-8; a byte that starts no well-formed sequence is one of them) or byte. text must
  // stay valid. window at least 1, else Error{invalid_argument}. stop (may be null) is polled every 16 K windows.
  RollingFingerprints(Unit unit, int64_t window, const uint8_t* text, size_t size, StopCheck* stop = nullptr);

  // Writes the next up to `most` fingerprints to out and returns how many; 0 at the end.
  size_t next(uint64_t* out, size_t most);

 private:
  bool start();
  bool roll();

  const bool utf8_;
  const uint64_t window_;
  const uint8_t* first_;  // of the window
  const uint8_t* last_;   // behind the window
  const uint8_t* const end_;
  StopCheck* const stop_;
  uint64_t value_ = 0;
  uint64_t power_ = 1;  // base to the bytes in the window
  uint32_t steps_ = 0;
  bool started_ = false;
};

}  // namespace neardup
