// See passage_walk.h.
#include "core/passages/passage_walk.h"

#include <algorithm>

namespace neardup {

void RangeWalk::add_window(uint64_t u, const RepeatedWindow& window) {
  if (runs_ == 0 || last_window_ + 1 != u) ++runs_;
  last_window_ = u;
  run_end_ = u + units_;
  if (keep_first_ && window.previous == kNoWindow) kept_until_ = run_end_;
  recent_.push_back({u, runs_, window.occurrences, window.first_row, window.first_character});
  if (!pieces_.empty() && pieces_.back().run == runs_) pieces_.back().run_end = run_end_;
}

// A piece of the last run. Its windows are those of the run that have a unit in it.
void RangeWalk::open(uint32_t position) {
  Piece piece{runs_, run_end_, position, UINT32_MAX, 0, 0};
  bool any = false;
  for (const Recent& w : recent_) {
    if (w.run != runs_) continue;
    piece.occurrences = std::min(piece.occurrences, w.occurrences);
    if (any) continue;
    any = true;
    piece.first_row = w.first_row;
    piece.first_start = w.first_character;
  }
  pieces_.push_back(piece);
}

void RangeWalk::put(const Piece& piece, const LastUnit& last) {
  out_->push_back({row_, piece.start, last.end() - piece.start, piece.occurrences, piece.first_row, piece.first_start});
}

void RangeWalk::unit(uint64_t u, uint32_t position, const LastUnit& last, const RepeatedWindow* window) {
  while (!recent_.empty() && recent_.front().unit + units_ <= u) recent_.pop_front();
  if (window != nullptr) add_window(u, *window);
  const bool kept = u < kept_until_;
  if (!pieces_.empty() && (kept || pieces_.front().run_end == u)) {
    put(pieces_.front(), last);
    pieces_.pop_front();
  }
  if (kept) {
    // The others end here too, and lie within the one that began first.
    pieces_.clear();
    return;
  }
  if (u >= run_end_) return;
  // Nothing of an earlier run is opened again: it would lie within a piece of the last one.
  if (pieces_.empty() || pieces_.back().run != runs_) {
    open(position);
  } else if (window != nullptr) {
    pieces_.back().occurrences = std::min(pieces_.back().occurrences, window->occurrences);
  }
}

void PassageWalk::unit(uint64_t u, uint32_t position, const LastUnit& last, const RepeatedWindow* window) {
  const bool first = window != nullptr && window->previous == kNoWindow;
  const bool more = first && !open_.empty() && open_.back().last_window + 1 == u &&
                    open_.back().passage.documents == window->documents &&
                    open_.back().passage.occurrences == window->occurrences;
  if (more) open_.back().last_window = u;
  if (!open_.empty() && open_.front().last_window + units_ == u) put(last);
  if (!first || more) return;
  open_.push_back({u, {row_, position, 0, window->documents, window->occurrences, window->byte, 0}});
}

void PassageWalk::put(const LastUnit& last) {
  CommonPassage& p = open_.front().passage;
  p.length = last.end() - p.start;
  p.bytes = last.end_byte() - p.byte;
  out_->push_back(p);
  open_.pop_front();
}

}  // namespace neardup
