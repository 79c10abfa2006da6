// Arguments from Python, as values of the core; mistakes become TypeError and ValueError.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <string_view>

#include "core/document/shingle.h"

namespace neardup::python {

namespace nb = nanobind;

// DETAIL and HINT follow the message in lines of their own, as psql shows them.
[[noreturn]] void raise_type_error(const std::string& message, const std::string& hint = {});
[[noreturn]] void raise_value_error(const std::string& message, const std::string& hint = {});

// Makes Error a ValueError. Once, when the module is loaded.
void translate_errors();

// str(value).
std::string printed(nb::handle value);
// "a float: 1.5", for messages.
std::string described(nb::handle value);

// An integer, of Python or NumPy. TypeError for what is none, ValueError beyond 64 bits.
int64_t integer(nb::handle value, const char* name);
// Nothing for None.
std::optional<int64_t> optional_integer(nb::handle value, const char* name);

// The elements of what can be iterated, as a tuple; not valid for what cannot. What the iteration raises is raised.
nb::object element_tuple(nb::handle value);

// A text that lives as long as `value`. TypeError.
std::string_view text(nb::handle value, const char* name);

// threads: 1..256, or 0 for the processors that this process may use.
unsigned thread_count(nb::handle value);

// The form of a function's values: the names that `result` may have. ValueError; ImportError where NumPy is missing.
enum class Result { bytes, text, numpy, list };
Result result_argument(nb::handle value, std::initializer_list<Result> allowed);

// The kind of a document: str, signed as text, or bytes.
enum class Kind { text, bytes };

// The unit and length of shingles. unit None: words of text, bytes of bytes; k None: text_k or byte_k.
struct Shingles {
  Unit unit;
  int64_t k;
};
Shingles shingles_argument(nb::handle k, nb::handle unit, Kind kind, int64_t text_k, int64_t byte_k);

}  // namespace neardup::python
