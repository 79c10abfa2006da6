// The pairs that people have judged, found in a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/suggest/sample_pairs.h"

namespace neardup {

// Two different ids, in any order.
struct Label {
  std::string_view a;
  std::string_view b;
  bool duplicate;
};

struct LabelledPairs {
  std::vector<SamplePair> pairs;  // each once, ascending
  uint64_t duplicates = 0;        // of these
  uint64_t strange = 0;           // labels of ids that are not in the sample
  bool all_duplicates() const noexcept { return duplicates == pairs.size(); }
};

// ids: of the n documents of the sample, all different. Error{invalid_argument} where two labels contradict each other.
LabelledPairs find_labelled(const std::string_view* ids, uint32_t n, const Label* labels, size_t count,
                            StopCheck* stop);

// Near pairs, none of them a duplicate, and labelled ones, each once, in one order. Both are ascending. A pair that is
// both has its label, and weighs what it weighs among the near ones.
std::vector<SamplePair> with_labels(const std::vector<SamplePair>& near, const std::vector<SamplePair>& labelled);

}  // namespace neardup
