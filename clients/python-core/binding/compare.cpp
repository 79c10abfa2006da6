// See compare.h. Each function takes two signatures, a signature and a list, two lists of one length, or NumPy arrays.
#include "binding/compare.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/signature/ctph_compare.h"
#include "core/signature/minhash_encode.h"
#include "core/signature/simhash.h"

#include "binding/arguments.h"
#include "binding/arrays.h"

namespace neardup::python {
namespace {

// Calls function(bytes, size, is_text) with what a signature is written in. TypeError.
template <class Function>
auto with_signature(nb::handle value, const std::string& name, Function function) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_Check(value.ptr())) {
    PyBytes_AsStringAndSize(value.ptr(), &data, &size);
    return function(data, static_cast<size_t>(size), false);
  }
  if (!PyUnicode_Check(value.ptr()))
    raise_type_error(name + " must be a signature, as bytes or as its text form, and is " + described(value));
  const std::string_view form = text(value, name.c_str());
  return function(form.data(), form.size(), true);
}

// Signatures read from Python, and what they are compared by.
struct Minhash {
  std::vector<uint8_t> stored;

  static Minhash read(const char* data, size_t size, bool is_text) {
    return {is_text ? minhash_from_text({data, size})
                    : minhash_from_wire(reinterpret_cast<const uint8_t*>(data), size)};
  }
  static nb::object compare(const Minhash& a, const Minhash& b) {
    const MinhashView left = view_minhash(a.stored.data(), a.stored.size());
    const MinhashView right = view_minhash(b.stored.data(), b.stored.size());
    check_comparable(left, right);
    const uint32_t matches = left.empty() || right.empty()
                                 ? 0
                                 : count_matches(left.components, right.components, left.num_perm(), left.bits());
    return nb::float_(estimate_jaccard(matches, left.num_perm(), left.bits()));
  }
};

struct Simhash {
  uint64_t value;

  static Simhash read(const char* data, size_t size, bool is_text) {
    return {is_text ? simhash_from_text({data, size})
                    : simhash_from_wire(reinterpret_cast<const uint8_t*>(data), size)};
  }
  static nb::object compare(const Simhash& a, const Simhash& b) { return nb::int_(hamming_distance(a.value, b.value)); }
};

struct Ctph {
  CtphDigest digest;

  static Ctph read(const char* data, size_t size, bool is_text) {
    if (is_text) return {ctph_from_text({data, size})};
    const CtphView view = view_ctph(data, size);
    return {{view.exponent, view.length, std::string(view.part1), std::string(view.part2)}};
  }
  static nb::object compare(const Ctph& a, const Ctph& b) {
    const CtphView left = digest_view(a.digest);
    const CtphView right = digest_view(b.digest);
    check_comparable(left, right);
    return nb::int_(neardup::ctph_score(left, right));
  }
};

bool stands_alone(nb::handle value) {
  return value.is_none() || PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr());
}

// One side: a signature that stands for all, or a tuple of them.
template <class Signature>
class Side {
 public:
  Side(nb::handle value, const char* name) : name_(name), one_(stands_alone(value)) {
    values_ = one_ ? nb::steal(PyTuple_Pack(1, value.ptr())) : element_tuple(value);
    if (!values_.is_valid()) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      raise_type_error(name_ + " must be a signature, a sequence of them or a NumPy array, and is " + described(value));
    }
    if (one_) read(0);
  }
  bool is_one() const noexcept { return one_; }
  size_t size() const { return static_cast<size_t>(PyTuple_Size(values_.ptr())); }

  // Nothing for None. Valid until the next call.
  const std::optional<Signature>& at(size_t i) {
    if (!one_) read(i);
    return signature_;
  }

 private:
  void read(size_t i) {
    const nb::handle value = PyTuple_GetItem(values_.ptr(), static_cast<Py_ssize_t>(i));
    signature_.reset();
    if (value.is_none()) return;
    const std::string name = one_ ? name_ : name_ + "[" + std::to_string(i) + "]";
    signature_ = with_signature(value, name, Signature::read);
  }

  const std::string name_;
  const bool one_;
  nb::object values_;
  std::optional<Signature> signature_;
};

[[noreturn]] void raise_lengths(size_t a, size_t b) {
  raise_value_error("a and b must have the same length: " + std::to_string(a) + " and " + std::to_string(b));
}

template <class Signature>
nb::object compare_all(nb::handle a, nb::handle b) {
  Side<Signature> left(a, "a");
  Side<Signature> right(b, "b");
  const auto compare = [&](size_t i) -> nb::object {
    const std::optional<Signature>& x = left.at(i);
    const std::optional<Signature>& y = right.at(i);
    return x && y ? Signature::compare(*x, *y) : nb::none();
  };
  if (left.is_one() && right.is_one()) return compare(0);
  if (!left.is_one() && !right.is_one() && left.size() != right.size()) raise_lengths(left.size(), right.size());
  const size_t n = left.is_one() ? right.size() : left.size();
  nb::object out = nb::steal(PyList_New(static_cast<Py_ssize_t>(n)));
  if (!out.is_valid()) throw nb::python_error();
  for (size_t i = 0; i < n; ++i) PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), compare(i).release().ptr());
  return out;
}

