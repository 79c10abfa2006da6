// Sets of integers as ascending arrays without repeats: their overlap, containment and Jaccard similarity.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

// Sorts the n elements ascending and drops repeats; in place. Returns how many are left. Costs one pass where they are
// a set already.
size_t make_set(int64_t* elements, size_t n) noexcept;

// Number of elements that two sets share.
size_t common_elements(const int64_t* a, size_t n, const int64_t* b, size_t m) noexcept;

// Exact Jaccard similarity of two sets, 0..1; 0 where either is empty.
double set_jaccard(const int64_t* a, size_t n, const int64_t* b, size_t m) noexcept;

// Share of the elements of a that are in b, 0..1; 0 where a is empty (Broder: On the resemblance and containment of
// documents, 1997).
double set_containment(const int64_t* a, size_t n, const int64_t* b, size_t m) noexcept;

}  // namespace neardup
