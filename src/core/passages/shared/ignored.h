// The units that a comparison leaves out: units of a document that stand in texts to ignore.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/stop.h"
#include "core/document/text_units.h"
#include "core/passages/shared/shared_grams.h"

namespace neardup {

// Texts whose passages are not compared: an assignment's template, a mail's footer. They must stay valid.
using IgnoredTexts = std::vector<std::string_view>;

// For each unit of a document 1 where it is ignored, else 0: where it is in a run of at least min(min_units, units of
// t) units that stands in a text t of `texts`. min_units at least 1. A text without units ignores nothing. Time: that
// of shared_passages() for each of the different numbers of units below min_units that texts have, and once for all
// longer ones.
Numbers<uint8_t> ignored_units(Unit unit, const uint8_t* document, size_t size, const IgnoredTexts& texts,
                               size_t min_units, Workspace& ws, StopCheck* stop);

}  // namespace neardup
