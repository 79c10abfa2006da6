// See examples.h.
#include "core/suggest/examples.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace neardup {
namespace {

// The first of these, in their order, whose documents have not come yet.
std::vector<size_t> first_of_other_documents(const std::vector<size_t>& ordered, size_t most,
                                             const std::vector<SamplePair>& pairs, std::unordered_set<uint32_t>* used) {
  std::vector<size_t> taken;
  for (const size_t i : ordered) {
    if (taken.size() == most) break;
    if (used->contains(pairs[i].a) || used->contains(pairs[i].b)) continue;
    used->insert({pairs[i].a, pairs[i].b});
    taken.push_back(i);
  }
  return taken;
}

}  // namespace

std::vector<size_t> pairs_around(double threshold, size_t each, const std::vector<SamplePair>& pairs,
                                 const std::vector<float>& similarities) {
  const auto bound = static_cast<float>(threshold);
  std::vector<size_t> above;
  std::vector<size_t> below;
  for (size_t i = 0; i < pairs.size(); ++i)
    if (similarities[i] > 0) (similarities[i] >= bound ? above : below).push_back(i);
  const auto distance = [&](size_t i) { return std::abs(similarities[i] - bound); };
  std::ranges::stable_sort(above, {}, distance);
  std::ranges::stable_sort(below, {}, distance);
  std::unordered_set<uint32_t> used;
  std::vector<size_t> taken = first_of_other_documents(above, each, pairs, &used);
  for (const size_t i : first_of_other_documents(below, each, pairs, &used)) taken.push_back(i);
  std::ranges::stable_sort(taken, std::ranges::greater(), [&](size_t i) { return similarities[i]; });
  return taken;
}

}  // namespace neardup
