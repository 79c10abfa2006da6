// Comparing all rows of MinhashPairs with all: where bands cannot help.
#include <algorithm>
#include <atomic>
#include <vector>

#include "core/pairs/minhash/minhash_pairs_impl.h"
#include "core/work/parallel.h"

namespace neardup {
namespace {

// A tile of rows that stays in the first-level cache.
constexpr size_t kTileBytes = 16 * 1024;

}  // namespace

// The rows of [first, last) that are not duplicates.
uint32_t MinhashEngine::list_distinct(uint32_t first, uint32_t last, uint32_t* tile) const {
  uint32_t n = 0;
  for (uint32_t row = first; row < last; ++row)
    if (!equal_rows.has(row)) tile[n++] = row;
  return n;
}

// Every pair of distinct rows in memory: a task is a tile of y against all x before it.
void MinhashEngine::compare_in_memory() {
  const uint32_t n = rows.size();
  const uint32_t tile_rows = static_cast<uint32_t>(std::max<size_t>(1, kTileBytes / row_bytes));
  const uint32_t y_begin = two_sets ? count_a : 0;
  std::atomic<uint64_t> compared{0};
  std::atomic<uint64_t> joined_here{0};
  run_tasks(
      worth_threads(n) ? threads : 1, (n - y_begin + tile_rows - 1) / tile_rows, ws.poller,
      [&](unsigned, size_t task, HitSink& hits) {
        const uint32_t first = y_begin + static_cast<uint32_t>(task) * tile_rows;
        const uint32_t last = std::min(n, first + tile_rows);
        std::vector<uint32_t> tile(tile_rows);
        const uint32_t n_tile = list_distinct(first, last, tile.data());
        const uint32_t x_end = two_sets ? count_a : last;
        uint64_t count = 0;
        uint64_t joins_made = 0;
        uint32_t next = 0;  // of the tile, behind x
        for (uint32_t x = 0; x < x_end; ++x) {
          hits.spend(1);
          if (equal_rows.has(x)) continue;
          while (next < n_tile && tile[next] <= x) ++next;
          const std::byte* const row_x = rows.row(x);
          for (uint32_t i = next; i < n_tile; ++i) {
            if (already_joined(x, tile[i])) continue;
            ++count;
            const uint32_t matches = compare(row_x, rows.row(tile[i]));
            if (matches >= need) found_by_worker(x, tile[i], matches, hits, &joins_made);
          }
          hits.spend((n_tile - next) * compare_units(row_bytes));
        }
        compared.fetch_add(count, std::memory_order_relaxed);
        joined_here.fetch_add(joins_made, std::memory_order_relaxed);
      },
      [this](const Hit* hits, size_t count) {
        for (size_t i = 0; i < count; ++i) found_near(hits[i].x, hits[i].y, hits[i].value);
      });
  stats.compared += compared.load();
  stats.found += joined_here.load();
}

// Leaves all pairs out.
void MinhashEngine::leave_all() {
  for_each_distinct([this](uint32_t row) { dense->set(row); });
}

// Every pair of distinct rows: of those on disk, a block of x against tiles of y.
void MinhashEngine::compare_all() {
  stats.brute_force = true;
  if (rows.in_memory()) {
    compare_in_memory();
    return;
  }
  const uint32_t n = rows.size();
  const uint32_t x_end = two_sets ? count_a : n;
  const uint32_t tile_rows = static_cast<uint32_t>(std::max<size_t>(1, kTileBytes / row_bytes));
  const uint32_t x_rows = static_cast<uint32_t>(std::clamp<size_t>(memory_share(ws, kQuarter) / row_bytes, 1, 1 << 30));
  Array<uint32_t> tile(ws.ledger, tile_rows);  // the distinct rows of it
  Array<std::byte> x_block(ws.ledger, x_rows * row_bytes);
  Array<std::byte> y_tile(ws.ledger, tile_rows * row_bytes);
  for (uint32_t x_first = 0; x_first < x_end; x_first += x_rows) {
    const uint32_t x_last = std::min(x_end, x_first + x_rows);
    ws.poller.steps(x_first, x_end);
    rows.read(x_first, x_last - x_first, x_block.data());
    for (uint32_t y_first = two_sets ? count_a : x_first; y_first < n; y_first += tile_rows) {
      const uint32_t y_last = std::min(n, y_first + tile_rows);
      ws.poller.parts(y_first, n);
      rows.read(y_first, y_last - y_first, y_tile.data());
      const uint32_t n_tile = list_distinct(y_first, y_last, tile.data());
      uint32_t next = 0;  // of the tile, behind x
      for (uint32_t x = x_first; x < std::min(x_last, y_last); ++x) {
        if (equal_rows.has(x)) continue;
        const std::byte* row_x = x_block.data() + (x - x_first) * row_bytes;
        while (next < n_tile && tile[next] <= x) ++next;
        for (uint32_t i = next; i < n_tile; ++i) {
          const uint32_t y = tile[i];
          if (already_joined(x, y)) continue;
          ++stats.compared;
          const uint32_t matches = compare(row_x, y_tile.data() + (y - y_first) * row_bytes);
          if (matches >= need) found_near(x, y, matches);
        }
        ws.poller.spend((y_last - y_first) * compare_units(row_bytes));
      }
    }
  }
}

}  // namespace neardup
