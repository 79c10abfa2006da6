// The inputs of test/data/golden_ctph.tsv, by kind, seed and size: shared by the unit test and by the oracle program
// that wrote the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace neardup::reference {

inline constexpr const char* kCtphInputKinds[] = {"zeros", "random", "letters", "period", "runs", "tail", "head"};

inline std::string ctph_input(const std::string& kind, uint64_t seed, size_t size) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  // xorshift64*
  const auto next = [&state] {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<uint32_t>(state * 0x2545f4914f6cdd1du >> 33);
  };
  std::string s;
  if (kind == "zeros") return std::string(size, '\0');
  if (kind == "random")
    while (s.size() < size) s += static_cast<char>(next());
  if (kind == "letters")
    while (s.size() < size) s += "etaoin shrdlucmfw\n"[next() % 18];
  if (kind == "period") {
    const size_t period = 1 + next() % 500;
    while (s.size() < size) s += s.size() < period ? static_cast<char>(next()) : s[s.size() - period];
  }
  if (kind == "runs")
    while (s.size() < size) {
      const char c = static_cast<char>(next() % 3 * 77);  // first: compilers differ in the order of arguments
      s.append(1 + next() % 40, c);
    }
  // Random, then nothing but zeros; and the other way round.
  if (kind == "tail") {
    while (s.size() < size / 3) s += static_cast<char>(next());
    s.resize(size, '\0');
  }
  if (kind == "head") {
    s.resize(size - size / 3, '\0');
    while (s.size() < size) s += static_cast<char>(next());
  }
  s.resize(size);
  return s;
}

}  // namespace neardup::reference
