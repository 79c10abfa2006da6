// Signatures as a corpus of versions, copies and boilerplate gives them, made from row numbers alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/hash.h"

namespace neardup::bench {

// Families of 1 to 40 versions, each version a mutation of the one before; families share boilerplate (licence
// headers, templates), which holds the smallest hashes of a component in all of them or in none, as real
// headers do; some versions are exact copies. Rows come in a scattered order. Any n, any num_perm.
class Signatures {
 public:
  Signatures(uint32_t n, uint32_t num_perm, uint32_t bits, uint64_t seed = 1)
      : n_(n), num_perm_(num_perm), bits_(bits), seed_(seed) {
    static constexpr uint32_t kSizes[] = {1, 2, 1, 5, 1, 3, 1, 12, 1, 2, 1, 4, 8, 1, 1, 40, 1, 2, 1, 6};
    for (uint32_t i = 0, f = 0; i < n; ++f) {
      uint32_t size = std::min(kSizes[f % std::size(kSizes)], n - i);
      for (uint32_t v = 0; v < size; ++v, ++i) places_.push_back({f, v});
    }
    for (uint32_t i = n; i > 1; --i) std::swap(places_[i - 1], places_[hash(7, i, 0) % i]);
  }

  size_t row_bytes() const { return size_t{num_perm_} * bits_ / 8; }
  uint32_t rows() const { return n_; }

  // The family of row i; families are numbered from 0 and each has rows.
  uint32_t family(uint32_t i) const { return places_[i].family; }

  // Writes row i: row_bytes() bytes.
  void row(uint32_t i, void* out) const { version(places_[i].family, places_[i].version, out); }

  // The same of a version of any family, also of one that has no rows.
  void version(uint32_t family, uint32_t version, void* out) const {
    // Rates of change per component and version: from families that hardly change to ones that drift away.
    const double rate = std::pow(2.0, -2.0 - 6.0 * unit(1, family, 0));
    const double header = header_shingles(family);
    const uint64_t style = boilerplate_style(family);
    const bool plain = is_plain(family);
    for (uint32_t c = 0; c < num_perm_; ++c) {
      uint64_t body = version;  // the last one to change this component
      // One version in eight is an exact copy of the one before.
      while (body > 0 && !(hash(5, family, body) % 8 != 0 && unit(6, family * 64ULL + body, c) < rate)) --body;
      uint64_t value = hash(9, family * 64ULL + body, c);
      if (!plain) {
        const double u_header = -std::log(unit(8, style, c)) * (header + 0.2);
        const double u_body = -std::log(unit(9, family * 64ULL + body, c));
        if (u_header < u_body) value = hash(8, style, c);
      }
      put(out, c, static_cast<uint32_t>(value >> 33));
    }
  }

  // A family without rows, half of whose components are boilerplate, of the style that most families share: what a
  // template gives that is filled in with next to nothing.
  uint32_t boilerplate_family() const {
    for (uint32_t family = n_;; ++family) {
      if (!is_plain(family) && boilerplate_style(family) == 0 && std::abs(header_shingles(family) - 0.8) < 0.1)
        return family;
    }
  }

  std::vector<unsigned char> all() const {
    std::vector<unsigned char> data(row_bytes() * n_);
    for (uint32_t i = 0; i < n_; ++i) row(i, data.data() + row_bytes() * i);
    return data;
  }

 private:
  struct Place {
    uint32_t family;
    uint32_t version;
  };

  // Shingles of the body for one of the header.
  double header_shingles(uint32_t family) const { return 8.0 * std::pow(unit(2, family, 0), 2); }
  // A larger corpus has more styles of boilerplate, each with its share of the families.
  uint64_t boilerplate_style(uint32_t family) const {
    return static_cast<uint64_t>((20 + n_ / 2000.0) * std::pow(unit(3, family, 0), 3));
  }
  bool is_plain(uint32_t family) const { return unit(4, family, 0) < 0.4; }

  uint64_t hash(uint64_t kind, uint64_t a, uint64_t b) const {
    return mix64(mix64(mix64(seed_ * 16 + kind) + a) + b * kLengthFactor);
  }
  double unit(uint64_t kind, uint64_t a, uint64_t b) const {
    return (static_cast<double>(hash(kind, a, b) >> 11) + 0.5) * 0x1p-53;
  }
  void put(void* out, uint32_t c, uint32_t value) const {
    unsigned char* p = static_cast<unsigned char*>(out) + size_t{c} * bits_ / 8;
    const uint16_t half = static_cast<uint16_t>(value);
    const uint8_t byte = static_cast<uint8_t>(value);
    if (bits_ == 8) std::memcpy(p, &byte, 1);
    if (bits_ == 16) std::memcpy(p, &half, 2);
    if (bits_ == 32) std::memcpy(p, &value, 4);
  }

  uint32_t n_;
  uint32_t num_perm_;
  uint32_t bits_;
  uint64_t seed_;
  std::vector<Place> places_;
};

}  // namespace neardup::bench
