// minhash, simhash, ctph, shingles, shingle_hashes and winnow_hashes of documents, on several threads.
#pragma once

#include <nanobind/nanobind.h>

namespace neardup::python {

// Arguments and results as neardup_core/__init__.py documents them.
nanobind::object minhash(nanobind::handle texts, nanobind::handle k, nanobind::handle unit, nanobind::handle num_perm,
                         nanobind::handle bits, nanobind::handle seed, nanobind::handle threads,
                         nanobind::handle result);
nanobind::object simhash(nanobind::handle texts, nanobind::handle k, nanobind::handle unit, nanobind::handle threads,
                         nanobind::handle result);
nanobind::object ctph(nanobind::handle texts, nanobind::handle length, nanobind::handle threads,
                      nanobind::handle result);
nanobind::object shingles(nanobind::handle texts, nanobind::handle k, nanobind::handle unit, nanobind::handle threads);
nanobind::object shingle_hashes(nanobind::handle texts, nanobind::handle k, nanobind::handle unit,
                                nanobind::handle threads, nanobind::handle result);
nanobind::object winnow_hashes(nanobind::handle texts, nanobind::handle k, nanobind::handle window,
                               nanobind::handle unit, nanobind::handle threads, nanobind::handle result);

}  // namespace neardup::python
