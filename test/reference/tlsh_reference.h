// The distance of two TLSH digests by definition, digit by digit from their text; for tests.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace neardup::reference {

// 70 hexadecimal digits, after T1 or alone.
inline int tlsh_distance(std::string_view a, std::string_view b, bool with_length) {
  const auto digits = [](std::string_view text) { return text.starts_with("T1") ? text.substr(2) : text; };
  const std::string left(digits(a));
  const std::string right(digits(b));
  const auto digit = [](const std::string& s, size_t i) { return std::stoi(s.substr(i, 1), nullptr, 16); };
  const auto circular = [](int x, int y, int circle) { return std::min(std::abs(x - y), circle - std::abs(x - y)); };
  int distance = left.compare(0, 2, right, 0, 2) != 0 &&
                 std::stoi(left.substr(0, 2), nullptr, 16) != std::stoi(right.substr(0, 2), nullptr, 16);
  if (with_length) {
    const int apart = circular(digit(left, 3) * 16 + digit(left, 2), digit(right, 3) * 16 + digit(right, 2), 256);
    distance += apart <= 1 ? apart : 12 * apart;
  }
  for (size_t ratio = 4; ratio < 6; ++ratio) {
    const int apart = circular(digit(left, ratio), digit(right, ratio), 16);
    distance += apart <= 1 ? apart : 12 * (apart - 1);
  }
  constexpr int kWeights[4] = {0, 1, 2, 6};
  for (size_t i = 6; i < 70; ++i)
    for (const int place : {4, 1})
      distance += kWeights[std::abs(digit(left, i) / place % 4 - digit(right, i) / place % 4)];
  return distance;
}

}  // namespace neardup::reference
