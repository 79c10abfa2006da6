// The search of MinhashPairs: the pigeonhole over bands (docs/algorithms.md), or comparing everything where bands cannot help.
#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "core/pairs/minhash_pairs_impl.h"
#include "core/work/parallel.h"

namespace neardup {
namespace {

// Estimated nanoseconds.
constexpr double kLookCost = 5;
constexpr double kBandRowCost = 12;

// Loads are estimated from a sample of at most this many rows.
constexpr uint32_t kSampleRows = 1 << 17;
// As many tell well enough whether a GPU is worth it.
constexpr uint32_t kCostRows = 1 << 14;
// Components: buckets above this size are walked class by class.
constexpr size_t kClassBucket = 16;
// Pairs of two classes that are worth asking whether they are one by now.
constexpr uint64_t kAskFirst = 8;
// Entries of a task, and as many as are worth threads.
constexpr size_t kTaskEntries = 1 << 10;
constexpr size_t kLeastForThreads = 4 * kTaskEntries;
// Brute force: a tile of rows that stays in the first-level cache.
constexpr size_t kTileBytes = 16 * 1024;

}  // namespace

// on_row(row number) for every row that is not a duplicate, ascending.
template <class OnRow>
void MinhashPairs::Impl::for_each_distinct(OnRow on_row) {
  for (uint32_t row = 0; row < rows.size(); ++row) {
    if (!equal_rows.has(row)) on_row(row);
    ws.poller.spend(2);
  }
}

// False: nothing was found yet.
bool MinhashPairs::Impl::join_offloaded() {
  if (offload == nullptr) return false;
  if (!rows.in_memory()) {
    offload->refuse_large();
    return false;
  }
  const uint32_t n = distinct_rows();
  const uint32_t n_a = two_sets ? count_a - duplicate_count_a : n;
  Array<const void*> pointers(ws.ledger, n);
  Array<uint32_t> row_of(ws.ledger, n);
  uint32_t i = 0;
  for_each_distinct([&](uint32_t row) {
    pointers[i] = rows.row(row);
    row_of[i++] = row;
  });
  return offload->join(MinhashJob{pointers.data(), n_a, n, two_sets, num_perm, banding.bits(), need},
                         cost_here(row_of, n_a), ws,
                         [&](uint32_t x, uint32_t y, uint32_t matches) { found(row_of[x], row_of[y], matches); });
}

// Nanoseconds that the search takes here, at least. Pairs of the bands by a small sample: in families of near copies they
// are most of the work.
double MinhashPairs::Impl::cost_here(const Array<uint32_t>& row_of, uint32_t n_a) {
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
  return std::min(looks * kLookCost + rows_cost, all) / threads;
}

// ---------------------------------------------------------------- the banded join

// Orders the bands by load (pairs per band, estimated) and says whether they beat comparing everything.
bool MinhashPairs::Impl::choose_bands(const double* load) {
  order_bands(load, banding.bands(), order);
  const double n = distinct_rows();
  const double n_a = count_a - duplicate_count_a;
  const double pairs = two_sets ? n_a * (n - n_a) : n * (n - 1) / 2;
  double looks = 0;
  for (uint32_t i = 0; i < banding.probes(); ++i) looks += load[order[i]];
  const double banded = looks * kLookCost + distinct_rows() * banding.probes() * kBandRowCost;
  // In the search for components most looks are spared, and comparing is the exception.
  return components() ? n > 64 : banded < pairs * static_cast<double>(compare_units(row_bytes));
}

// A bucket for components: the rows that are joined already form classes, and only rows of two classes are looked at, until
// a pair of theirs joins both.
template <class Polls, class Pair>
uint64_t MinhashPairs::Impl::join_classes(const BandJoin& join, const uint64_t* bucket, size_t n, Polls& polls, Pair pair) {
  constexpr uint32_t kEnd = UINT32_MAX;
  struct Member {
    uint32_t root;
    uint32_t index;
    uint32_t next;
  };
  Array<Member> members(ws.ledger, n);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t index = entry_index(bucket[i]);
    members[i] = {sets->find(join.x.row_of[index]), index, kEnd};
    polls.spend(20);
  }
  std::sort(members.data(), members.data() + n, [&polls](const Member& a, const Member& b) {
    polls.spend(2);
    return a.root < b.root;
  });
  struct Class {
    uint32_t head;
    uint32_t tail;
    uint64_t size;
  };
  std::vector<Class> classes;
  uint64_t looked = 0;
  const auto joined_by_a_pair = [&](const Class& a, const Class& b) {
    // Meanwhile another thread may have joined them.
    if (a.size * b.size >= kAskFirst && sets->find(members[a.head].root) == sets->find(members[b.head].root)) return true;
    for (uint32_t i = a.head; i != kEnd; i = members[i].next) {
      const uint32_t* const keys = join.x.keys.at(members[i].index);
      for (uint32_t j = b.head; j != kEnd; j = members[j].next) {
        ++looked;
        polls.spend(2 * kLookUnits);
        if (join.filter(keys, join.x.keys.at(members[j].index)) && pair(members[i].index, members[j].index)) return true;
      }
    }
    return false;
  };
  for (uint32_t first = 0, i = 0; i < n; ++i) {
    if (i + 1 < n && members[i + 1].root == members[i].root) {
      members[i].next = i + 1;
      continue;
    }
    Class own{first, i, i + uint64_t{1} - first};
    first = i + 1;
    for (size_t c = 0; c < classes.size();) {
      const Class other = classes[c];
      polls.spend(10);
      if (!joined_by_a_pair(other, own)) {
        ++c;
        continue;
      }
      members[other.tail].next = own.head;
      own.head = other.head;
      own.size += other.size;
      classes[c] = classes.back();
      classes.pop_back();
    }
    classes.push_back(own);
  }
  return looked;
}

