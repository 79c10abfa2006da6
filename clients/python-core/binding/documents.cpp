// See documents.h: Python objects. arrow.cpp has Arrow arrays.
#include "binding/documents.h"

#include "binding/arrow.h"

namespace neardup::python {
namespace {

constexpr char kMissingHint[] = "A missing text is None.";

// A str in UTF-8 is in the object itself when it is ASCII. Others are encoded for a while: the encoding that Python
// would keep in the object doubles its size.
bool is_ascii(nb::handle text) {
#ifdef Py_LIMITED_API
  static PyObject* const name = PyUnicode_InternFromString("isascii");
  PyObject* const arguments[] = {text.ptr()};
  const nb::object answer = nb::steal(PyObject_VectorcallMethod(name, arguments, 1, nullptr));
  if (!answer.is_valid()) throw nb::python_error();
  return answer.ptr() == Py_True;
#else
  return PyUnicode_IS_ASCII(text.ptr());
#endif
}

[[noreturn]] void raise_not_encodable(nb::handle text, const std::string& name) {
  const Py_ssize_t length = PyUnicode_GetLength(text.ptr());
  for (Py_ssize_t i = 0; i < length; ++i) {
    const Py_UCS4 c = PyUnicode_ReadChar(text.ptr(), i);
    if (c < 0xd800 || c > 0xdfff) continue;
    PyErr_Clear();
    char code[8];
    std::snprintf(code, sizeof code, "U+%04X", static_cast<unsigned>(c));
    raise_value_error(name + " has a lone surrogate, " + code + ", at index " + std::to_string(i),
                      "UTF-8 has no surrogates. Decode the source without errors='surrogateescape', or replace them: "
                      "text.encode('utf-8', 'replace').decode().");
  }
  throw nb::python_error();
}

// Adds a str, bytes or None.
void add_object(nb::handle object, const std::string& name, Chunk* chunk) {
  PyObject* const o = object.ptr();
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (object.is_none()) {
    chunk->add(Document{});
  } else if (PyBytes_Check(o)) {
    PyBytes_AsStringAndSize(o, &data, &size);
    chunk->add({reinterpret_cast<const uint8_t*>(data), static_cast<size_t>(size), false});
  } else if (is_ascii(object)) {
    const char* text = PyUnicode_AsUTF8AndSize(o, &size);
    if (text == nullptr) raise_not_encodable(object, name);
    chunk->add({reinterpret_cast<const uint8_t*>(text), static_cast<size_t>(size), false});
  } else {
    nb::object encoded = nb::steal(PyUnicode_AsUTF8String(o));
    if (!encoded.is_valid()) raise_not_encodable(object, name);
    PyBytes_AsStringAndSize(encoded.ptr(), &data, &size);
    chunk->add({reinterpret_cast<const uint8_t*>(data), static_cast<size_t>(size), false}, std::move(encoded));
  }
}

class ObjectDocuments final : public Documents {
 public:
  // objects: a tuple, which nobody else changes.
  ObjectDocuments(nb::object objects, bool single, Accepts accepts)
      : objects_(std::move(objects)),
        size_(static_cast<size_t>(PyTuple_Size(objects_.ptr()))),
        single_(single),
        accepts_(accepts) {
    for (size_t i = 0; i < size_; ++i) {
      if (at(i).is_none()) continue;
      kind_ = PyBytes_Check(at(i).ptr()) ? Kind::bytes : Kind::text;
      check(i);
      break;
    }
  }

  size_t size() const override { return size_; }
  Kind kind() const override { return kind_; }
  bool is_single() const override { return single_; }
  std::string name(size_t i) const override { return single_ ? "texts" : Documents::name(i); }

  void add(size_t i, Chunk* chunk) override {
    check(i);
    if (PyUnicode_Check(at(i).ptr()) && !is_ascii(at(i))) {
      add_object(at(i), name(i), chunk);
    } else {
      add_object(at(i), {}, chunk);
    }
  }

 private:
  nb::handle at(size_t i) const { return PyTuple_GetItem(objects_.ptr(), static_cast<Py_ssize_t>(i)); }

  // TypeError unless document i is None or of the kind of the first one.
  void check(size_t i) const {
    const nb::handle object = at(i);
    const bool is_bytes = PyBytes_Check(object.ptr());
    if (!is_bytes && !PyUnicode_Check(object.ptr()) && !object.is_none())
      raise_type_error(name(i) + " must be str" + (accepts_ == Accepts::text ? "" : ", bytes") + " or None, and is " +
                           described(object),
                       kMissingHint);
    if (is_bytes && accepts_ == Accepts::text)
      raise_type_error(name(i) + " must be str, and is bytes", "Decode it: document.decode().");
    if (accepts_ == Accepts::mixed || object.is_none() || (kind_ == Kind::bytes) == is_bytes) return;
    raise_type_error(
        name(i) + (is_bytes ? " is bytes, and those before are str" : " is str, and those before are bytes"),
        "Signatures of text and of bytes cannot be compared: sign them by two calls.");
  }

  const nb::object objects_;
  const size_t size_;
  const bool single_;
  const Accepts accepts_;
  Kind kind_ = Kind::text;
};

}  // namespace

std::unique_ptr<Documents> read_documents(nb::handle texts, Accepts accepts) {
  PyObject* const o = texts.ptr();
  if (texts.is_none() || PyUnicode_Check(o) || PyBytes_Check(o)) {
    nb::object objects = nb::steal(PyTuple_Pack(1, o));
    if (!objects.is_valid()) throw nb::python_error();
    return std::make_unique<ObjectDocuments>(std::move(objects), true, accepts);
  }
  if (auto arrow = arrow_documents(texts, accepts)) return arrow;
  const bool has_no_order = PyAnySet_Check(o) || PyDict_Check(o);
  const bool is_buffer = PyByteArray_Check(o) || PyMemoryView_Check(o);
  nb::object objects = has_no_order || is_buffer ? nb::object() : element_tuple(texts);
  if (!objects.is_valid()) {
    raise_type_error("texts must be a str, bytes, or a sequence of them, and is " + described(texts),
                     is_buffer      ? "Pass bytes: bytes(document)."
                     : has_no_order ? "The signatures come in the order of the texts: pass a list."
                                    : "Lists, tuples, NumPy arrays of objects and Arrow arrays of strings are taken.");
  }
  return std::make_unique<ObjectDocuments>(std::move(objects), false, accepts);
}

}  // namespace neardup::python
