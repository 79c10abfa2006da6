// Searches that are cut short: cancelled at any poll, or by a temporary file that fails at any call.
#pragma once

#include <cstdint>
#include <string>

#include "core/pairs/pair_search.h"

#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"

namespace neardup::reference {

struct CutShort {
  std::string wrong;  // what a run did that it must not; empty: nothing
  int64_t calls = 0;  // that the run which came through was allowed
  int64_t asked = 0;  // how often it asked whether to stop
};

namespace cut_short_impl {

template <class Growth, class Work>
CutShort cut_short(Errc expected, Growth growth, Work work) {
  CutShort out;
  for (;; out.calls += growth(out.calls)) {
    StdioTempFiles files;
    StopAfter stop(expected == Errc::cancelled ? out.calls : INT64_MAX);
    if (expected != Errc::cancelled) files.calls_left = out.calls;
    bool through = false;
    try {
      EngineOptions options;
      options.files = &files;
      options.stop = &stop;
      work(options, out.calls);
      through = true;
    } catch (const Error& e) {
      if (e.code() != expected) out.wrong = std::string("another error: ") + e.what();
    }
    if (files.open != 0) out.wrong = std::to_string(files.open) + " files are left";
    if (!out.wrong.empty()) out.wrong += ", after " + std::to_string(out.calls) + " calls";
    out.asked = stop.asked;
    if (through || !out.wrong.empty()) return out;
  }
}

}  // namespace cut_short_impl

// work(options, calls) again and again until it comes through: it makes an engine with the files and the stop check of
// the options, runs it and destroys it. calls grow from 0 by growth(calls).
//
// Each run is cancelled at the poll after `calls` of them.
template <class Growth, class Work>
CutShort cancel_at_any_poll(Growth growth, Work work) {
  return cut_short_impl::cut_short(Errc::cancelled, growth, work);
}

// The same with files that fail with Error{out_of_budget} after `calls`.
template <class Growth, class Work>
CutShort fail_at_any_call(Growth growth, Work work) {
  return cut_short_impl::cut_short(Errc::out_of_budget, growth, work);
}

}  // namespace neardup::reference
