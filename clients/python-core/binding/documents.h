// The documents of a call: Python objects and Arrow arrays, read in chunks while Python's lock is held, as bytes that
// threads may read without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

#include "binding/arguments.h"

namespace neardup::python {

// UTF-8 of a text, or bytes. missing: None.
struct Document {
  const uint8_t* data = nullptr;
  size_t size = 0;
  bool missing = true;
};

// Documents in a row, valid until the next read() into the same chunk and as long as their source.
class Chunk {
 public:
  void clear() {
    documents_.clear();
    encoded_.clear();
    bytes_ = 0;
  }
  void add(Document document) {
    documents_.push_back(document);
    bytes_ += document.size;
  }
  // This overload is for a bytes object, `owner`, that holds the document.
  void add(Document document, nb::object owner) {
    add(document);
    encoded_.push_back(std::move(owner));
  }
  size_t size() const noexcept { return documents_.size(); }
  size_t bytes() const noexcept { return bytes_; }
  const Document& operator[](size_t i) const noexcept { return documents_[i]; }

 private:
  std::vector<Document> documents_;
  std::vector<nb::object> encoded_;
  size_t bytes_ = 0;
};

class Documents {
 public:
  virtual ~Documents() = default;
  virtual size_t size() const = 0;
  // The kind of the first document that is not None; text where all are.
  virtual Kind kind() const = 0;
  // Adds document i. With Python's lock.
  virtual void add(size_t i, Chunk* chunk) = 0;
  // The name of document i in messages: "texts[3]", or "texts" where it came alone.
  virtual std::string name(size_t i) const { return "texts[" + std::to_string(i) + "]"; }
  // One document, not a list of one.
  virtual bool is_single() const { return false; }
};

// The documents that a function takes: bytes beside str where it signs both alike, bytes alone, or only text.
enum class Accepts { text, text_or_bytes, mixed };

// Reads str, bytes and None, a sequence of them, or any object with the Arrow PyCapsule interface. TypeError.
std::unique_ptr<Documents> read_documents(nb::handle texts, Accepts accepts);

}  // namespace neardup::python
