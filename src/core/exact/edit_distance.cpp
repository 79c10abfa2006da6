// See edit_distance.h: what both texts share is taken off; then few differences are looked for, then ever more.
#include "core/exact/edit_distance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/message_text.h"
#include "core/exact/edit_impl.h"

namespace neardup {
namespace {

size_t equal_back(const uint8_t* a_end, const uint8_t* b_end, size_t n) noexcept {
  size_t i = 0;
  while (i + 8 <= n && std::memcmp(a_end - i - 8, b_end - i - 8, 8) == 0) i += 8;
  while (i < n && *(a_end - i - 1) == *(b_end - i - 1)) ++i;
  return i;
}

// Whole symbols that are equal up to the end of both, in bytes.
size_t common_back(bool utf8, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, Poller& poller) {
  const size_t most = std::min(a_size, b_size);
  size_t n = 0;
  while (n < most) {
    const size_t piece = std::min(kEditPollBytes, most - n);
    const size_t equal = equal_back(a + a_size - n, b + b_size - n, piece);
    n += equal;
    poller.spend(equal / 8 + 1);
    if (equal < piece) break;
  }
  if (utf8) {
    while (n > 0 && continues_utf8(a[a_size - n])) --n;
  }
  return n;
}

int64_t count_symbols(bool utf8, const uint8_t* p, size_t size, Poller& poller) {
  if (!utf8) return static_cast<int64_t>(size);
  int64_t n = 0;
  for_each_piece(size, [&](size_t at, size_t piece) {
    uint32_t symbols = 0;
    for (size_t i = 0; i < piece; ++i) symbols += !continues_utf8(p[at + i]);
    n += symbols;
    poller.spend(piece / 8);
  });
  return n;
}

bool is_utf8(Unit unit) {
  if (unit != Unit::character && unit != Unit::byte)
    throw Error(Errc::invalid_argument, "edit distance has no unit \"" + std::string(unit_name(unit)) + "\"");
  return unit == Unit::character;
}

// The number of edits worth looking for on diagonals: their steps, of some 10 ns, are as many as the edits squared, bit
// vectors take about 1 ns for 64 cells of a band. In short texts a small share of what all cells take.
int64_t diagonal_edits(int64_t shorter, int64_t longer, size_t memory_limit) {
  const double all = std::sqrt(static_cast<double>(shorter) * static_cast<double>(longer)) / 56;
  const int64_t worth = std::max<int64_t>(128, shorter / 640);
  const size_t room = memory_limit / EditDiagonals::kBytesAnEdit;
  return static_cast<int64_t>(std::min({all, static_cast<double>(worth), static_cast<double>(room) - 2}));
}

// Texts without common front and back; -1 above max_distance.
int64_t distance_between(bool utf8, EditText a, EditText b, uint64_t max_distance, const EditOptions& options,
                         Workspace& ws, EditStats& stats) {
  if (a.length > b.length) std::swap(a, b);
  const int64_t difference = b.length - a.length;
  const int64_t most = static_cast<int64_t>(std::min(max_distance, static_cast<uint64_t>(b.length)));
  if (difference > most) return -1;
  if (a.length == 0) return difference;
  if (most == 0) return -1;
  if (utf8 && static_cast<int64_t>(a.size) == a.length && static_cast<int64_t>(b.size) == b.length) utf8 = false;

  double estimate = 0;
  const size_t memory_limit = std::max(options.memory_limit, kLeastMemory);
  int64_t below = std::min(most, diagonal_edits(a.length, b.length, memory_limit));  // bound that was tried last
  if (below > 0 && difference <= below) {
    const int64_t d = EditDiagonals(utf8, a, b, ws, stats).run(below, below < most, &estimate);
    if (d >= 0) return d;
    if (below == most) return -1;
  }
  EditBand band(utf8, a, b, ws, memory_limit, stats);
  below = std::max<int64_t>(below, 16);
  for (;;) {
    // A quarter more than the guess, as long as that is a step of 2 to 8 times. Close to all: all.
    const double guess = std::min(1.25 * estimate, 8.0 * static_cast<double>(below));
    int64_t bound = std::max({2 * below, static_cast<int64_t>(guess), difference + difference / 4});
    if (bound > most / 2) bound = most;
    const int64_t fits = EditBand::greatest_bound(memory_limit);
    if (bound > fits && fits > below && fits >= difference) bound = fits;
    const int64_t d = band.run(bound, &estimate);
    if (d >= 0 && d <= bound) return d;
    if (bound == most) return -1;
    if (d >= 0) estimate = static_cast<double>(d);
    below = bound;
  }
}

struct Lengths {
  int64_t a;
  int64_t b;

