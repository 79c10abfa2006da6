// The join of MinhashPairs in memory: the pigeonhole over bands (docs/algorithms.md).
#include <algorithm>
#include <atomic>
#include <vector>

#include "core/pairs/minhash/minhash_pairs_impl.h"
#include "core/work/parallel.h"

namespace neardup {
namespace {

// Components: buckets above this size are walked class by class.
constexpr size_t kClassBucket = 16;
// Pairs of two classes that are worth asking whether they are one by now.
constexpr uint64_t kAskFirst = 8;

}  // namespace

// False: nothing was found yet.
bool MinhashEngine::join_offloaded() {
  if (dense != nullptr || !may_offload(rows.in_memory())) return false;
  const uint32_t n = distinct_rows();
  const uint32_t n_a = distinct_rows_of_a();
  Array<const void*> pointers(ws.ledger, n);
  Array<uint32_t> distinct(ws.ledger, n);
  uint32_t i = 0;
  for_each_distinct([&](uint32_t row) {
    pointers[i] = rows.row(row);
    distinct[i++] = row;
  });
  const MinhashJob job{pointers.data(), n_a, n, two_sets, num_perm, banding.bits(), need};
  stats.offloaded = offload->join(job, cost_on_cpu(distinct, n_a), ws, [&](uint32_t x, uint32_t y, uint32_t matches) {
    found_near(distinct[x], distinct[y], matches);
  });
  return stats.offloaded;
}

namespace {

constexpr uint32_t kEnd = UINT32_MAX;

// An entry of a bucket, in the list of its class.
struct ClassMember {
  uint32_t root;
  uint32_t index;
  uint32_t next;  // kEnd: the last
};

// Rows of a bucket that are joined already.
struct RowClass {
  uint32_t head;
  uint32_t tail;
  uint64_t size;
};

Array<ClassMember> members_by_root(const BandJoin& join, const uint64_t* bucket, size_t n, UnionFind& sets,
                                   Ledger& ledger, HitSink& polls) {
  Array<ClassMember> members(ledger, n);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t index = entry_index(bucket[i]);
    members[i] = {sets.find(join.x.row_of[index]), index, kEnd};
    polls.spend(20);
  }
  std::sort(members.data(), members.data() + n, [&polls](const ClassMember& a, const ClassMember& b) {
    polls.spend(2);
    return a.root < b.root;
  });
  return members;
}

}  // namespace

