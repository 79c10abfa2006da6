// See arrow.h.
#include "binding/arrow.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/base/named_values.h"

// The structures of the interface, as its specification writes them.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace neardup::python {
namespace {

// Owns what a producer has made, and gives it back.
template <class T>
class Released {
 public:
  Released() { std::memset(&value_, 0, sizeof value_); }
  // Takes over, as the interface has it: what is moved from has no release.
  explicit Released(T* from) : value_(*from) { from->release = nullptr; }
  Released(Released&& other) noexcept : value_(other.value_) { other.value_.release = nullptr; }
  Released& operator=(Released&&) = delete;
  ~Released() {
    if (value_.release != nullptr) value_.release(&value_);
  }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T* get() { return &value_; }

 private:
  T value_;
};

enum class Layout { strings, large_strings, views, nothing };

struct Format {
  Layout layout;
  Kind kind;
};
constexpr NamedValue<Format> kFormats[] = {
    {"u", {Layout::strings, Kind::text}},        {"U", {Layout::large_strings, Kind::text}},
    {"vu", {Layout::views, Kind::text}},         {"z", {Layout::strings, Kind::bytes}},
    {"Z", {Layout::large_strings, Kind::bytes}}, {"vz", {Layout::views, Kind::bytes}},
    {"n", {Layout::nothing, Kind::text}},
};

[[noreturn]] void raise_broken(const char* what) { raise_value_error(std::string("broken Arrow array: ") + what); }

Format read_format(const ArrowSchema& schema, Accepts accepts) {
  if (schema.dictionary != nullptr)
    raise_type_error("texts is an Arrow array with a dictionary", "Decode it: array.cast('string').");
  const std::string_view name = schema.format == nullptr ? "" : schema.format;
  if (name == "+s") raise_type_error("texts is an Arrow table, not an array of strings", "Pass one of its columns.");
  const auto format = value_named(kFormats, name);
  if (!format)
    raise_type_error("texts is an Arrow array of the format \"" + std::string(name) + "\", not of strings",
                     "The types string, large_string, string_view, binary, large_binary and binary_view are taken.");
  if (format->kind == Kind::bytes && accepts == Accepts::text)
    raise_type_error("texts must be strings, and is an Arrow array of binary values", "Cast it: array.cast('string').");
  return *format;
}

// Value i of an array, counted from its offset.
template <class Offset>
Document string_at(const ArrowArray& array, size_t i) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
  const Offset begin = offsets[i];
  const Offset end = offsets[i + 1];
  if (begin < 0 || end < begin) raise_broken("its offsets do not ascend");
  return {static_cast<const uint8_t*>(array.buffers[2]) + begin, static_cast<size_t>(end - begin), false};
}

// A view: a length; up to 12 bytes of the value, or its first 4, the number of a buffer and a place in it.
Document view_at(const ArrowArray& array, size_t i) {
  constexpr size_t kViewSize = 16;
  constexpr int32_t kInline = 12;
  const auto* view = static_cast<const uint8_t*>(array.buffers[1]) + i * kViewSize;
  int32_t length;
  int32_t buffer;
  int32_t offset;
  std::memcpy(&length, view, sizeof length);
  if (length < 0) raise_broken("a view has a negative length");
  if (length <= kInline) return {view + 4, static_cast<size_t>(length), false};
  std::memcpy(&buffer, view + 8, sizeof buffer);
  std::memcpy(&offset, view + 12, sizeof offset);
  // Behind validity and views come the buffers of data and one with their sizes.
  const int64_t buffers = array.n_buffers - 3;
  if (buffer < 0 || buffer >= buffers || offset < 0) raise_broken("a view points at no buffer");
  const auto* sizes = static_cast<const int64_t*>(array.buffers[array.n_buffers - 1]);
  if (int64_t{offset} + length > sizes[buffer]) raise_broken("a view ends behind its buffer");
  return {static_cast<const uint8_t*>(array.buffers[2 + buffer]) + offset, static_cast<size_t>(length), false};
}

