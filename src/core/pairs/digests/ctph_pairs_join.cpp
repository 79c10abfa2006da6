// The parts that CtphPairs joins: those of one block size, in memory or block by block from files, or by the offload.
#include <algorithm>
#include <atomic>

#include "core/pairs/digests/ctph_pairs_impl.h"

namespace neardup {
namespace {

// Below this many pairs of entries threads cost more than they save.
constexpr uint64_t kFewPairs = 200'000;
// The cost of a pair of entries, at the least: lengths and symbols rule it out.
constexpr double kEntryPairCost = 1;

}  // namespace

// Every entry of x with every one of y; with self, x being y, every two entries once.
void CtphEngine::join_entries(const CtphEntries& x, const CtphEntries& y, bool self) {
  if (x.n == 0 || y.n == 0) return;
  const uint32_t words = x.words;
  const size_t word_tasks = (size_t{words} + kCtphSubjects - 1) / kCtphSubjects;
  std::atomic<uint64_t> looked{0};
  std::atomic<uint64_t> compared{0};
  const bool few = uint64_t{x.n} * y.n < kFewPairs && words == x.n;
  run_tasks(
      few ? 1 : threads, word_tasks + (x.n - words), ws.poller,
      [&](unsigned, size_t task, HitSink& hits) {
        const uint32_t first = static_cast<uint32_t>(task) * kCtphSubjects;
        const SearchCounts counts =
            task < word_tasks
                ? join_ctph_words(bound, x, first, std::min(words, first + kCtphSubjects), y, self, hits)
                : join_ctph_long(bound, x, words + static_cast<uint32_t>(task - word_tasks), y, self, hits);
        looked.fetch_add(counts.looked, std::memory_order_relaxed);
        compared.fetch_add(counts.compared, std::memory_order_relaxed);
      },
      [&](const Hit* hits, size_t n) {
        for (size_t i = 0; i < n; ++i) add_hit(hits[i]);
      });
  stats.looked += looked.load();
  stats.compared += compared.load();
}

// The end of the block of a list in a file that begins with entry `first`.
uint32_t CtphEngine::block_end(const CtphEntries& list, uint32_t first) const {
  const size_t half = memory_share(ws, kHalf);
  const size_t index = std::min(store.offset_bytes(), half - half / 4);
  size_t left = (half - index) / 2;
  uint32_t end = first;
  for (const CtphEntries::Run& run : list.runs) {
    if (run.first + run.count <= first) continue;
    const size_t each = ctph_entry_bytes(run.length);
    const uint32_t n = static_cast<uint32_t>(std::min<size_t>(run.first + run.count - end, left / each));
    end += n;
    left -= n * each;
    if (end < run.first + run.count) break;
  }
  return std::max(end, first + 1);
}

void CtphEngine::load(CtphEntries& out, const CtphEntries& list, TempFile& file, uint32_t first, uint32_t last) {
  const auto each = [&](auto on_run) {
    for (const CtphEntries::Run& run : list.runs) {
      const uint32_t from = std::max(first, run.first);
      const uint32_t to = std::min(last, run.first + run.count);
      if (from < to) on_run(run, from, to);
    }
  };
  size_t symbol_bytes = 0;
  size_t long_entries = 0;
  each([&](const CtphEntries::Run& run, uint32_t from, uint32_t to) {
    symbol_bytes += size_t{run.length} * (to - from);
    long_entries += run.length > kCtphWord ? to - from : 0;
  });
  out.reserve(last - first, long_entries, symbol_bytes, ws.ledger);
  each([&](const CtphEntries::Run& run, uint32_t from, uint32_t to) {
    uint8_t entry[sizeof(uint32_t) + kCtphMaxPart];
    const size_t size = sizeof(uint32_t) + run.length;
    for (uint32_t i = from; i < to; ++i) {
      file.read(run.at + (i - run.first) * size, entry, size);
      uint32_t row;
      std::memcpy(&row, entry, sizeof row);
      out.add(row, entry + sizeof row, run.length);
      ws.poller.spend(100 + 4 * run.length);
    }
  });
}

// The same for lists in files, block by block.
void CtphEngine::join_files(const CtphEntries& x, const CtphEntries& y, TempFile& file, bool self) {
  CtphEntries block_x;
  CtphEntries block_y;
  for (uint32_t first = 0, end; first < x.n; first = end) {
    end = block_end(x, first);
    bool loaded = false;
    const auto load_x = [&] {
      if (!loaded) load(block_x, x, file, first, end);
      loaded = true;
    };
    if (self) {
      load_x();
      join_entries(block_x, block_x, true);
    }
    // Entries of y that can match any of the block: lengths in between match, others if they match the nearest.
    const uint32_t shortest = x.run_with(first).length;
    const uint32_t longest = x.run_with(end - 1).length;
    uint32_t from = y.n;
    uint32_t to = 0;
    for (const CtphEntries::Run& run : y.runs) {
      if (!bound.may_match(std::clamp(run.length, shortest, longest), run.length)) continue;
      from = std::min(from, run.first);
      to = std::max(to, run.first + run.count);
    }
    if (self) from = std::max(from, end);
    for (uint32_t next; from < to; from = next) {
      next = std::min(to, block_end(y, from));
      load_x();
      load(block_y, y, file, from, next);
      join_entries(block_x, block_y, false);
    }
  }
}

struct PartCount {
  uint32_t entries = 0;
  uint32_t long_entries = 0;
  uint64_t symbols = 0;
};
constexpr uint32_t kLengthLists = kCtphListKinds * (kCtphExponents + 1);

// (list, length) -> row. A part without characters is near no other. counts: kLengthLists of them.
void CtphEngine::sort_parts(RecordSorter& sorted, PartCount* counts) {
  const auto add = [&](uint32_t list, size_t length, uint32_t row) {
    if (length == 0) return;
    sorted.add({list, static_cast<uint32_t>(length), row});
    ++counts[list].entries;
    counts[list].long_entries += length > kCtphWord;
    counts[list].symbols += length;
  };
  for (uint32_t row = 0; row < store.size(); ++row) {
    ws.poller.spend(2);
    if (equal_rows.has(row)) continue;
    const CtphView digest = store.read(row, buffer1);
    const uint32_t of_b = two_sets && row >= count_a;
    add(kCtphListKinds * digest.exponent + kPart1OfA + of_b, digest.part1.size(), row);
    add(kCtphListKinds * (digest.exponent + 1) + kPart2OfA + of_b, digest.part2.size(), row);
  }
  sorted.finish();
}

// False: nothing was found yet.
bool CtphEngine::join_offloaded() {
  if (!may_offload(store.in_memory())) return false;
  PartCount counts[kLengthLists];
  Array<CtphPart> parts;
  uint32_t n = 0;
  {
    RecordSorter sorted(memory_share(ws, kEighth), ws);
    sort_parts(sorted, counts);
    parts = Array<CtphPart>(ws.ledger, sorted.size());
    for (SortRecord r; sorted.next(&r); ++n) {
      const CtphView digest = store.read(r.value, buffer1);
      const std::string_view part = r.hi % kCtphListKinds < kPart2OfA ? digest.part1 : digest.part2;
      parts[n] = {part.data(), r.value, static_cast<uint16_t>(r.lo), static_cast<uint16_t>(r.hi)};
    }
  }
  double pairs = 0;
  for (uint32_t list = 0; list < kLengthLists; list += kCtphListKinds) {
    const auto entries = [&](CtphListKind kind) { return static_cast<double>(counts[list + kind].entries); };
    pairs += two_sets ? entries(kPart1OfA) * (entries(kPart1OfB) + entries(kPart2OfB)) +
                            entries(kPart1OfB) * entries(kPart2OfA)
                      : entries(kPart1OfA) * (entries(kPart1OfA) / 2 + entries(kPart2OfA));
  }
  stats.offloaded = offload->join(CtphJob{parts.data(), n, two_sets, bound.by_sum()}, pairs * kEntryPairCost / threads,
                                  ws, [this](uint32_t x, uint32_t y, uint32_t value) {
                                    add_hit({x, y, value});
                                  });
  return stats.offloaded;
}

namespace {

// Reads the parts of one exponent, which come next, into lists: in memory, or into a file, of which the lists then say
// where. count: what they will hold.
class CtphListReader {
 public:
  CtphListReader(CtphEngine& engine, RecordSorter& sorted)
      : engine_(engine), sorted_(sorted), more_(sorted.next(&next_)) {}