// Calls pair(i, j) for the pairs of equal keys that pass the filter: within entries first .. last - 1 of x, cut between keys,
// or between them and y. It returns whether the two are joined now, where components are searched. Returns how many were
// looked at.
template <class Polls, class Pair>
uint64_t MinhashPairs::Impl::join_piece(const BandJoin& join, size_t first, size_t last, Polls& polls, Pair pair) {
  const JoinList& x = join.x;
  const JoinList& y = join.y;
  if (first == last) return 0;
  if (join.within()) {
    uint64_t looked = 0;
    for_each_bucket(x.entries + first, last - first, x.keys, polls, [&](const uint64_t* bucket, size_t size) {
      if (components() && size > kClassBucket) {
        looked += join_classes(join, bucket, size, polls, pair);
        return;
      }
      looked += static_cast<uint64_t>(size) * (size - 1) / 2;
      visit_bucket(bucket, size, x.keys, join.filter, polls, pair);
    });
    return looked;
  }
  const auto before = [](uint64_t entry, uint32_t key) { return entry_key(entry) < key; };
  const auto after = [](uint32_t key, uint64_t entry) { return key < entry_key(entry); };
  const uint64_t* const end = y.entries + y.n;
  const uint64_t* const from = std::lower_bound(y.entries, end, entry_key(x.entries[first]), before);
  const uint64_t* const to = std::upper_bound(from, end, entry_key(x.entries[last - 1]), after);
  return visit_cross(x.entries + first, last - first, x.keys, from, static_cast<size_t>(to - from), y.keys, join.filter,
                     polls, pair);
}

void MinhashPairs::Impl::found_by_worker(uint32_t x, uint32_t y, uint32_t matches, HitSink& hits, uint64_t* joins_made) const {
  if (!components()) {
    hits.add(x, y, matches);
    return;
  }
  sets->unite(x, y);
  ++*joins_made;
}

bool MinhashPairs::Impl::worth_threads(size_t entries) const { return threads > 1 && entries >= kLeastForThreads; }

