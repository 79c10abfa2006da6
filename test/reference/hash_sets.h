// Small sets of digests and of simhashes that are hard in one way each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "core/signature/ctph.h"

namespace neardup::reference {

using Random = std::mt19937_64;

using Digests = std::vector<CtphDigest>;

inline constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string random_part(Random& random, size_t n, uint32_t symbols = 64) {
  std::string out(n, 'A');
  for (char& c : out) c = kAlphabet[random() % symbols];
  return out;
}

inline std::string edited(Random& random, std::string part, size_t edits, size_t most) {
  for (; edits > 0; --edits) {
    const size_t at = random() % (part.size() + 1);
    const char c = kAlphabet[random() % 64];
    if (at < part.size() && random() % 3 == 0)
      part[at] = c;
    else if (at < part.size() && random() % 2 == 0)
      part.erase(at, 1);
    else if (part.size() < most)
      part.insert(at, 1, c);
  }
  return part;
}

// Random digests of neighbouring exponents, copies, edited copies, and copies of a part at the next block size.
inline Digests mixed(uint64_t seed, size_t n, uint32_t length = 64, size_t most = 64, uint32_t symbols = 64) {
  Random random(seed);
  Digests out;
  while (out.size() < n) {
    CtphDigest d{static_cast<uint32_t>(3 + random() % 3), length, random_part(random, random() % (most + 1), symbols),
                 random_part(random, random() % (most / 2 + 1), symbols)};
    if (!out.empty() && random() % 8 != 0) {
      const CtphDigest& old = out[random() % out.size()];
      switch (random() % 5) {
        case 0:
          d = old;
          break;
        case 1:
          d.exponent = old.exponent == 0 ? 0 : old.exponent - 1;
          d.part2 = edited(random, old.part1, random() % 6, most);
          break;
        case 2:
          d.exponent = old.exponent + 1;
          d.part1 = edited(random, old.part2, random() % 6, most);
          break;
        default:
          d = old;
          d.part1 = edited(random, old.part1, random() % (most / 8 + 2), most);
          d.part2 = edited(random, old.part2, random() % 4, most);
      }
    }
    if (d.exponent < kCtphExponents) out.push_back(d);
  }
  return out;
}

inline Digests concat(std::initializer_list<Digests> lists) {
  Digests out;
  for (const Digests& d : lists) out.insert(out.end(), d.begin(), d.end());
  return out;
}

// Every neighbour in the list is near, the ends are not.
inline Digests chain(size_t n) {
  Random random(5);
  Digests out;
  CtphDigest d{4, 64, random_part(random, 64), random_part(random, 32)};
  for (; out.size() < n; d.part1 = edited(random, d.part1, 4, 64)) out.push_back(d);
  return out;
}

// Runs are cut only for ssdeep's score: parts of text form may be longer than 64 characters.
inline Digests with_runs(size_t n) {
  Random random(6);
  Digests out;
  for (size_t i = 0; i < n; ++i) {
    std::string part;
    const uint64_t cut = 20 + random() % 12;
    for (uint64_t k = 0; k < cut; ++k)
      part.append(random() % 4 == 0 ? 1 + random() % 30 : 1, kAlphabet[k + random() % 2]);
    part.resize(std::min<size_t>(part.size(), 400));
    out.push_back(ctph_from_text("48:" + part + ":" + (i % 3 == 0 ? "" : part.substr(0, part.size() / 2))));
  }
  return out;
}

// Long parts with few and with many edits.
inline Digests long_digests(size_t n, size_t most) {
  Random random(7);
  Digests out;
  const uint32_t length = static_cast<uint32_t>(most);
  while (out.size() < n) {
    CtphDigest d{6, length, random_part(random, most - random() % (most / 4)), random_part(random, most / 2)};
    if (out.size() > 4) {
      d = out[random() % out.size()];
      d.part1 = edited(random, d.part1, random() % (most / 4), most);
      if (random() % 4 == 0) {  // a block moves, or is lost
        const size_t at = random() % (d.part1.size() / 2 + 1);
        const std::string block = d.part1.substr(at, random() % (most / 3));
        d.part1.erase(at, block.size());
        if (random() % 2 == 0) d.part1 += block;
      }
      if (random() % 8 == 0) {
        d.exponent = 7;
        d.part1 = d.part2;
      }
    }
    out.push_back(d);
  }
  return out;
}

struct DigestShape {
  const char* name;
  Digests digests;
};

inline const std::vector<DigestShape>& digest_shapes() {
  static const std::vector<DigestShape> all = [] {
    std::vector<DigestShape> out;
    out.push_back({"mixed", mixed(1, 120)});
    out.push_back({"few symbols", mixed(2, 70, 64, 64, 3)});
    out.push_back({"short", mixed(3, 90, 64, 9, 8)});
    out.push_back({"equal", Digests(40, mixed(4, 1)[0])});
    out.push_back({"different", [] {
                     Random random(8);
                     Digests d;
                     for (int i = 0; i < 60; ++i)
                       d.push_back({3, 64, random_part(random, 30 + random() % 35), random_part(random, 32)});
                     return d;
                   }()});
    out.push_back({"chain", chain(60)});
    out.push_back({"runs", with_runs(60)});
    out.push_back({"long 1024", long_digests(24, 1024)});
    out.push_back({"long 200", concat({long_digests(30, 200), mixed(9, 40, 128, 70)})});
    // Empty parts on either side; part 2 may still be near a part 1.
    out.push_back({"empty", [] {
                     Digests d;
                     for (int i = 0; i < 3; ++i) {
                       d.push_back({3, 64, "", ""});
                       d.push_back({3, 64, "", "abcdefgh"});
                       d.push_back({4, 64, "abcdefgh", ""});
                       d.push_back({4, 64, "abcdefgx", "ab"});
                       d.push_back({30, 64, "abcdefgh", "abcdefgh"});
                       d.push_back({29, 64, "", "abcdefgh"});
                       d.push_back({0, 64, "abcdefgh", "abcdefgh"});
                     }
                     return d;
                   }()});
    out.push_back({"none", {}});
    out.push_back({"one", mixed(4, 1)});
    return out;
  }();
  return all;
}

// ---------------------------------------------------------------- simhashes

using Values = std::vector<uint64_t>;

inline uint64_t with_flips(Random& random, uint64_t v, unsigned flips) {
  for (unsigned i = 0; i < flips; ++i) v ^= uint64_t{1} << random() % 64;
  return v;
}

// Shapes that a search by blocks may stumble over.
inline Values make_values(const std::string& shape, uint32_t n, uint64_t seed) {
  Random random(seed);
  Values out;
  while (out.size() < n) {
    const uint64_t v = random();
    if (shape == "random") {
      out.push_back(v);
    } else if (shape == "families") {  // near and equal ones
      for (unsigned i = 0; i < 6; ++i) out.push_back(with_flips(random, v, random() % 9));
      out.push_back(v);
    } else if (shape == "equal") {
      out.push_back(42);
    } else if (shape == "chain") {  // each near the one before
      out.push_back(out.empty() ? 0 : with_flips(random, out.back(), 2));
    } else if (shape == "giant") {  // all near each other
      out.push_back(with_flips(random, 0x123456789abcdef0, 2));
    } else if (shape == "one block") {  // equal in three quarters of the bits
      out.push_back(v & 0xffff00000000);
    } else if (shape == "high") {
      out.push_back(v << 60 | (v & 7));
    } else {
      out.push_back(with_flips(random, 0, 3) | (v & 3) << 62);
    }
  }
  out.resize(n);
  return out;
}

inline constexpr const char* kHashShapes[] = {"random", "families",  "equal", "chain",
                                              "giant",  "one block", "high",  "few bits"};

}  // namespace neardup::reference
