// See ignored.h.
#include "core/passages/shared/ignored.h"

#include <map>

#include "core/document/text_units.h"

namespace neardup {
namespace {

// Counts no further than `most`.
size_t count_units(Unit unit, std::string_view text, size_t most, StopCheck* stop) {
  UnitScanner units(unit, reinterpret_cast<const uint8_t*>(text.data()), text.size(), stop);
  TextUnit unused;
  size_t n = 0;
  while (n < most && units.next(&unused)) ++n;
  return n;
}

}  // namespace

Numbers<uint8_t> ignored_units(Unit unit, const uint8_t* document, size_t size, const IgnoredTexts& texts,
                               size_t min_units, Workspace& ws, StopCheck* stop) {
  std::map<size_t, IgnoredTexts> by_run;  // by the least run that counts
  for (const std::string_view text : texts)
    if (const size_t run = count_units(unit, text, min_units, stop); run != 0) by_run[run].push_back(text);
  Numbers<uint8_t> out(ws);
  for (const auto& [run, group] : by_run) {
    SharedUnits units(unit, document, size, group, ws, stop);
    if (out.size() == 0) out.fill(units.a.size(), 0);
    name_shared_runs(run, &units.a, &units.b, ws);
    size_t end = 0;
    for (size_t i = 0; i < units.a.size(); ++i) {
      ws.poller.spend(1);
      if (units.a[i] != 0) end = i + run;
      if (i < end) out[i] = 1;
    }
  }
  return out;
}

}  // namespace neardup