// By several threads: tasks are pieces of the bands' lists, cut between keys. Where the rows lie on disk the threads hand
// over candidates, which wait as always.
void MinhashPairs::Impl::join_on_threads(const std::vector<BandJoin>& joins) {
  std::atomic<uint64_t> looked{0};
  std::atomic<uint64_t> compared{0};
  std::atomic<uint64_t> joined_here{0};
  const bool in_memory = rows.in_memory();
  std::vector<size_t> first_task{0};
  for (const BandJoin& join : joins) first_task.push_back(first_task.back() + (join.x.n + kTaskEntries - 1) / kTaskEntries);
  run_tasks(
      threads, first_task.back(), ws.poller,
      [&](unsigned, size_t task, HitSink& hits) {
        const auto of = std::upper_bound(first_task.begin(), first_task.end(), task) - first_task.begin() - 1;
        const BandJoin& join = joins[static_cast<size_t>(of)];
        const JoinList& x = join.x;
        const auto border = [&x](size_t at) {
          at = std::min(at, x.n);
          while (at > 0 && at < x.n && entry_key(x.entries[at]) == entry_key(x.entries[at - 1])) ++at;
          return at;
        };
        const size_t piece = task - first_task[static_cast<size_t>(of)];
        Batch own;
        uint64_t joins_made = 0;
        const auto found_here = [&](uint32_t a, uint32_t b, uint32_t matches) {
          found_by_worker(a, b, matches, hits, &joins_made);
        };
        const auto on_disk = [&hits](uint32_t a, uint32_t b) { hits.add(a, b, 0); };
        const uint64_t looks =
            join_piece(join, border(piece * kTaskEntries), border((piece + 1) * kTaskEntries), hits,
                       [&](uint32_t i, uint32_t j) {
                         return candidate(x.row_of[i], join.row_of_y()[j], own, hits, on_disk, found_here);
                       });
        own.compare(*this, hits, found_here);
        looked.fetch_add(looks, std::memory_order_relaxed);
        compared.fetch_add(own.compared, std::memory_order_relaxed);
        joined_here.fetch_add(joins_made, std::memory_order_relaxed);
      },
      [this, in_memory](const Hit* hits, size_t count) {
        for (const Hit* hit = hits; hit < hits + count; ++hit) {
          if (in_memory)
            found(hit->x, hit->y, hit->value);
          else
            await(hit->x, hit->y);
        }
      });
  stats.looked += looked.load();
  stats.compared += compared.load();
  stats.found += joined_here.load();
}

void MinhashPairs::Impl::join(const std::vector<BandJoin>& joins) {
  size_t entries = 0;
  for (const BandJoin& band : joins) entries += band.x.n + band.y.n;
  if (worth_threads(entries)) {
    join_on_threads(joins);
    return;
  }
  const auto on_disk = [this](uint32_t a, uint32_t b) { await(a, b); };
  const auto found_here = [this](uint32_t a, uint32_t b, uint32_t matches) { found(a, b, matches); };
  for (const BandJoin& band : joins) {
    stats.looked += join_piece(band, 0, band.x.n, ws.poller, [&](uint32_t i, uint32_t j) {
      return candidate(band.x.row_of[i], band.row_of_y()[j], batch, ws.poller, on_disk, found_here);
    });
  }
}

// The key vectors of row_of's rows.
void MinhashPairs::Impl::make_keys(const Array<uint32_t>& row_of, Array<uint32_t>* keys) {
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
  run_tasks(
      worth_threads(n) ? threads : 1, (n + kTaskEntries - 1) / kTaskEntries, ws.poller,
      [&](unsigned, size_t task, HitSink& sink) {
        for (size_t i = task * kTaskEntries; i < std::min(n, (task + 1) * kTaskEntries); ++i) {
          banding.keys(rows.row(row_of[i]), keys->data() + i * stride);
          sink.spend(units);
        }
      },
      [](const Hit*, size_t) {});
}

// Pairs of each band, estimated from a sample of the key vectors.
void MinhashPairs::Impl::estimate_loads(const Array<uint32_t>& keys, uint32_t n, uint32_t n_a, double* load) {
  const uint32_t stride = banding.stride();
  const uint32_t step = n / kSampleRows + 1;
  const size_t slots = std::bit_ceil(std::max<size_t>(64, 2 * size_t{n / step + 1}));
  const size_t room = memory_share(ws, kSixteenth) / (slots * sizeof(uint32_t));
  const auto workers = static_cast<unsigned>(worth_threads(n) ? std::clamp<size_t>(room, 1, threads) : 1);
  Array<uint32_t> tables(ws.ledger, workers * slots);
  run_tasks(
      workers, banding.bands(), ws.poller,
      [&](unsigned worker, size_t band, HitSink& sink) {
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
      },
      [](const Hit*, size_t) {});
}

