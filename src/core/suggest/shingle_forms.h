// The forms of shingles that are tried for a sample.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/stop.h"
#include "core/document/text_units.h"
#include "core/exact/document_pairs.h"

namespace neardup {

struct ShingleForm {
  Unit unit;
  int k;
  double near;  // least estimated similarity of a near pair
};

// The share of letters that are of scripts without spaces, 0..1, in the beginnings of the first documents.
double unspaced_share(const Document* documents, size_t n, StopCheck* stop);

// Above this share words mean little, and only characters are tried beside the default.
inline constexpr double kMostlyUnspaced = 0.5;

// The default first, then the one to be preferred first.
std::span<const ShingleForm> forms_for(double unspaced_share) noexcept;

}  // namespace neardup
