// Names that users write for the values of an enum: one table for reading, writing and listing them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace neardup {

template <class T>
struct NamedValue {
  const char* name;
  T value;
};

// The value of a name, which must stand in the table letter by letter.
template <class T, size_t N>
constexpr std::optional<T> value_named(const NamedValue<T> (&table)[N], std::string_view name) noexcept {
  for (const NamedValue<T>& entry : table)
    if (name == entry.name) return entry.value;
  return std::nullopt;
}

// The first name of a value; `none` where it has none.
template <class T, size_t N>
constexpr const char* find_name(const NamedValue<T> (&table)[N], T value, const char* none = "?") noexcept {
  for (const NamedValue<T>& entry : table)
    if (value == entry.value) return entry.name;
  return none;
}

// All names of a table, for a message. Cut where they are too many. Plain data.
struct NameList {
  char text[128];
};

// "a, b or c": quote stands around each name, conjunction before the last one.
template <class T, size_t N>
constexpr NameList list_names(const NamedValue<T> (&table)[N], std::string_view quote,
                              std::string_view conjunction) noexcept {
  NameList out{};
  size_t n = 0;
  const auto add = [&](std::string_view text) {
    for (const char c : text)
      if (n + 1 < sizeof out.text) out.text[n++] = c;
  };
  for (size_t i = 0; i < N; ++i) {
    if (i > 0 && i + 1 < N) add(", ");
    if (i > 0 && i + 1 == N) {
      add(" ");
      add(conjunction);
      add(" ");
    }
    add(quote);
    add(table[i].name);
    add(quote);
  }
  return out;
}

}  // namespace neardup
