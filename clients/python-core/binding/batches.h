// From documents to results, chunk by chunk: read with Python's lock, worked on without it, taken with it.
#pragma once

#include <cstddef>
#include <functional>
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <vector>

#include "core/base/stop.h"

#include "binding/documents.h"

namespace neardup::python {

// The result of a document on its way to Python. Made in threads, reused from chunk to chunk.
struct Made {
  bool missing = true;  // None
  std::string bytes;
  std::vector<uint64_t> hashes;
  std::vector<std::string> texts;
};

// The functions that make one kind of result.
struct Recipe {
  // Without Python's lock, in several threads. i: the document's number in the call; it is not missing.
  std::function<void(size_t i, const Document&, StopCheck*, Made*)> make;
  // The Python object. With the lock. Nothing: `make` has put the result where it belongs (an array), and `made` tells
  // only whether it is missing.
  std::function<nb::object(const Made&)> take;
  // Bytes that a result takes while it waits, at most or about.
  size_t bytes_each = 0;
};

// The results in the order of the documents: a list, or one result for a single document. Without recipe.take None is
// returned, and a missing result is a ValueError.
nb::object make_all(Documents& documents, unsigned threads, const Recipe& recipe);

}  // namespace neardup::python
