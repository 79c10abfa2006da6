// The bytes of an lsh_query, whose header core/lsh reads and whose value a kind does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace neardup {

[[noreturn]] inline void refuse_bytes(const std::string& what, std::string hint = {}) {
  throw Error(Errc::corrupt_data, "invalid lsh_query: " + what, {}, std::move(hint));
}

// Numbers in network order.
template <class T>
T load_big_endian(const uint8_t* p) noexcept {
  T v = 0;
  for (size_t i = 0; i < sizeof v; ++i) v = static_cast<T>(v << 8 | p[i]);
  return v;
}
template <class T>
void store_big_endian(T v, uint8_t* p) noexcept {
  for (size_t i = 0; i < sizeof v; ++i) p[i] = static_cast<uint8_t>(v >> 8 * (sizeof v - 1 - i));
}

}  // namespace neardup
