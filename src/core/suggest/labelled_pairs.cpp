// See labelled_pairs.h.
#include "core/suggest/labelled_pairs.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/sort_unique.h"

namespace neardup {
namespace {

// Ids by number: those of the sample as it numbers them, strangers behind.
class IdNumbers {
 public:
  IdNumbers(const std::string_view* ids, uint32_t n) : ids_(ids, ids + n) {
    numbers_.reserve(n);
    for (uint32_t i = 0; i < n; ++i) numbers_.emplace(ids[i], i);
  }

  uint32_t number(std::string_view id) {
    const auto [at, is_new] = numbers_.emplace(id, static_cast<uint32_t>(ids_.size()));
    if (is_new) ids_.push_back(id);
    return at->second;
  }
  std::string_view id(uint32_t number) const { return ids_[number]; }

 private:
  std::vector<std::string_view> ids_;
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

struct NumberedLabel {
  uint32_t a;  // below b
  uint32_t b;
  bool duplicate;

  auto operator<=>(const NumberedLabel&) const = default;  // NOLINT(modernize-use-nullptr): what it expands to
};

bool same_pair(const NumberedLabel& x, const NumberedLabel& y) { return x.a == y.a && x.b == y.b; }

[[noreturn]] void refuse_contradiction(std::string_view a, std::string_view b) {
  const auto [lesser, greater] = std::minmax(a, b);
  throw Error(Errc::invalid_argument,
              "labels says both true and false of " + std::string(lesser) + " and " + std::string(greater));
}

}  // namespace

LabelledPairs find_labelled(const std::string_view* ids, uint32_t n, const Label* labels, size_t count,
                            StopCheck* stop) {
  LabelledPairs found;
  IdNumbers numbers(ids, n);
  std::vector<NumberedLabel> numbered;
  numbered.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto [a, b] = std::minmax({numbers.number(labels[i].a), numbers.number(labels[i].b)});
    numbered.push_back({a, b, labels[i].duplicate});
    if (b >= n) ++found.strange;
  }
  sort_unique(&numbered, stop);
  const auto contradiction = std::adjacent_find(numbered.begin(), numbered.end(), same_pair);
  if (contradiction != numbered.end()) refuse_contradiction(numbers.id(contradiction->a), numbers.id(contradiction->b));
  for (const NumberedLabel& label : numbered) {
    if (label.b >= n) continue;
    found.pairs.push_back({.a = label.a,
                           .b = label.b,
                           .duplicate = label.duplicate,
                           .strictly = label.duplicate,
                           .generously = label.duplicate});
    found.duplicates += label.duplicate;
  }
  return found;
}

std::vector<SamplePair> with_labels(const std::vector<SamplePair>& near, const std::vector<SamplePair>& labelled) {
  const auto place = [](const SamplePair& pair) { return std::tie(pair.a, pair.b); };
  std::vector<SamplePair> all = labelled;
  size_t next = 0;
  for (const SamplePair& pair : near) {
    while (next < labelled.size() && place(labelled[next]) < place(pair)) ++next;
    if (next < labelled.size() && place(labelled[next]) == place(pair)) {
      all[next].weight = pair.weight;
      all[next].share = pair.share;
      all[next].family = pair.family;
    } else {
      all.push_back(pair);
    }
  }
  std::inplace_merge(all.begin(), all.begin() + static_cast<ptrdiff_t>(labelled.size()), all.end(),
                     [&](const SamplePair& x, const SamplePair& y) { return place(x) < place(y); });
  return all;
}

}  // namespace neardup
