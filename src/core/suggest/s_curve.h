// The S-curve as lines of text: with which probability pairs of each similarity are found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace neardup {

struct CurveOptions {
  double threshold;
  int64_t num_perm;
  std::optional<int64_t> bands;  // found where one of them agrees; without: where jaccard() is at least the threshold
  std::optional<int64_t> rows;   // components of a band
};

// A title, a scale, and a line for each similarity, in steps of 0.02 up to 1. ASCII. Error{invalid_argument}: a
// threshold outside (0, 1], num_perm outside 16..4096, bands without rows, bands that num_perm does not hold.
std::vector<std::string> s_curve(const CurveOptions& options);

}  // namespace neardup
