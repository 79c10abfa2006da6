// Detects the encoding of a document: the procedure of docs/intake.md, but for what converters and uchardet add to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stop.h"
#include "core/unicode/utf16.h"

namespace neardup {

// A guess; name null: none. confidence is in [0, 1].
struct EncodingGuess {
  const char* name = nullptr;  // static
  double confidence = 0;
};

// The part of a document that decides: up to 1 MiB from its start, or from its first byte that is not ASCII where
// that comes late. Polls stop (may be null).
struct Sample {
  const uint8_t* data;
  size_t size;
  bool whole;  // to the document's end
};
Sample encoding_sample(const uint8_t* document, size_t n, StopCheck* stop);

// Detects what needs no converter: a byte order mark, the escapes of ISO-2022 and HZ, ASCII (which is UTF8), UTF-8,
// UTF-16 and UTF-32 without a mark; no guess for the rest, to be decided by a Contest. Linear in the sample.
EncodingGuess certain_encoding(const Sample& sample);

// The parts of a sample around its bytes above ASCII, `most` bytes or little more, without NUL: what is decoded to
// compare encodings. It begins and ends where characters do, unless the sample does not.
std::string encoding_evidence(const Sample& sample, size_t most);

// Encodings that PostgreSQL converts, in its spelling. unlikely: bits that a document in it must be ahead of
// others. Of encodings that decode a document alike the first one is its name.
struct Candidate {
  const char* name;
  double unlikely;
};
std::span<const Candidate> encoding_candidates();

// Evidence, decoded without its broken characters.
struct Decoded {
  std::string_view text;  // UTF-8
  uint64_t broken;        // characters
  uint64_t broken_bytes;
  uint64_t cut_bytes;  // of a character that the end cuts; it is not among the broken ones
};

// Finds the encoding that decodes a sample to the likeliest text. The forms of Unicode take part by themselves.
class Contest {
 public:
  // Looks at `most` bytes or little more.
  Contest(const Sample& sample, size_t most);

  // The bytes to be decoded: encoding_evidence(sample, most).
  const std::string& evidence() const noexcept { return evidence_; }

  void enter(const Candidate& candidate, const Decoded& decoded, bool guessed);  // guessed: by uchardet
  // The candidates, of those that entered, that are worth a longer look.
  std::vector<Candidate> leaders() const;
  // The first of the likeliest. Its confidence: its probability among those that decode the evidence otherwise and an
  // encoding that nobody knows, times the share of characters that are not broken.
  EncodingGuess winner() const;
  // Bits by which the winner is ahead; below 0 where the sample is likelier in an encoding that nobody knows.
  double lead() const;

 private:
  struct Entry {
    Candidate candidate;
    double text_bits;
    double bits;   // with what it is behind from the start
    double whole;  // share of characters
    bool clean;    // all of the evidence is text
    std::string text;
  };
  size_t best() const;

  std::string evidence_;
  std::vector<Entry> entries_;  // the forms of Unicode first
  size_t own_ = 0;              // how many these are
  double unknown_;              // bits of the evidence in an encoding that nobody knows
};

// LE or BE, for UTF-16 and UTF-32 of unknown order: its mark's, else by which the document is the likelier text; LE in
// doubt.
UnicodeForm unicode_order(const uint8_t* document, size_t n, bool utf32);

}  // namespace neardup