template <class T>
using Matrix = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

bool is_array(nb::handle value) { return nb::hasattr(value, "dtype") && nb::hasattr(value, "shape"); }

// Both arguments as contiguous arrays of T, or false.
template <class T>
bool cast_arrays(nb::handle a, nb::handle b, Matrix<T>* left, Matrix<T>* right) {
  return nb::try_cast(a, *left, false) && nb::try_cast(b, *right, false);
}

std::string shape_text(nb::handle array) {
  return printed(array.attr("shape")) + " of " + printed(array.attr("dtype"));
}

// Rows of one array against rows of the other; one row stands for all. `width`: elements of a row.
template <class T, class Out, class Function>
nb::object compare_rows(const Matrix<T>& a, const Matrix<T>& b, size_t width, size_t row_dimensions,
                        Function function) {
  const bool a_is_row = a.ndim() == row_dimensions;
  const bool b_is_row = b.ndim() == row_dimensions;
  const size_t a_rows = a_is_row ? 1 : a.shape(0);
  const size_t b_rows = b_is_row ? 1 : b.shape(0);
  if (!a_is_row && !b_is_row && a_rows != b_rows) raise_lengths(a_rows, b_rows);
  const size_t n = a_is_row ? b_rows : a_rows;
  NewArray<Out> out(n, 0);
  {
    const nb::gil_scoped_release unlocked;
    for (size_t i = 0; i < n; ++i)
      *out.row(i) = function(a.data() + (a_is_row ? 0 : i * width), b.data() + (b_is_row ? 0 : i * width));
  }
  return out.release(a_is_row && b_is_row);
}

// A row of the greatest values is the signature of an empty set.
template <class T>
bool is_empty_row(const T* row, size_t n) {
  return std::all_of(row, row + n, [](T component) { return component == static_cast<T>(~T{0}); });
}

template <class T>
std::optional<nb::object> jaccard_of_arrays(nb::handle a, nb::handle b) {
  Matrix<T> left;
  Matrix<T> right;
  if (!cast_arrays(a, b, &left, &right)) return std::nullopt;
  const auto is_signature = [](const Matrix<T>& m) { return m.ndim() == 1 || m.ndim() == 2; };
  if (!is_signature(left) || !is_signature(right)) return std::nullopt;
  const size_t width = left.shape(left.ndim() - 1);
  if (width != right.shape(right.ndim() - 1))
    throw Error(Errc::incomparable, "cannot compare signatures made differently",
                "left: " + shape_text(a) + "; right: " + shape_text(b));
  check_num_perm(static_cast<int64_t>(width));
  const auto num_perm = static_cast<uint32_t>(width);
  constexpr uint32_t kBits = 8 * sizeof(T);
  return compare_rows<T, double>(left, right, width, 1, [=](const T* x, const T* y) {
    const uint32_t matches =
        is_empty_row(x, num_perm) || is_empty_row(y, num_perm) ? 0 : count_matches(x, y, num_perm, kBits);
    return estimate_jaccard(matches, num_perm, kBits);
  });
}

[[noreturn]] void raise_arrays(nb::handle a, nb::handle b, const char* wanted) {
  const auto shown = [](nb::handle v) { return is_array(v) ? "an array " + shape_text(v) : described(v); };
  raise_type_error(std::string("a and b must both be ") + wanted + ": " + shown(a) + " and " + shown(b));
}

}  // namespace

nb::object jaccard(nb::handle a, nb::handle b) {
  if (!is_array(a) && !is_array(b)) return compare_all<Minhash>(a, b);
  if (auto out = jaccard_of_arrays<uint32_t>(a, b)) return *out;
  if (auto out = jaccard_of_arrays<uint16_t>(a, b)) return *out;
  if (auto out = jaccard_of_arrays<uint8_t>(a, b)) return *out;
  raise_arrays(a, b, "contiguous NumPy arrays of uint32, uint16 or uint8 of one or two dimensions");
}

nb::object hamming(nb::handle a, nb::handle b) {
  if (!is_array(a) && !is_array(b)) return compare_all<Simhash>(a, b);
  Matrix<uint64_t> left;
  Matrix<uint64_t> right;
  if (!cast_arrays(a, b, &left, &right) || left.ndim() > 1 || right.ndim() > 1)
    raise_arrays(a, b, "contiguous NumPy arrays of uint64 of one dimension");
  return compare_rows<uint64_t, int64_t>(left, right, 1, 0, [](const uint64_t* x, const uint64_t* y) {
    return static_cast<int64_t>(hamming_distance(*x, *y));
  });
}

nb::object ctph_score(nb::handle a, nb::handle b) { return compare_all<Ctph>(a, b); }

}  // namespace neardup::python
