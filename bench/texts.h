// Documents with the word lengths and word repetition of real text, the same on every machine, from their number alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/unicode/utf8.h"

namespace neardup::bench {

enum class Script { ascii, cyrillic, chinese, mixed };

// Words of 1 to 16 letters, by their frequency per mille in running English text; a word is the more frequent the
// smaller its number (uniform cubed). `mixed` is ASCII with typographic quotes and accented letters now and then.
class Texts {
 public:
  explicit Texts(Script script) : script_(script) {}

  // Document i: the first word border behind `bytes` bytes.
  std::string document(uint64_t i, size_t bytes) const {
    Generator random{mix64(i * 4 + static_cast<uint64_t>(script_) + 1)};
    std::string out;
    out.reserve(bytes + 64);
    if (script_ == Script::chinese) {
      while (out.size() < bytes) {
        append(&out, 0x4e00 + static_cast<uint32_t>(3500 * random.cubed()));
        const uint64_t r = random.next() % 100;
        if (r < 8) append(&out, 0xff0c);
        if (r >= 97) append(&out, 0x3002);
      }
      return out;
    }
    bool start = true;
    while (out.size() < bytes) {
      word(&out, random, start);
      start = false;
      const uint64_t r = random.next() % 1000;
      if (r < 55) {
        out += ", ";
      } else if (r < 115) {
        out += r < 70 ? ".\n" : ". ";
        start = true;
      } else if (r < 130) {
        out += script_ == Script::mixed ? " \xe2\x80\x93 " : " - ";
      } else {
        out += ' ';
      }
    }
    return out;
  }

 private:
  struct Generator {
    uint64_t state;
    uint64_t next() { return mix64(state += 0x9e3779b97f4a7c15u); }
    double cubed() {
      const double u = static_cast<double>(next() >> 11) * 0x1p-53;
      return u * u * u;
    }
  };

  static void append(std::string* out, uint32_t c) {
    uint8_t bytes[4];
    out->append(reinterpret_cast<const char*>(bytes), encode_utf8(c, bytes));
  }

  void word(std::string* out, Generator& random, bool capital) const {
    static constexpr std::array<int, 16> kPerMille = {32, 170, 205, 158, 108, 84, 79, 58, 43, 30, 17, 9, 4, 2, 0, 1};
    int64_t at = static_cast<int64_t>(random.next() % 1000);
    size_t length = 0;
    while (length < 15 && at >= kPerMille[length]) at -= kPerMille[length++];
    ++length;
    if (random.next() % 60 == 0) {
      *out += std::to_string(random.next() % (length < 4 ? 100 : 3000));
      return;
    }
    const uint64_t known = length < 3 ? 30 : length < 5 ? 800 : 4000;
    uint64_t letters = mix64(static_cast<uint64_t>(static_cast<double>(known) * random.cubed()) << 8 | length);
    static constexpr char kLetters[] = "etaoinshrdlucmfwypvbgkjqxzetaoinshrdluetaoinetao";
    for (size_t i = 0; i < length; ++i) {
      const unsigned pick = static_cast<unsigned>(letters % 48);
      letters = letters / 48 + (letters << 59);
      if (script_ == Script::cyrillic) {
        append(out, (capital && i == 0 ? 0x410u : 0x430u) + pick % 32);
      } else if (script_ == Script::mixed && pick == 24) {
        append(out, 0xe9);
      } else {
        *out += static_cast<char>(kLetters[pick] - (capital && i == 0 ? 32 : 0));
      }
    }
  }

  Script script_;
};

}  // namespace neardup::bench
