// The bands that MinhashPairs joins, by their loads: pairs of rows with equal keys, estimated from a sample.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "core/pairs/minhash/minhash_pairs_impl.h"
#include "core/work/parallel.h"

namespace neardup {
namespace {

// Estimated nanoseconds.
constexpr double kBandLookCost = 5;
constexpr double kBandRowCost = 12;

// So many rows tell well enough whether a GPU is worth it.
constexpr uint32_t kCostRows = 1 << 14;
// Entries that are worth threads.
constexpr size_t kLeastEntriesForThreads = 4 * kJoinTask;

}  // namespace

bool MinhashEngine::worth_threads(size_t entries) const { return threads > 1 && entries >= kLeastEntriesForThreads; }

// Nanoseconds that the search takes on this processor, at least. Pairs of the bands by a small sample: in families of
// near copies they are most of the work.
double MinhashEngine::cost_on_cpu(const Array<uint32_t>& row_of, uint32_t n_a) {
  const auto n = static_cast<uint32_t>(row_of.size());
  const double pairs = two_sets ? double{1} * n_a * (n - n_a) : double{0.5} * n * n;
  const double all = pairs * static_cast<double>(compare_units(row_bytes));
  if (!banding.usable() || n < 2) return all / threads;
  const uint32_t step = n / kCostRows + 1;
  Array<uint32_t> some(ws.ledger, (n - 1) / step + 1);
  for (uint32_t i = 0; i < some.size(); ++i) some[i] = row_of[i * step];
  Array<uint32_t> keys(ws.ledger, some.size() * banding.stride());
  make_keys(some, &keys);
  double load[Banding::kMaxBands] = {};
  estimate_loads(keys, static_cast<uint32_t>(some.size()), (n_a + step - 1) / step, load);
  std::sort(load, load + banding.bands());
  double looks = 0;
  for (uint32_t i = 0; i < banding.probes(); ++i) looks += load[i] * step * step;
  const double rows_cost = double{1} * n * (banding.probes() * kBandRowCost + static_cast<double>(row_bytes) / 4);
  return std::min(looks * kBandLookCost + rows_cost, all) / threads;
}

// Orders the bands by load (pairs per band, estimated) and says whether they beat comparing everything. Rows of large
// buckets are not compared with all.
bool MinhashEngine::choose_bands(const double* load) {
  order_bands(load, banding.bands(), order);
  if (only != nullptr) return true;
  const double n = distinct_rows();
  const double n_a = distinct_rows_of_a();
  const double pairs = two_sets ? n_a * (n - n_a) : n * (n - 1) / 2;
  double looks = 0;
  for (uint32_t i = 0; i < banding.probes(); ++i) looks += load[order[i]];
  const double banded = looks * kBandLookCost + distinct_rows() * banding.probes() * kBandRowCost;
  // In the search for components most looks are spared, and comparing is the exception; where dense rows are left out
  // those of all large buckets are.
  return components() || dense != nullptr ? n > 64 : banded < pairs * static_cast<double>(compare_units(row_bytes));
}

// The key vectors of row_of's rows.
void MinhashEngine::make_keys(const Array<uint32_t>& row_of, Array<uint32_t>* keys) {
  const size_t n = row_of.size();
  const size_t stride = banding.stride();
  const size_t units = row_bytes / 4 + 2 * stride;
  if (!rows.in_memory()) {
    RowReader reader(rows, memory_share(ws, kSixteenth), ws);
    for (size_t i = 0; i < n; ++i) {
      banding.keys(reader.row(row_of[i]), keys->data() + i * stride);
      ws.poller.spend(units);
    }
    return;
  }
  run_tasks(worth_threads(n) ? threads : 1, (n + kJoinTask - 1) / kJoinTask, ws.poller,
            [&](unsigned, size_t task, HitSink& sink) {
              for (size_t i = task * kJoinTask; i < std::min(n, (task + 1) * kJoinTask); ++i) {
                banding.keys(rows.row(row_of[i]), keys->data() + i * stride);
                sink.spend(units);
              }
            });
}

// Pairs of each band, estimated from a sample of the key vectors.
void MinhashEngine::estimate_loads(const Array<uint32_t>& keys, uint32_t n, uint32_t n_a, double* load) {
  const uint32_t stride = banding.stride();
  const uint32_t step = n / kSampleRows + 1;
  const size_t slots = std::bit_ceil(std::max<size_t>(64, 2 * size_t{n / step + 1}));
  const size_t room = memory_share(ws, kSixteenth) / (slots * sizeof(uint32_t));
  const auto workers = static_cast<unsigned>(worth_threads(n) ? std::clamp<size_t>(room, 1, threads) : 1);
  Array<uint32_t> tables(ws.ledger, workers * slots);
  run_tasks(workers, banding.bands(), ws.poller, [&](unsigned worker, size_t band, HitSink& sink) {
    uint32_t* const counts = tables.data() + worker * slots;
    std::memset(counts, 0, slots * sizeof *counts);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i += step) {
      uint32_t& count = counts[keys[size_t{i} * stride + band] & (slots - 1)];
      if (!two_sets || i >= n_a) sum += count;
      if (!two_sets || i < n_a) ++count;
    }
    load[band] = static_cast<double>(sum) * step * step;
    sink.spend(slots / 4 + n / step * 4);
  });
}

// Bands to sort at once: one a thread, as far as memory goes.
uint32_t MinhashEngine::bands_at_once(uint32_t n) const {
  if (!worth_threads(n)) return 1;
  if (ws.limit == SIZE_MAX) return std::min<uint32_t>(threads, banding.probes());
  const size_t held = rows.in_memory() ? rows.size() * row_bytes : 0;
  const size_t budget = rows.in_memory() ? memory_share(ws, kEighth) * 5 : memory_share(ws, kHalf);
  const size_t each = (budget - std::min(budget, held)) / n;
  const size_t without = key_stage_bytes() - BandEntries::kBytesEach;
  const size_t room = (each - std::min(each, without)) / BandEntries::kBytesEach;
  return static_cast<uint32_t>(std::clamp<size_t>(room, 1, std::min<uint32_t>(threads, banding.probes())));
}

}  // namespace neardup
