// See pair_output.h.
#include "core/pairs/pair_output.h"

#include <algorithm>
#include <bit>

namespace neardup {

PairOutput::PairOutput(Identical identical, uint32_t identical_value, bool two_sets, uint32_t count_a,
                       const uint32_t* rank_a, const uint32_t* rank_b, Workspace& ws)
    : ws_(ws),
      identical_(identical),
      identical_value_(identical_value),
      two_sets_(two_sets),
      count_a_(count_a),
      rank_a_(rank_a),
      rank_b_(rank_b),
      groups_(std::make_unique<RecordSorter>(memory_share(ws, kSixteenth), ws)),
      out_(std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws)) {}

uint32_t PairOutput::rank(uint32_t row) const noexcept {
  const bool of_b = two_sets_ && row >= count_a_;
  if (of_b) row -= count_a_;
  const uint32_t* ranks = of_b ? rank_b_ : rank_a_;
  return ranks == nullptr ? row : ranks[row];
}

bool PairOutput::add_equal(uint32_t leader, uint32_t row) {
  if (identical_ == Identical::all) {
    if (groups_->size() == memory_share(ws_, kSixteenth) / sizeof(uint64_t)) return false;
    groups_->add({leader, row, row});
  } else {
    groups_->add({leader, rank(row), row});
  }
  return true;
}

void PairOutput::finish_equal() {
  groups_->finish();
  size_t n = 0;
  SortRecord r;
  if (identical_ == Identical::all) {
    members_ = Array<uint64_t>(ws_.ledger, groups_->size());
    for (; groups_->next(&r); ++n) members_[n] = r.key();
  } else {
    first_of_groups();
    n = members_.size();
  }
  groups_.reset();
  if (n == 0) return;
  const size_t words = std::bit_ceil(std::min(n / 8 + 8, memory_share(ws_, kSixteenth) / 16));
  leader_bits_ = Array<uint64_t>(ws_.ledger, words);
  std::fill(leader_bits_.data(), leader_bits_.data() + words, 0);
  for (size_t i = 0; i < n; ++i)
    leader_bits_[members_[i] >> 38 & (words - 1)] |= uint64_t{1} << (members_[i] >> 32 & 63);
}

// Finds the row of least rank of every group, and keeps it where it is not the leader.
void PairOutput::first_of_groups() {
  star_ = std::make_unique<RecordSorter>(memory_share(ws_, kSixteenth), ws_);
  left_out_ += groups_->size();
  size_t n = 0;
  Array<uint64_t> firsts;
  SortRecord r;
  uint32_t leader = UINT32_MAX;
  uint32_t first = 0;
  while (groups_->next(&r)) {
    ws_.poller.spend(8);
    if (r.hi != leader) {
      leader = r.hi;
      const bool other = rank(r.value) < rank(leader);
      first = other ? r.value : leader;
      star_->add({first, other ? leader : r.value, 0});
      if (!other) continue;
      if (n == firsts.size()) resize_polled(&firsts, std::max<size_t>(1024, 2 * n), n, ws_.ledger, ws_.poller);
      firsts[n++] = static_cast<uint64_t>(leader) << 32 | first;
    } else {
      star_->add({first, r.value, 0});
    }
  }
  star_->finish();
  members_ = Array<uint64_t>(ws_.ledger, n);
  if (n != 0) copy_polled(members_.data(), firsts.data(), n * sizeof(uint64_t), ws_.poller);
}

void PairOutput::emit(uint32_t x, uint32_t y, uint32_t value) {
  ws_.poller.spend(4);
  x = rank(x);
  y = rank(y);
  if (two_sets_ ? swapped_ : x > y && !directed_) std::swap(x, y);
  out_->add({x, y, value});
  ++found_;
}

void PairOutput::emit_equal(uint32_t x, uint32_t y, uint32_t value) {
  emit(x, y, value);
  if (directed_) emit(y, x, value);
}

std::pair<size_t, size_t> PairOutput::group(uint32_t leader) const noexcept {
  const size_t words = leader_bits_.size();
  const uint64_t word = words == 0 ? 0 : leader_bits_[leader >> 6 & (words - 1)];
  if ((word >> (leader & 63) & 1) == 0) return {0, 0};
  const auto at = [this](uint64_t from) {
    const uint64_t* begin = members_.data();
    return static_cast<size_t>(std::lower_bound(begin, begin + members_.size(), from) - begin);
  };
  return {at(static_cast<uint64_t>(leader) << 32), at((static_cast<uint64_t>(leader) + 1) << 32)};
}

// Every row of one group and every row of the other.
void PairOutput::add(uint32_t x, uint32_t y, uint32_t value, bool identical) {
  const auto [x_first, x_last] = group(x);
  const auto [y_first, y_last] = group(y);
  if (identical_ != Identical::all) {
    if (identical && identical_ == Identical::none) {
      ++left_out_;
      return;
    }
    if (x_first != x_last) x = static_cast<uint32_t>(members_[x_first]);
    if (y_first != y_last) y = static_cast<uint32_t>(members_[y_first]);
    emit(x, y, value);
    return;
  }
  for (size_t i = x_first; i <= x_last; ++i) {
    const uint32_t row_x = i == x_last ? x : static_cast<uint32_t>(members_[i]);
    for (size_t j = y_first; j <= y_last; ++j) emit(row_x, j == y_last ? y : static_cast<uint32_t>(members_[j]), value);
  }
}

void PairOutput::finish() {
  SortRecord r;
  if (!two_sets_ && identical_ == Identical::all) {
    for (size_t first = 0; first < members_.size();) {
      const uint32_t leader = static_cast<uint32_t>(members_[first] >> 32);
      const uint32_t value = identical_value(leader);
      size_t last = first;
      for (; last < members_.size() && members_[last] >> 32 == leader; ++last) {
        if (value == kNotNear) continue;
        const uint32_t row = static_cast<uint32_t>(members_[last]);
        emit_equal(leader, row, value);
        for (size_t i = first; i < last; ++i) emit_equal(static_cast<uint32_t>(members_[i]), row, value);
      }
      first = last;
    }
  }
  if (!two_sets_ && (identical_ == Identical::star || identical_ == Identical::marked)) {
    const uint32_t mark = identical_ == Identical::marked ? kEqualRows : 0;
    uint32_t first = UINT32_MAX;
    uint32_t value = kNotNear;
    while (star_ != nullptr && star_->next(&r)) {
      ws_.poller.spend(4);
      if (r.hi != first) value = identical_value(r.hi);
      first = r.hi;
      if (value == kNotNear) continue;
      emit_equal(r.hi, r.lo, value | mark);
      --left_out_;  // it is there
    }
  }
  star_.reset();
  out_->finish();
}

size_t PairOutput::next(RowPair* out, size_t max) {
  size_t n = 0;
  SortRecord r;
  for (; n < max && out_->next(&r); ++n) out[n] = {r.hi, r.lo, r.value};
  return n;
}

}  // namespace neardup