// Bands to sort at once: one a thread, as far as memory goes.
uint32_t MinhashPairs::Impl::bands_at_once(uint32_t n) const {
  if (!worth_threads(n)) return 1;
  if (ws.limit == SIZE_MAX) return std::min<uint32_t>(threads, banding.probes());
  const size_t held = rows.in_memory() ? rows.size() * row_bytes : 0;
  const size_t budget = rows.in_memory() ? memory_share(ws, kEighth) * 5 : memory_share(ws, kHalf);
  const size_t each = (budget - std::min(budget, held)) / n;
  const size_t without = key_stage_bytes() - BandEntries::kBytesEach;
  const size_t room = (each - std::min(each, without)) / BandEntries::kBytesEach;
  return static_cast<uint32_t>(std::clamp<size_t>(room, 1, std::min<uint32_t>(threads, banding.probes())));
}

void MinhashPairs::Impl::join_in_memory() {
  const uint32_t n = distinct_rows();
  const uint32_t n_a = two_sets ? count_a - duplicate_count_a : n;
  const uint32_t stride = banding.stride();
  Array<uint32_t> keys(ws.ledger, size_t{n} * stride);
  Array<uint32_t> row_of(ws.ledger, n);
  {
    uint32_t i = 0;
    for_each_distinct([&](uint32_t row) { row_of[i++] = row; });
  }
  make_keys(row_of, &keys);
  double load[Banding::kMaxBands] = {};
  estimate_loads(keys, n, n_a, load);
  if (!choose_bands(load)) {
    keys = Array<uint32_t>();
    compare_all();
    return;
  }

  const KeyRows keys_a{keys.data(), stride};
  const KeyRows keys_b{keys.data() + size_t{n_a} * stride, stride};
  const uint32_t width = bands_at_once(n);
  std::vector<BandEntries> entries;
  std::vector<BandEntries> entries_b;
  for (uint32_t i = 0; i < width; ++i) {
    entries.emplace_back(n_a, ws.ledger);
    entries_b.emplace_back(n - n_a, ws.ledger);
  }
  std::vector<BandJoin> bands;
  for (uint32_t p = 0; p < banding.probes(); p += width) {
    ws.poller.steps(p, banding.probes());
    bands.assign(std::min(width, banding.probes() - p), BandJoin{{}, {}, filter});
    for (uint32_t i = 0; i < bands.size(); ++i) {
      bands[i].filter = filter;
      filter.take(order[p + i]);
    }
    run_tasks(
        width, bands.size(), ws.poller,
        [&](unsigned, size_t i, HitSink& sink) {
          const uint32_t band = order[p + i];
          BandJoin* const join = &bands[i];
          join->x = {nullptr, n_a, keys_a, row_of.data()};
          if (two_sets) {
            join->x.entries = entries[i].sort(keys_a.keys, stride, band, n_a, sink);
            join->y = {entries_b[i].sort(keys_b.keys, stride, band, n - n_a, sink), n - n_a, keys_b, row_of.data() + n_a};
          } else {
            join->x.entries = entries[i].group(keys_a.keys, stride, band, n, &join->x.n, sink);
          }
        },
        [](const Hit*, size_t) {});
    join(bands);
  }
  check_pending();
}

