// The kinds of values that are compared. One table says what each of them is. Code that does something for every
// kind asks the table, or has an array by Kind of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/exact/int_set.h"
#include "core/signature/bit_code.h"
#include "core/signature/ctph.h"
#include "core/signature/minhash_encode.h"

namespace neardup {

enum class Kind : uint8_t { minhash, simhash, ctph, bits, set };
inline constexpr size_t kKinds = static_cast<size_t>(Kind::set) + 1;

// A value: the member of its kind. Points into the caller's bytes. Plain data.
struct AnyValue {
  AnyValue() noexcept : signature{} {}
  // NOLINTBEGIN(google-explicit-constructor): so that a view will do
  AnyValue(const MinhashView& v) noexcept : signature(v) {}
  AnyValue(const CtphView& v) noexcept : digest(v) {}
  AnyValue(const SetView& v) noexcept : set(v) {}
  AnyValue(const BitCode& v) noexcept : code(v) {}
  // NOLINTEND(google-explicit-constructor)
  explicit AnyValue(uint64_t v) noexcept : simhash(v) {}

  union {
    MinhashView signature;
    uint64_t simhash;
    CtphView digest;
    SetView set;
    BitCode code;  // of a bit string of another length than a code's only that length is stored
  };
};

static_assert(std::is_trivially_copyable_v<AnyValue> && std::is_trivially_destructible_v<AnyValue>);

// The forms of a value within an lsh_query. Byte by byte: docs/format.md. Decoders are total: they accept or throw, and
// what they accept is safe for every operation. Those that throw name what is wrong: Error{corrupt_data} of bytes,
// Error{invalid_text} of a text.
struct ValueForms {
  // Views stored bytes, which must be 4-byte aligned.
  AnyValue (*view)(const uint8_t* bytes, size_t size);
  size_t (*stored_size)(const AnyValue& value) noexcept;
  void (*store)(const AnyValue& value, uint8_t* out) noexcept;
  std::string (*to_text)(const AnyValue& value);
  // The stored form. *why: set where the text is none of the kind's and the caller has to name the whole text.
  std::vector<uint8_t> (*from_text)(std::string_view text, const char** why);
  std::vector<uint8_t> (*to_wire)(const AnyValue& value);
  std::vector<uint8_t> (*from_wire)(const uint8_t* bytes, size_t size);
};

struct KindInfo {
  const char* name;  // of the SQL type; "set" of sets, which are arrays
  ValueForms forms;
  // True if the measures of the kind take the two values.
  bool (*comparable)(const AnyValue& x, const AnyValue& y) noexcept;
  // Describes for people how a value was made. Null where all values are comparable.
  std::string (*describe)(const AnyValue& value);
  // True if the value is near nothing, itself included.
  bool (*is_empty)(const AnyValue& value) noexcept;
};

const KindInfo& info(Kind kind) noexcept;

}  // namespace neardup