// A bucket for components: the rows that are joined already form classes, and only rows of two classes are looked at,
// until a pair of theirs joins both.
template <class Pair>
uint64_t MinhashEngine::join_classes(const BandJoin& join, const uint64_t* bucket, size_t n, HitSink& polls,
                                     Pair pair) {
  Array<ClassMember> members = members_by_root(join, bucket, n, *sets, ws.ledger, polls);
  std::vector<RowClass> classes;
  uint64_t looked = 0;
  const auto joined_by_a_pair = [&](const RowClass& a, const RowClass& b) {
    // Meanwhile another thread may have joined them.
    if (a.size * b.size >= kAskFirst && sets->find(members[a.head].root) == sets->find(members[b.head].root))
      return true;
    for (uint32_t i = a.head; i != kEnd; i = members[i].next) {
      const uint32_t* const keys = join.x.keys.at(members[i].index);
      for (uint32_t j = b.head; j != kEnd; j = members[j].next) {
        ++looked;
        polls.spend(2 * kLookUnits);
        if (join.filter(keys, join.x.keys.at(members[j].index)) && pair(members[i].index, members[j].index))
          return true;
      }
    }
    return false;
  };
  for (uint32_t first = 0, i = 0; i < n; ++i) {
    if (i + 1 < n && members[i + 1].root == members[i].root) {
      members[i].next = i + 1;
      continue;
    }
    RowClass own{first, i, i + uint64_t{1} - first};
    first = i + 1;
    for (size_t c = 0; c < classes.size();) {
      const RowClass other = classes[c];
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

// Calls pair(i, j) for the pairs of equal keys that pass the filter: within entries first .. last - 1 of x, cut between
// keys, or between them and y. It returns whether the two are joined now, where components are searched. Returns how
// many were looked at.
template <class Pair>
uint64_t MinhashEngine::join_piece(const BandJoin& join, size_t first, size_t last, HitSink& polls, Pair pair) {
  const JoinList& x = join.x;
  const JoinList& y = join.y;
  if (first == last) return 0;
  if (join.within()) {
    uint64_t looked = 0;
    for_each_bucket(x.entries + first, last - first, x.keys, polls, [&](const uint64_t* bucket, size_t size) {
      if (leave_dense(x, bucket, size, polls)) return;
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

// True: the pairs of this bucket are left out, and its rows are noted as dense.
bool MinhashEngine::leave_dense(const JoinList& list, const uint64_t* bucket, size_t size, HitSink& polls) {
  if (dense == nullptr || size < kDenseBucket) return false;
  for (size_t i = 0; i < size; ++i) dense->set_shared(list.row_of[entry_index(bucket[i])]);
  polls.spend(size * kLookUnits);
  return true;
}

void MinhashEngine::found_by_worker(uint32_t x, uint32_t y, uint32_t matches, HitSink& hits,
                                    uint64_t* joins_made) const {
  if (!components()) {
    hits.add(x, y, matches);
    return;
  }
  sets->unite(x, y);
  ++*joins_made;
}

// Tasks are pieces of the bands' lists, cut between keys. Where rows or keys lie on disk the threads hand over
// candidates, which wait.
void MinhashEngine::join(const std::vector<BandJoin>& joins) {
  size_t entries = 0;
  std::atomic<uint64_t> looked{0};
  std::atomic<uint64_t> compared{0};
  std::atomic<uint64_t> joined_here{0};
  const bool compared_here = candidates == nullptr;
  std::vector<size_t> first_task{0};
  for (const BandJoin& join : joins) {
    entries += join.x.n + join.y.n;
    first_task.push_back(first_task.back() + (join.x.n + kJoinTask - 1) / kJoinTask);
  }
  run_tasks(
      worth_threads(entries) ? threads : 1, first_task.back(), ws.poller,
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
        const uint64_t looks = join_piece(
            join, border(piece * kJoinTask), border((piece + 1) * kJoinTask), hits, [&](uint32_t i, uint32_t j) {
              return candidate(x.row_of[i], join.row_of_y()[j], own, hits, on_disk, found_here);
            });
        own.compare(*this, hits, found_here);
        looked.fetch_add(looks, std::memory_order_relaxed);
        compared.fetch_add(own.compared, std::memory_order_relaxed);
        joined_here.fetch_add(joins_made, std::memory_order_relaxed);
      },
      [this, compared_here](const Hit* hits, size_t count) {
        for (const Hit* hit = hits; hit < hits + count; ++hit) {
          if (compared_here)
            found_near(hit->x, hit->y, hit->value);
          else
            await(hit->x, hit->y);
        }
      });
  stats.looked += looked.load();
  stats.compared += compared.load();
  stats.found += joined_here.load();
}

void MinhashEngine::join_in_memory() {
  uint32_t n = 0;
  uint32_t n_a = 0;
  for_each_searched([&](uint32_t row) {
    ++n;
    n_a += row < count_a;
  });
  const uint32_t stride = banding.stride();
  Array<uint32_t> keys(ws.ledger, size_t{n} * stride);
  Array<uint32_t> distinct(ws.ledger, n);
  {
    uint32_t i = 0;
    for_each_searched([&](uint32_t row) { distinct[i++] = row; });
  }
  make_keys(distinct, &keys);
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
  filter.clear_done();
  for (uint32_t p = 0; p < banding.probes(); p += width) {
    ws.poller.steps(p, banding.probes());
    bands.assign(std::min(width, banding.probes() - p), BandJoin{{}, {}, filter});
    for (uint32_t i = 0; i < bands.size(); ++i) {
      bands[i].filter = filter;
      filter.mark_done(order[p + i]);
    }
    run_tasks(width, bands.size(), ws.poller, [&](unsigned, size_t i, HitSink& sink) {
      const uint32_t band = order[p + i];
      BandJoin* const join = &bands[i];
      join->x = {nullptr, n_a, keys_a, distinct.data()};
      if (two_sets) {
        join->x.entries = entries[i].sort(keys_a.keys, stride, band, n_a, sink);
        join->y = {entries_b[i].sort(keys_b.keys, stride, band, n - n_a, sink), n - n_a, keys_b, distinct.data() + n_a};
      } else {
        join->x.entries = entries[i].group(keys_a.keys, stride, band, n, &join->x.n, sink);
      }
    });
    join(bands);
  }
}

}  // namespace neardup