  void read(uint32_t exponent, const PartCount* count, CtphEntries* lists, TempFile* file) {
    if (file == nullptr)
      for (uint32_t kind = 0; kind < kCtphListKinds; ++kind)
        lists[kind].reserve(count[kind].entries, count[kind].long_entries, count[kind].symbols, engine_.ws.ledger);
    written_ = 0;
    for (; is_next(exponent); advance()) add(lists[next_.hi % kCtphListKinds], file);
  }
  void skip(uint32_t exponent) {
    while (is_next(exponent)) advance();
  }

 private:
  bool is_next(uint32_t exponent) const noexcept { return more_ && next_.hi / kCtphListKinds == exponent; }
  void advance() {
    more_ = sorted_.next(&next_);
    engine_.ws.poller.spend(10);
  }

  void add(CtphEntries& list, TempFile* file) {
    const CtphView digest = engine_.store.read(next_.value, engine_.buffer1);
    const std::string_view part = next_.hi % kCtphListKinds < kPart2OfA ? digest.part1 : digest.part2;
    uint8_t entry[sizeof(uint32_t) + kCtphMaxPart];
    std::memcpy(entry, &next_.value, sizeof(uint32_t));
    uint8_t* symbols = entry + sizeof(uint32_t);
    for (size_t i = 0; i < part.size(); ++i) symbols[i] = ctph_value(part[i]) & 63;
    engine_.ws.poller.spend(4 * part.size());
    if (file == nullptr) {
      list.add(next_.value, symbols, part.size());
      return;
    }
    const size_t bytes = sizeof(uint32_t) + part.size();
    list.add_to_runs(part.size(), written_);
    ++list.n;
    file->append(entry, bytes);
    written_ += bytes;
    engine_.ws.spilled_bytes += bytes;
  }

