// Text of a column or an argument that may be NULL, compared with constants. NULL equals nothing.
#pragma once

#include <cstring>
#include <initializer_list>

namespace neardup {

inline bool equals(const char* value, const char* constant) { return value != nullptr && strcmp(value, constant) == 0; }

inline bool equals_any(const char* value, std::initializer_list<const char*> constants) {
  for (const char* constant : constants)
    if (equals(value, constant)) return true;
  return false;
}

}  // namespace neardup
