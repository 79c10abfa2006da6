// Small collections of documents that repeat each other, for tests of repeated passages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "test/unit/support.h"

namespace neardup::test {

struct Collection {
  std::vector<std::string> documents;
  std::vector<int> groups;  // empty: one
};

// Documents of pieces of a pool and of each other: nested, overlapping and periodic repeats.
inline Collection collage(Random& random) {
  static const std::vector<std::string> separators[] = {
      {" "}, {"\n"}, {"\n\n"}, {" ", "\n", "\n\n", ", ", "\r\n", "\xe2\x80\xa9", " \n \n"}};
  const auto& between = separators[random() % std::size(separators)];
  const uint64_t kinds = 1 + random() % (random() % 3 ? 4 : 30);
  std::vector<std::string> pool(1 + random() % 25);
  for (std::string& w : pool) {
    static const std::string words[] = {"a",        "A", "b", "\xc3\xa9", "\xe4\xb8\xad", "long1", "\xf0\x9f\x98\x80",
                                        "x\xcc\x81"};
    const uint64_t kind = random() % kinds;
    w = kind < std::size(words) ? words[kind] : "w" + std::to_string(kind);
  }
  Collection out;
  for (uint64_t n = 1 + random() % 6; n > 0; --n) {
    std::string d;
    for (uint64_t pieces = random() % 5; pieces > 0; --pieces) {
      const size_t from = random() % pool.size(), run = 1 + random() % 12;
      for (size_t i = from; i < std::min(pool.size(), from + run); ++i)
        d += pool[i] + between[random() % between.size()];
      if (!out.documents.empty() && random() % 3 == 0) d += out.documents[random() % out.documents.size()];
    }
    out.documents.push_back(d);
  }
  if (random() % 3 == 0)
    for (size_t i = 0; i < out.documents.size(); ++i) out.groups.push_back(static_cast<int>(random() % 3) - 1);
  return out;
}

}  // namespace neardup::test
