// Simhashes out of few bytes of input, many of them near each other.
#pragma once

#include <cstdint>
#include <vector>

#include "core/signature/simhash.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/hash_sets.h"

namespace neardup::fuzz {

// Runs of 1..64 rows, at most `rows` in all: fresh ones, of all bits or of some; equal ones; ones near an earlier row;
// and chains from it. A run is 8 bytes of input.
inline reference::Values read_values(Input& in, size_t rows) {
  reference::Values out;
  while (!in.empty() && out.size() < rows) {
    const uint8_t how = in.read<uint8_t>();
    const uint8_t length = in.read<uint8_t>();
    const unsigned flips = in.read<uint8_t>() % 70;
    const uint32_t seed = in.read<uint32_t>();
    const uint8_t shift = in.read<uint8_t>() % 64;
    const size_t n = std::min<size_t>(1 + length % 64, rows - out.size());
    reference::Random random(seed);
    uint64_t v = out.empty() || how % 8 == 0 ? random() : out[seed % out.size()];
    for (size_t i = 0; i < n; ++i) {
      switch (how % 8) {
        case 0:
        case 1:
          out.push_back(random());
          break;
        case 2:
          out.push_back((random() & 0xff) << shift);
          break;
        case 3:
        case 4:
          out.push_back(reference::with_flips(random, v, flips));
          break;
        case 5:
          out.push_back(v = reference::with_flips(random, v, flips % 8));
          break;
        case 6:  // among bits that lie together
          out.push_back(v ^ (random() & 0x1ff) << shift);
          break;
        default:
          out.push_back(v);
      }
    }
  }
  return out;
}

}  // namespace neardup::fuzz
