// Context-triggered piecewise hashes: the digests of ssdeep, longer ones, and their text and stored forms.
//
// Source: Kornblum, "Identifying almost identical files using context triggered piecewise hashing", Digital
// Investigation 3S (2006), and the digests that ssdeep 2.14.1 prints.
//   window sum   v(p) = sum_{i<7} (8 - i) c[p-i]  +  xor_{i<7} c[p-i] << 5i   (32 bits; bytes before the first are 0)
//   trigger      position p ends a piece at block size b when v(p) + 1 is a multiple of b and not 0 modulo 2^32
//   piece        h = 39, then h = (19 h) xor c modulo 64 for each byte; one character of the base64 alphabet
// Block sizes are 3 * 2^e, so a trigger at e is one at every exponent below. After the last trigger comes the
// character of the rest, unless the window sum at the end is 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/stop.h"

namespace neardup {

inline constexpr uint32_t kCtphExponents = 31;    // block sizes 3 * 2^0 .. 3 * 2^30
inline constexpr uint32_t kCtphLength = 64;       // most characters of a part of ssdeep's digests
inline constexpr uint32_t kMaxCtphLength = 1024;  // of longer digests
inline constexpr uint32_t kCtphMaxPart = 1024;    // characters of a part as stored, see view_ctph()
inline constexpr uint8_t kCtphFormat = 1;

inline constexpr uint64_t ctph_block_size(uint32_t exponent) noexcept { return uint64_t{3} << exponent; }

// A digest. Part 1 belongs to block size 3 * 2^exponent, part 2 to twice that; both of A-Z a-z 0-9 + /.
struct CtphDigest {
  uint32_t exponent = 0;          // 0..30
  uint32_t length = kCtphLength;  // 64: ssdeep's; 65..1024: ctph_long() with that length
  std::string part1;
  std::string part2;

  bool operator==(const CtphDigest&) const = default;
};

// The same, pointing into the caller's bytes.
struct CtphView {
  uint32_t exponent = 0;
  uint32_t length = kCtphLength;
  std::string_view part1;
  std::string_view part2;

  bool is_long() const noexcept { return length != kCtphLength; }
};

inline CtphView digest_view(const CtphDigest& d) noexcept { return {d.exponent, d.length, d.part1, d.part2}; }

// A digest in progress: bytes in any portions, digest() at any time. About 33 * length bytes of memory; the cost of a
// byte grows with the number of block sizes still open, at most log2(length) + 2 on ordinary input.
//
// 64 is ssdeep's rule. The block size is the least that cuts the input into at most 64 pieces of that size, halved
// while part 1 has fewer than 32 triggers; the 64th character of part 1, and the 32nd of part 2, stand for all that is
// left.
//
// Above 64, the block size is the least at which all pieces fit: no character stands for more than one piece (but for
// block size 3 * 2^30). A part is then a function of the input and its block size alone.
class CtphHasher {
 public:
  // length 64..1024, else Error{invalid_argument}.
  explicit CtphHasher(uint32_t length = kCtphLength);

  // size bytes; null with 0.
  void update(const void* bytes, size_t size);

  // The digest of all bytes so far. Changes nothing.
  CtphDigest digest() const;

 private:
  friend CtphDigest ctph(const void* bytes, size_t size, StopCheck* stop);

  void expect_total(uint64_t size) noexcept;
  void process(const uint8_t* p, size_t n) noexcept;
  void advance(const uint8_t* p, size_t n) noexcept;
  void trigger(uint32_t exponent, uint64_t seen) noexcept;
  void trigger_plain(uint32_t e) noexcept;
  void trigger_long(uint32_t e) noexcept;
  uint8_t* chars(uint32_t e) noexcept { return chars_.data() + size_t{e} * length_; }
  const uint8_t* chars(uint32_t e) const noexcept { return chars_.data() + size_t{e} * length_; }

  uint32_t length_;
  uint32_t cap_ = kCtphExponents;  // no exponent above can be asked for
  uint32_t least_ = 0;             // no exponent below can be chosen any more
  uint32_t live_ = 0;              // exponents that had a trigger: 0..live_ - 1; piece_[live_] serves all above
  uint32_t split_ = 0;             // exponents with 32 triggers, whose part 2 ends in a piece of its own: 0..split_ - 1
  uint64_t total_ = 0;
  uint64_t expected_ = 0;                                // a lower bound of the final total
  std::array<uint32_t, kCtphExponents + 2> piece_;       // hash of the open piece of part 1; low 6 bits count
  std::array<uint32_t, kCtphExponents + 2> rest_{};      // hash of part 2's last piece, where split
  std::array<uint32_t, kCtphExponents + 2> count_{};     // triggers, while a character of their own is left
  std::array<uint8_t, kCtphExponents + 2> last_{};       // 1 + the last character by the latest trigger; 0 none
  std::array<uint8_t, kCtphExponents + 2> rest_last_{};  // the same for part 2
  std::array<uint8_t, 7> window_{};                      // the latest 7 bytes
  std::vector<uint8_t> chars_;                           // length_ values of 6 bits for each exponent
};

// ssdeep's digest of a document: what CtphHasher gives, byte for byte that of ssdeep 2.14.1. bytes may be null with
// size 0. stop may be null; else it is polled every 256 KB.
CtphDigest ctph(const void* bytes, size_t size, StopCheck* stop = nullptr);

// A longer digest, 65..1024 characters at most; else Error{invalid_argument}. Not comparable with ssdeep's digests.
CtphDigest ctph_long(const void* bytes, size_t size, int64_t length, StopCheck* stop = nullptr);

// `blocksize:part1:part2`; `long256:blocksize:part1:part2` for a digest of length 256.
std::string ctph_to_text(const CtphView& digest);

// Reads the text form; `,` and what follows it (ssdeep's file name) is dropped. Part lengths as in view_ctph().
// Error{invalid_text} with a hint.
CtphDigest ctph_from_text(std::string_view text);

// The stored and wire form, equal for equal digests only:
//   byte 0 format 1; 1 exponent; 2..3 length; 4..5 characters of part 1; 6..7 of part 2 (high byte first); the parts.
inline constexpr size_t kCtphHeaderSize = 8;
inline size_t ctph_size(const CtphView& d) noexcept { return kCtphHeaderSize + d.part1.size() + d.part2.size(); }

void write_ctph(const CtphView& digest, void* out) noexcept;

// Checks all of it; Error{corrupt_data} names what is wrong. Of length 64: at most 64 characters of a part after runs
// are cut to three, as ssdeep demands, and 1024 before that; else at most `length` characters.
CtphView view_ctph(const void* bytes, size_t size);

// The value 0..63 of a character of the alphabet, 255 of any other.
uint8_t ctph_value(char c) noexcept;

// Writes the values of a part's characters, without the fourth and later ones of a run; at most `room`. Returns how
// many.
size_t cut_runs(std::string_view part, uint8_t* out, size_t room) noexcept;
// The values of all characters, or of those that cut_runs() leaves.
std::vector<uint8_t> ctph_values(std::string_view part, bool cut);
// The grams of q values, 1..10, with repetitions, ascending.
std::vector<uint64_t> sorted_grams(const std::vector<uint8_t>& values, uint32_t q);

}  // namespace neardup
