// See s_curve.h.
#include "core/suggest/s_curve.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/message_text.h"
#include "core/lsh/minhash_keys.h"
#include "core/signature/minhash.h"
#include "core/suggest/match_tail.h"

namespace neardup {
namespace {

constexpr int kCurveSteps = 50;          // of similarity
constexpr int kMostFirst = 25;           // the curve begins there at the latest
constexpr double kBelowThreshold = 0.2;  // or so far below the threshold
constexpr int kBarWidth = 48;            // of a line that stands for probability 1
constexpr uint32_t kCurveBits = 16;

int nearest(double value) { return static_cast<int>(std::nearbyint(value)); }

void check(const CurveOptions& o) {
  if (!(o.threshold > 0 && o.threshold <= 1))
    throw Error(Errc::invalid_argument, "threshold must be above 0 and at most 1: " + number_text(o.threshold));
  check_num_perm(o.num_perm);
  if (o.bands.has_value() != o.rows.has_value())
    throw Error(Errc::invalid_argument, "bands and rows must be given together");
  if (!o.bands) return;
  const int64_t components = *o.bands * *o.rows;
  if (components > o.num_perm)
    throw Error(Errc::invalid_argument, std::to_string(*o.bands) + " bands of " + std::to_string(*o.rows) +
                                            " rows need " + std::to_string(components) +
                                            " components, and num_perm is " + std::to_string(o.num_perm));
  check_bands(*o.bands, *o.rows);
}

std::string title(const CurveOptions& o, uint32_t need) {
  const std::string threshold = number_text(o.threshold);
  if (!o.bands)
    return "probability that jaccard >= " + threshold + " (" + std::to_string(need) + " of " +
           std::to_string(o.num_perm) + " components)";
  return "probability that one of " + std::to_string(*o.bands) + " bands of " + std::to_string(*o.rows) +
         " components agrees; -> is the threshold, " + threshold;
}

std::string line(double similarity, double probability, bool is_threshold) {
  std::string bar(static_cast<size_t>(nearest(probability * kBarWidth)), '#');
  bar.resize(kBarWidth, is_threshold ? '-' : ' ');
  char text[kBarWidth + 32];
  // Rounded down: only what is certain is 1.
  std::snprintf(text, sizeof text, "%.2f     %s|%s| %.4f", similarity, is_threshold ? "->" : "  ", bar.c_str(),
                std::floor(probability * 10000 + 1e-6) / 10000);
  return text;
}

}  // namespace

std::vector<std::string> s_curve(const CurveOptions& o) {
  check(o);
  const auto num_perm = static_cast<uint32_t>(o.num_perm);
  const uint32_t need = min_matches(o.threshold, false, num_perm, kCurveBits);
  std::vector<std::string> lines = {title(o, need), "       0          0.25         0.5        0.75           1"};
  const int first = std::clamp(nearest((o.threshold - kBelowThreshold) * kCurveSteps), 0, kMostFirst);
  for (int step = first; step <= kCurveSteps; ++step) {
    const double similarity = static_cast<double>(step) / kCurveSteps;
    const double probability =
        o.bands ? lsh_probability(similarity, static_cast<uint32_t>(*o.bands), static_cast<uint32_t>(*o.rows))
                : match_tail(num_perm, similarity)[need];
    lines.push_back(line(similarity, probability, step == nearest(o.threshold * kCurveSteps)));
  }
  return lines;
}

}  // namespace neardup
