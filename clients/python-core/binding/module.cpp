// The module neardup_core._core. The functions that people call, and their documentation, are in
// neardup_core/__init__.py.
#include <nanobind/nanobind.h>

#include "core/kernels/kernels.h"

#include "binding/arguments.h"
#include "binding/compare.h"
#include "binding/sign.h"

namespace {

namespace nb = nanobind;

// Tests choose "auto", "scalar", "avx2", "avx512" or "neon"; false where this machine cannot run them.
bool use_kernels(nb::handle name) {
  return neardup::force_kernels(std::string(neardup::python::text(name, "name")).c_str());
}

}  // namespace

NB_MODULE(_core, m) {
  using namespace neardup::python;
  translate_errors();
  m.attr("__version__") = NEARDUP_CORE_VERSION;
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  m.def("minhash", &minhash, any("texts"), any("k"), any("unit"), any("num_perm"), any("bits"), any("seed"),
        any("threads"), any("result"));
  m.def("simhash", &simhash, any("texts"), any("k"), any("unit"), any("threads"), any("result"));
  m.def("ctph", &ctph, any("texts"), any("length"), any("threads"), any("result"));
  m.def("shingles", &shingles, any("texts"), any("k"), any("unit"), any("threads"));
  m.def("shingle_hashes", &shingle_hashes, any("texts"), any("k"), any("unit"), any("threads"), any("result"));
  m.def("winnow_hashes", &winnow_hashes, any("texts"), any("k"), any("window"), any("unit"), any("threads"),
        any("result"));
  m.def("jaccard", &jaccard, any("a"), any("b"));
  m.def("hamming", &hamming, any("a"), any("b"));
  m.def("ctph_score", &ctph_score, any("a"), any("b"));
  m.def("kernels", [] { return neardup::kernels().name; });
  m.def("use_kernels", &use_kernels, any("name"));
}
