// <immintrin.h> for the AVX-512 forms. GCC 12 warns about its own undefined-vector intrinsics (GCC bug 105593), where
// they are inlined.
#pragma once

#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