  uint64_t sum() const noexcept { return static_cast<uint64_t>(a + b); }
};

// The rate of a distance, which is negative for none.
std::optional<double> distance_rate(int64_t distance, const Lengths& lengths) {
  if (distance < 0) return std::nullopt;
  if (lengths.sum() == 0) return 0.0;
  return static_cast<double>(distance) / static_cast<double>(lengths.sum());
}

// -1 above the distance that allowed(lengths) gives.
template <class Allowed>
int64_t distance(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                 const EditOptions& options, EditStats* stats, Lengths* lengths, Allowed allowed) {
  const bool utf8 = is_utf8(unit);
  Workspace ws(SIZE_MAX, nullptr, options.stop);
  EditStats own;
  EditStats& s = stats == nullptr ? own : *stats;
  s = {};
  const size_t front = common_front(utf8, a, a_size, b, b_size, ws.poller);
  const size_t back = common_back(utf8, a + front, a_size - front, b + front, b_size - front, ws.poller);
  const auto inner = [&](const uint8_t* p, size_t size) {
    const size_t left = size - front - back;
    return EditText{p + front, left, count_symbols(utf8, p + front, left, ws.poller)};
  };
  const EditText inner_a = inner(a, a_size), inner_b = inner(b, b_size);
  if (lengths != nullptr) {
    const int64_t shared =
        count_symbols(utf8, a, front, ws.poller) + count_symbols(utf8, a + a_size - back, back, ws.poller);
    *lengths = {inner_a.length + shared, inner_b.length + shared};
  }
  const int64_t d = distance_between(utf8, inner_a, inner_b, allowed(), options, ws, s);
  s.peak_bytes = ws.ledger.peak();
  return d;
}

}  // namespace

std::optional<uint64_t> edit_distance(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                      uint64_t max_distance, const EditOptions& options, EditStats* stats) {
  const int64_t d =
      distance(unit, a, a_size, b, b_size, options, stats, nullptr, [max_distance] { return max_distance; });
  if (d < 0) return std::nullopt;
  return static_cast<uint64_t>(d);
}

std::optional<double> edit_rate(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                double max_rate, const EditOptions& options, EditStats* stats) {
  max_edits(0, max_rate);  // a wrong rate is an error whatever the texts
  Lengths lengths;
  const int64_t d = distance(unit, a, a_size, b, b_size, options, stats, &lengths,
                             [&] { return max_edits(lengths.sum(), max_rate); });
  return distance_rate(d, lengths);
}

std::optional<double> edit_rate_within(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                       uint64_t max_cells, const EditOptions& options, EditStats* stats) {
  Lengths lengths;
  const int64_t d = distance(unit, a, a_size, b, b_size, options, stats, &lengths, [&] {
    const uint64_t shorter = static_cast<uint64_t>(std::min(lengths.a, lengths.b));
    return shorter == 0 ? UINT64_MAX : max_cells / shorter;
  });
  return distance_rate(d, lengths);
}

uint64_t max_edits(uint64_t total, double max_rate) {
  if (!(max_rate >= 0 && max_rate <= 1))
    throw Error(Errc::invalid_argument, "max_rate must be between 0 and 1: " + number_text(max_rate));
  if (total == 0) return 0;
  const double n = static_cast<double>(total);
  // The product is within one of the answer; the quotient decides, being what the caller sees.
  uint64_t d = std::min(total, static_cast<uint64_t>(max_rate * n));
  while (d < total && static_cast<double>(d + 1) / n <= max_rate) ++d;
  while (d > 0 && static_cast<double>(d) / n > max_rate) --d;
  return d;
}

}  // namespace neardup
