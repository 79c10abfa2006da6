// See arguments.h.
#include "binding/arguments.h"

#include <algorithm>
#include <sched.h>

#include "core/base/named_values.h"

namespace neardup::python {
namespace {

constexpr int64_t kMostThreads = 256;

constexpr NamedValue<Result> kResults[] = {
    {"bytes", Result::bytes}, {"text", Result::text}, {"numpy", Result::numpy}, {"list", Result::list}};

std::string with_lines(std::string message, const std::string& detail, const std::string& hint) {
  if (!detail.empty()) message += "\nDETAIL:  " + detail;
  if (!hint.empty()) message += "\nHINT:  " + hint;
  return message;
}

void demand_numpy() {
  if (nb::steal(PyImport_ImportModule("numpy")).is_valid()) return;
  PyErr_SetString(PyExc_ImportError, with_lines("result='numpy' needs NumPy", {}, "pip install numpy").c_str());
  throw nb::python_error();
}

int64_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace

void raise_type_error(const std::string& message, const std::string& hint) {
  throw nb::type_error(with_lines(message, {}, hint).c_str());
}

void raise_value_error(const std::string& message, const std::string& hint) {
  throw nb::value_error(with_lines(message, {}, hint).c_str());
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& e) {
      PyErr_SetString(PyExc_ValueError, with_lines(e.what(), e.detail(), e.hint()).c_str());
    }
  });
}

std::string printed(nb::handle value) { return std::string(text(nb::str(value), "a text")); }

std::string described(nb::handle value) {
  constexpr size_t kShown = 60;
  const std::string type = printed(value.type().attr("__name__"));
  const nb::object ascii = nb::steal(PyObject_ASCII(value.ptr()));
  if (!ascii.is_valid()) throw nb::python_error();
  std::string shown = printed(ascii);
  if (shown.size() > kShown) shown = shown.substr(0, kShown) + "..";
  return (std::string_view("aeiou").find(type[0]) == std::string_view::npos ? "a " : "an ") + type + ": " + shown;
}

int64_t integer(nb::handle value, const char* name) {
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    raise_type_error(std::string(name) + " must be an integer, and is " + described(value));
  }
  int overflow = 0;
  const int64_t out = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) raise_value_error(std::string(name) + " must fit 64 bits, and is " + described(value));
  return out;
}

nb::object element_tuple(nb::handle value) {
  const nb::object iterator = nb::steal(PyObject_GetIter(value.ptr()));
  if (!iterator.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    return {};
  }
  nb::object elements = nb::steal(PySequence_Tuple(iterator.ptr()));
  if (!elements.is_valid()) throw nb::python_error();
  return elements;
}

std::optional<int64_t> optional_integer(nb::handle value, const char* name) {
  if (value.is_none()) return std::nullopt;
  return integer(value, name);
}

std::string_view text(nb::handle value, const char* name) {
  if (!PyUnicode_Check(value.ptr())) raise_type_error(std::string(name) + " must be a str, and is " + described(value));
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

unsigned thread_count(nb::handle value) {
  int64_t threads = integer(value, "threads");
  if (threads < 0 || threads > kMostThreads)
    raise_value_error("threads must be between 0 and 256: " + std::to_string(threads),
                      "0 takes as many threads as there are processors.");
  if (threads == 0) threads = std::min(usable_processors(), kMostThreads);
  return static_cast<unsigned>(threads);
}

Result result_argument(nb::handle value, std::initializer_list<Result> allowed) {
  const std::string_view name = text(value, "result");
  const auto result = value_named(kResults, name);
  std::string names;
  for (const Result possible : allowed) {
    if (result == possible) {
      if (result == Result::numpy) demand_numpy();
      return possible;
    }
    names += std::string(names.empty() ? "" : ", ") + "'" + find_name(kResults, possible) + "'";
  }
  raise_value_error("unknown result \"" + std::string(name) + "\"", "Results are " + names + ".");
}

Shingles shingles_argument(nb::handle k, nb::handle unit, Kind kind, int64_t text_k, int64_t byte_k) {
  const std::optional<int64_t> units = optional_integer(k, "k");
  if (kind == Kind::text) {
    const Unit parsed = unit.is_none() ? Unit::word : parse_text_unit(text(unit, "unit"));
    return {parsed, units.value_or(text_k)};
  }
  if (!unit.is_none()) {
    const std::string_view name = text(unit, "unit");
    if (name != unit_name(Unit::byte))
      raise_value_error("unit \"" + std::string(name) + "\" does not apply to bytes",
                        "Pass the document as str to cut it into words or characters: document.decode().");
  }
  return {Unit::byte, units.value_or(byte_k)};
}

}  // namespace neardup::python