// Key vectors on disk: blocks of rows, each with its entries sorted for every band; every two blocks are joined in
// memory, so no bucket is ever larger than memory.
void MinhashPairs::Impl::join_blocks() {
  const uint32_t stride = banding.stride();
  const size_t vector_bytes = 4 * size_t{stride};
  const uint32_t most =
      static_cast<uint32_t>(std::max<size_t>(16, memory_share(ws, kHalf) / 2 / (vector_bytes + 4 + sizeof(uint64_t))));
  struct Block {
    uint32_t count;
    bool of_b;
    uint64_t offset;  // of row numbers, key vectors, then entries band by band
  };
  std::vector<Block> blocks;
  std::unique_ptr<TempFile> file = ws.files->create();
  double load[Banding::kMaxBands] = {};
  {
    Array<uint32_t> keys(ws.ledger, size_t{most} * stride);
    Array<uint32_t> row_of(ws.ledger, most);
    BandEntries entries(most, ws.ledger);
    RowReader reader(rows, memory_share(ws, kSixteenth), ws);
    uint64_t end = 0;
    uint32_t count = 0;
    const auto flush = [&] {
      if (count == 0) return;
      blocks.push_back({count, two_sets && row_of[0] >= count_a, end});
      append_polled(*file, row_of.data(), count * size_t{4}, ws);
      append_polled(*file, keys.data(), count * vector_bytes, ws);
      for (uint32_t band = 0; band < banding.bands(); ++band) {
        const uint64_t* sorted = entries.sort(keys.data(), stride, band, count, ws.poller);
        append_polled(*file, sorted, count * sizeof(uint64_t), ws);
        for (uint32_t i = 0, first = 0; i < count; ++i) {
          if (entry_key(sorted[i]) != entry_key(sorted[first])) first = i;
          load[band] += i - first;
        }
        ws.poller.spend(count * size_t{2});
      }
      end += count * (4 + vector_bytes + banding.bands() * sizeof(uint64_t));
      count = 0;
    };
    for_each_distinct([&](uint32_t row) {
      if (count == most || (two_sets && row >= count_a && count != 0 && row_of[0] < count_a)) flush();
      row_of[count] = row;
      banding.keys(reader.row(row), keys.data() + size_t{count} * stride);
      ws.poller.spend(row_bytes / 4 + 2 * stride);
      ++count;
    });
    flush();
  }
  for (double& l : load) l *= static_cast<double>(blocks.size());
  if (!choose_bands(load)) {
    file.reset();
    compare_all();
    return;
  }

  struct Loaded {
    Loaded(uint32_t n, uint32_t stride, Ledger& ledger)
        : keys(ledger, size_t{n} * stride), row_of(ledger, n), entries(ledger, n) {}
    Array<uint32_t> keys;
    Array<uint32_t> row_of;
    Array<uint64_t> entries;
  };
  Loaded one(most, stride, ws.ledger);
  Loaded two(most, stride, ws.ledger);
  const auto load_rows = [&](const Block& block, Loaded& to) {
    read_polled(*file, block.offset, to.row_of.data(), block.count * size_t{4}, ws.poller);
    read_polled(*file, block.offset + block.count * uint64_t{4}, to.keys.data(), block.count * vector_bytes, ws.poller);
  };
  const auto load_entries = [&](const Block& block, uint32_t band, Loaded& to) {
    const uint64_t at = block.offset + block.count * (4 + vector_bytes + band * sizeof(uint64_t));
    read_polled(*file, at, to.entries.data(), block.count * sizeof(uint64_t), ws.poller);
  };
  const auto list = [stride](const Loaded& loaded, const Block& block) {
    return JoinList{loaded.entries.data(), block.count, {loaded.keys.data(), stride}, loaded.row_of.data()};
  };

  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].of_b) break;
    ws.poller.steps(i, blocks.size());
    load_rows(blocks[i], one);
    if (!two_sets) {
      filter.take_none();
      for (uint32_t p = 0; p < banding.probes(); ++p) {
        load_entries(blocks[i], order[p], one);
        join({{list(one, blocks[i]), {}, filter}});
        filter.take(order[p]);
      }
    }
    for (size_t j = i + 1; j < blocks.size(); ++j) {
      if (two_sets && !blocks[j].of_b) continue;
      load_rows(blocks[j], two);
      filter.take_none();
      for (uint32_t p = 0; p < banding.probes(); ++p) {
        load_entries(blocks[i], order[p], one);
        load_entries(blocks[j], order[p], two);
        join({{list(one, blocks[i]), list(two, blocks[j]), filter}});
        filter.take(order[p]);
      }
    }
  }
  check_pending();
}

// ---------------------------------------------------------------- brute force

