// See batches.h.
#include "binding/batches.h"

#include <algorithm>

#include "binding/crew.h"

namespace neardup::python {
namespace {

// A chunk is so large that threads have enough to share, and so small that what Python has encoded for it, and the
// results, are still in the processor's cache when they are read.
constexpr size_t kChunkBytes = 1 << 20;
constexpr size_t kChunkDocuments = 4096;

// bytes: of documents or of results, what is reached first.
void read_chunk(Documents& documents, size_t from, size_t bytes, size_t bytes_each, Chunk* chunk) {
  const size_t most = std::clamp<size_t>(bytes / std::max<size_t>(bytes_each, 1), 1, kChunkDocuments);
  chunk->clear();
  for (size_t i = from; i < documents.size() && i - from < most && chunk->bytes() < bytes; ++i) documents.add(i, chunk);
}

void work_on(Crew& crew, const Chunk& chunk, size_t from, const Recipe& recipe, std::vector<Made>* made) {
  const nb::gil_scoped_release unlocked;
  crew.run(chunk.size(), [&](size_t i, StopCheck* stop) {
    Made& out = (*made)[i];
    out.missing = chunk[i].missing;
    if (!out.missing) recipe.make(from + i, chunk[i], stop, &out);
  });
}

}  // namespace

nb::object make_all(Documents& documents, unsigned threads, const Recipe& recipe) {
  const size_t n = documents.size();
  const bool is_array = !recipe.take;
  nb::object results = is_array ? nb::none() : nb::steal(PyList_New(static_cast<Py_ssize_t>(n)));
  if (!results.is_valid()) throw nb::python_error();
  const auto crew_size = static_cast<unsigned>(std::clamp<size_t>(n, 1, threads));
  Crew crew(crew_size);
  Chunk chunk;
  std::vector<Made> made(std::min(n, kChunkDocuments));
  for (size_t at = 0; at < n; at += chunk.size()) {
    read_chunk(documents, at, kChunkBytes * crew_size, recipe.bytes_each, &chunk);
    work_on(crew, chunk, at, recipe, &made);
    for (size_t i = 0; i < chunk.size(); ++i) {
      if (is_array && made[i].missing)
        raise_value_error(documents.name(at + i) + (chunk[i].missing ? " is None" : " has no shingle") +
                              ", and a NumPy array has no place for None",
                          "Leave it out, or take the result as a list: without result='numpy'.");
      if (is_array) continue;
      nb::object value = made[i].missing ? nb::none() : recipe.take(made[i]);
      PyList_SetItem(results.ptr(), static_cast<Py_ssize_t>(at + i), value.release().ptr());
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  if (is_array || !documents.is_single()) return results;
  return nb::borrow(PyList_GetItem(results.ptr(), 0));
}

}  // namespace neardup::python
