// jaccard, hamming and ctph_score of signatures.
#pragma once

#include <nanobind/nanobind.h>

namespace neardup::python {

// Arguments and results as neardup_core/__init__.py documents them.
nanobind::object jaccard(nanobind::handle a, nanobind::handle b);
nanobind::object hamming(nanobind::handle a, nanobind::handle b);
nanobind::object ctph_score(nanobind::handle a, nanobind::handle b);

}  // namespace neardup::python