class ArrowDocuments final : public Documents {
 public:
  explicit ArrowDocuments(Format format) : format_(format) {}

  void append(Released<ArrowArray> array) {
    if (array->length < 0 || array->offset < 0) raise_broken("a negative length");
    if (format_.layout != Layout::nothing && array->length > 0 && array->n_buffers < 3) raise_broken("too few buffers");
    begins_.push_back(size_);
    size_ += static_cast<size_t>(array->length);
    arrays_.push_back(std::move(array));
  }

  size_t size() const override { return size_; }
  Kind kind() const override { return format_.kind; }

  void add(size_t i, Chunk* chunk) override {
    const size_t at = static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), i) - begins_.begin()) - 1;
    const ArrowArray& array = *arrays_[at].get();
    chunk->add(value(array, i - begins_[at] + static_cast<size_t>(array.offset)));
  }

 private:
  Document value(const ArrowArray& array, size_t i) const {
    if (format_.layout == Layout::nothing) return Document{};
    const auto* valid = static_cast<const uint8_t*>(array.buffers[0]);
    if (valid != nullptr && (valid[i / 8] >> (i % 8) & 1) == 0) return Document{};
    if (format_.layout == Layout::strings) return string_at<int32_t>(array, i);
    if (format_.layout == Layout::large_strings) return string_at<int64_t>(array, i);
    return view_at(array, i);
  }

  const Format format_;
  std::vector<Released<ArrowArray>> arrays_;
  std::vector<size_t> begins_;  // number of the first document of each array
  size_t size_ = 0;
};

template <class T>
T* pointer_in(nb::handle capsule, const char* name) {
  auto* pointer = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (pointer == nullptr) throw nb::python_error();
  return pointer;
}

std::unique_ptr<Documents> documents_of_array(nb::handle texts, Accepts accepts) {
  const nb::tuple pair = nb::cast<nb::tuple>(texts.attr("__arrow_c_array__")());
  const Released<ArrowSchema> schema(pointer_in<ArrowSchema>(pair[0], "arrow_schema"));
  auto out = std::make_unique<ArrowDocuments>(read_format(*schema.operator->(), accepts));
  out->append(Released<ArrowArray>(pointer_in<ArrowArray>(pair[1], "arrow_array")));
  return out;
}

void check_stream(int status, ArrowArrayStream* stream) {
  if (status == 0) return;
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  const char* why = stream->get_last_error(stream);
  raise_value_error(std::string("the Arrow stream ended with an error: ") + (why == nullptr ? "unknown" : why));
}

// The capsule of the stream. Not valid where a package that makes it is missing: pandas needs pyarrow for it, not for
// its elements.
nb::object open_stream(nb::handle texts) {
  try {
    return texts.attr("__arrow_c_stream__")();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    return {};
  }
}

std::unique_ptr<Documents> documents_of_stream(nb::handle texts, Accepts accepts) {
  const nb::object capsule = open_stream(texts);
  if (!capsule.is_valid()) return nullptr;
  Released<ArrowArrayStream> stream(pointer_in<ArrowArrayStream>(capsule, "arrow_array_stream"));
  Released<ArrowSchema> schema;
  check_stream(stream->get_schema(stream.get(), schema.get()), stream.get());
  auto out = std::make_unique<ArrowDocuments>(read_format(*schema.get(), accepts));
  for (;;) {
    Released<ArrowArray> array;
    check_stream(stream->get_next(stream.get(), array.get()), stream.get());
    if (array->release == nullptr) return out;
    out->append(std::move(array));
  }
}

}  // namespace

std::unique_ptr<Documents> arrow_documents(nb::handle texts, Accepts accepts) {
  if (PyList_Check(texts.ptr()) || PyTuple_Check(texts.ptr())) return nullptr;
  if (nb::hasattr(texts, "__arrow_c_array__")) return documents_of_array(texts, accepts);
  if (nb::hasattr(texts, "__arrow_c_stream__")) return documents_of_stream(texts, accepts);
  return nullptr;
}

}  // namespace neardup::python
