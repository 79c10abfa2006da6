// Partial copies: the passages of one document that stand in another one, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/document/shingle.h"
#include "core/passages/shared/ignored.h"

namespace neardup {

// Units are those of ShingleStream: two are equal where their folded words, or their code points, are. Units are
// compared, not hashes, so that no answer rests on chance.
struct Passage {
  size_t start_a;   // code points of a before the passage
  size_t length_a;  // code points of a in it, with what stands between its units
  size_t start_b;   // code points of b before the first place where the same units stand
  size_t units;
  size_t begin;  // bytes of a: begin .. end - 1
  size_t end;
};

// Figures for tests and reports.
struct PassageStats {
  size_t peak_bytes = 0;  // working memory held at once
};

// The passages of a that stand in b, ascending by start_a. Defined greedily: of all runs of units of a that are in no
// passage yet and stand somewhere in b, the longest becomes a passage, of equally long ones the first; again and again,
// while there is one of at least min_units units. So each unit of a is in at most one passage, while b's may serve
// often; that is where it differs from the tiles of Wise, "String similarity via greedy string tiling and running
// Karp-Rabin matching", 1993, which use up b as well. unit: any; both texts have less than 2^32 bytes, else
// Error{too_large}; min_units at least 1, else Error{invalid_argument}. stop (may be null) is polled about every half
// millisecond. With n units of a and m of b: time O((n + m) log min_units) for what is not shared, and O((n + m) log n)
// for what is, whatever the texts, hashing taken as constant; 1 to 6 us a unit of a million. Memory: some 80 bytes for
// a unit of a and one of b, up to 200 where they are shared. Units of a that `ignore` makes ignored_units() are in no
// passage, and no passage goes over them.
std::vector<Passage> shared_passages(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                     int64_t min_units, const IgnoredTexts& ignore, StopCheck* stop = nullptr,
                                     PassageStats* stats = nullptr);

// The share of a's units, ignored ones left out, that are in a run of at least min_units of them which stands in b,
// 0..1; 0 where a has no such units. Arguments as above. Time O((n + m) log min_units); memory some 75 bytes for a unit
// of a and one of b.
double copied_share(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, int64_t min_units,
                    const IgnoredTexts& ignore, StopCheck* stop = nullptr, PassageStats* stats = nullptr);

}  // namespace neardup