// The rows of [first, last) that are not duplicates.
uint32_t MinhashPairs::Impl::distinct_of(uint32_t first, uint32_t last, uint32_t* tile) const {
  uint32_t n = 0;
  for (uint32_t row = first; row < last; ++row)
    if (!equal_rows.has(row)) tile[n++] = row;
  return n;
}

// Every pair of distinct rows in memory, by several threads: a task is a tile of y against all x before it.
void MinhashPairs::Impl::compare_on_threads() {
  const uint32_t n = rows.size();
  const uint32_t tile_rows = static_cast<uint32_t>(std::max<size_t>(1, kTileBytes / row_bytes));
  const uint32_t y_begin = two_sets ? count_a : 0;
  std::atomic<uint64_t> compared{0};
  std::atomic<uint64_t> joined_here{0};
  run_tasks(
      threads, (n - y_begin + tile_rows - 1) / tile_rows, ws.poller,
      [&](unsigned, size_t task, HitSink& hits) {
        const uint32_t first = y_begin + static_cast<uint32_t>(task) * tile_rows;
        const uint32_t last = std::min(n, first + tile_rows);
        std::vector<uint32_t> tile(tile_rows);
        const uint32_t n_tile = distinct_of(first, last, tile.data());
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
        for (size_t i = 0; i < count; ++i) found(hits[i].x, hits[i].y, hits[i].value);
      });
  stats.compared += compared.load();
  stats.found += joined_here.load();
}

// Every pair of distinct rows: a block of x (all rows when they are in memory) against tiles of y.
void MinhashPairs::Impl::compare_all() {
  stats.brute_force = true;
  if (rows.in_memory() && worth_threads(rows.size())) {
    compare_on_threads();
    return;
  }
  const uint32_t n = rows.size();
  const uint32_t x_end = two_sets ? count_a : n;
  const bool in_memory = rows.in_memory();
  const uint32_t tile_rows = static_cast<uint32_t>(std::max<size_t>(1, kTileBytes / row_bytes));
  const uint32_t x_rows =
      in_memory ? x_end : static_cast<uint32_t>(std::clamp<size_t>(memory_share(ws, kQuarter) / row_bytes, 1, 1 << 30));
  Array<std::byte> x_block;
  Array<std::byte> y_tile;
  Array<uint32_t> tile(ws.ledger, tile_rows);  // the distinct rows of it
  if (!in_memory) {
    x_block = Array<std::byte>(ws.ledger, x_rows * row_bytes);
    y_tile = Array<std::byte>(ws.ledger, tile_rows * row_bytes);
  }
  for (uint32_t x_first = 0; x_first < x_end; x_first += x_rows) {
    const uint32_t x_last = std::min(x_end, x_first + x_rows);
    ws.poller.steps(x_first, x_end);
    if (!in_memory) rows.read(x_first, x_last - x_first, x_block.data());
    for (uint32_t y_first = two_sets ? count_a : x_first; y_first < n; y_first += tile_rows) {
      const uint32_t y_last = std::min(n, y_first + tile_rows);
      ws.poller.parts(y_first, n);
      if (!in_memory) rows.read(y_first, y_last - y_first, y_tile.data());
      const uint32_t n_tile = distinct_of(y_first, y_last, tile.data());
      uint32_t next = 0;  // of the tile, behind x
      for (uint32_t x = x_first; x < std::min(x_last, y_last); ++x) {
        if (equal_rows.has(x)) continue;
        const std::byte* row_x = in_memory ? rows.row(x) : x_block.data() + (x - x_first) * row_bytes;
        while (next < n_tile && tile[next] <= x) ++next;
        for (uint32_t i = next; i < n_tile; ++i) {
          const uint32_t y = tile[i];
          if (already_joined(x, y)) continue;
          ++stats.compared;
          const uint32_t matches = compare(row_x, in_memory ? rows.row(y) : y_tile.data() + (y - y_first) * row_bytes);
          if (matches >= need) found(x, y, matches);
        }
        ws.poller.spend((y_last - y_first) * compare_units(row_bytes));
      }
    }
  }
}

}  // namespace neardup