  CtphEngine& engine_;
  RecordSorter& sorted_;
  SortRecord next_;
  bool more_;
  uint64_t written_ = 0;
};

}  // namespace

void CtphEngine::join() {
  RecordSorter sorted(memory_share(ws, kEighth), ws);
  PartCount counts[kLengthLists];
  sort_parts(sorted, counts);
  CtphListReader reader(*this, sorted);
  for (uint32_t exponent = 0; exponent <= kCtphExponents; ++exponent) {
    const PartCount* count = counts + kCtphListKinds * exponent;
    if (count[kPart1OfA].entries + count[kPart1OfB].entries == 0) {
      reader.skip(exponent);
      continue;
    }
    CtphEntries lists[kCtphListKinds];
    const std::unique_ptr<TempFile> file = store.in_memory() ? nullptr : ws.files->create();
    reader.read(exponent, count, lists, file.get());
    const auto join_lists = [&](CtphListKind x, CtphListKind y) {
      file == nullptr ? join_entries(lists[x], lists[y], x == y) : join_files(lists[x], lists[y], *file, x == y);
    };
    join_lists(kPart1OfA, two_sets ? kPart1OfB : kPart1OfA);
    join_lists(kPart1OfA, two_sets ? kPart2OfB : kPart2OfA);
    if (two_sets) join_lists(kPart1OfB, kPart2OfA);
  }
}

}  // namespace neardup
