// The search of CtphPairs: parts of one block size against each other, those of lengths that can match only.
//
// Levenshtein(x, y) >= max(|x|, |y|) - c, c = number of characters in common, whatever their order: an alignment keeps
// at most c of the longer text. Bags of symbols (ctph_kernels.h) bound c and rule out nearly all pairs.
#include <algorithm>
#include <bit>

#include "core/kernels/kernels.h"
#include "core/pairs/ctph_pairs_impl.h"

namespace neardup {
namespace {

// Entries of one length that a subject is compared with between two looks at the survivors.
constexpr uint32_t kPiece = 512;
// Subjects of a task: the lanes of four groups of patterns.
constexpr uint32_t kGroups = 4;
constexpr uint32_t kSubjects = kGroups * kLevenshteinLanes;
// Below this many pairs of entries threads cost more than they save.
constexpr uint64_t kFewPairs = 200'000;

// Symbols are not looked at where of so many pairs of entries they ruled out fewer than one in eight: looking takes a
// tenth of comparing. Entries next to each other may be alike where others are not: each so many pieces it is tried anew.
constexpr uint64_t kTrial = 8192;
constexpr uint32_t kTrialPieces = 8;
// Of a pair of entries, at the least: lengths and symbols rule it out.
constexpr double kLookCost = 1;

// One lane of a group, as LevenshteinGroup describes it, and a text.
struct Lane {
  const LevenshteinGroup* group;
  size_t lane;
  const uint8_t* text;
};
constexpr size_t kLanes = 4;

// Levenshtein distances of kLanes lanes to their texts of n characters, side by side: columns of one wait for each
// other. As levenshtein_word() of ctph_compare.cpp.
void levenshtein_lanes(const Lane* lanes, size_t n, uint32_t* distances) noexcept {
  uint64_t up[kLanes];
  uint64_t down[kLanes];
  for (size_t k = 0; k < kLanes; ++k) {
    up[k] = ~uint64_t{0};
    down[k] = 0;
  }
  for (size_t j = 0; j < n; ++j) {
#pragma GCC unroll 4
    for (size_t k = 0; k < kLanes; ++k) {
      const uint64_t eq = lanes[k].group->match[lanes[k].text[j]][lanes[k].lane];
      const uint64_t diagonal = (((eq & up[k]) + up[k]) ^ up[k]) | eq | down[k];
      const uint64_t right = (down[k] | ~(diagonal | up[k])) << 1 | 1;
      const uint64_t left = diagonal & up[k];
      up[k] = left << 1 | ~(diagonal | right);
      down[k] = right & diagonal;
    }
  }
  for (size_t k = 0; k < kLanes; ++k) {
    const uint64_t rows = lanes[k].group->rows[lanes[k].lane];
    distances[k] = static_cast<uint32_t>(n) + static_cast<uint32_t>(std::popcount(up[k] & rows)) -
                   static_cast<uint32_t>(std::popcount(down[k] & rows));
  }
}

// A part of more than 64 characters against others: blocks of 64 rows (ctph_compare.cpp), of them only those that a
// path of few enough edits can touch (Ukkonen, "Algorithms for approximate string matching", 1985). Beyond them every
// step costs one, which is what a path could pay, so values are never too small.
class LongPattern {
 public:
  LongPattern(const uint8_t* pattern, size_t n) noexcept : size_(static_cast<int32_t>(n)) {
    std::memset(match_, 0, sizeof match_);
    for (size_t i = 0; i < n; ++i) match_[pattern[i]][i / kCtphWord] |= uint64_t{1} << i % kCtphWord;
  }

  // The distance, or any greater number than `most` where it is above that. The lengths differ by at most `most`.
  uint32_t distance(const uint8_t* text, size_t text_size, uint32_t most) const noexcept {
    const int32_t n = static_cast<int32_t>(text_size);
    const int32_t bound = static_cast<int32_t>(most);
    const int32_t words = (size_ + 63) / 64;
    const int32_t below = (bound + size_ - n) / 2;  // rows that a path may be below, or above, the column's own
    const int32_t above = (bound - size_ + n) / 2;
    uint64_t up[kWords];
    uint64_t down[kWords];
    int32_t bottom[kWords];  // value of the last row
    int32_t first = 0;
    int32_t last = -1;
    int32_t top = 0;  // value of the row above the first block
    for (int32_t j = 1; j <= n; ++j) {
      for (const int32_t to = (std::min(size_, j + below) - 1) / 64; last < to;) {
        ++last;
        up[last] = ~uint64_t{0};
        down[last] = 0;
        bottom[last] = (last == 0 ? j - 1 : bottom[last - 1]) + 64;
      }
      for (; first < words - 1 && 64 * (first + 1) < j - above; ++first) top = bottom[first];
      ++top;
      const uint64_t* match = match_[text[j - 1]];
      uint64_t right_in = 1;
      uint64_t left_in = 0;
      for (int32_t w = first; w <= last; ++w) {
        const uint64_t eq = match[w] | left_in;
        const uint64_t diagonal = (((eq & up[w]) + up[w]) ^ up[w]) | eq | down[w];
        const uint64_t right = down[w] | ~(diagonal | up[w]);
        const uint64_t left = diagonal & up[w];
        const uint64_t right_below = right << 1 | right_in;
        up[w] = (left << 1 | left_in) | ~(diagonal | right_below);
        down[w] = right_below & diagonal;
        right_in = right >> 63;
        left_in = left >> 63;
        bottom[w] += static_cast<int32_t>(right_in) - static_cast<int32_t>(left_in);
      }
      if (j % 16 == 0 && none_within(bottom, first, last, top, bound)) return most + 1;
    }
    int32_t distance = bottom[words - 1];
    if (size_ % 64 != 0) {
      const uint64_t beyond = ~uint64_t{0} << size_ % 64;
      distance -= std::popcount(up[words - 1] & beyond) - std::popcount(down[words - 1] & beyond);
    }
    return static_cast<uint32_t>(distance);
  }

 private:
  static constexpr size_t kWords = kCtphMaxPart / kCtphWord;

  // Whether all cells of the column are above the bound: a block's are at least the mean of its ends, less 32.
  static bool none_within(const int32_t* bottom, int32_t first, int32_t last, int32_t top, int32_t bound) noexcept {
    for (int32_t w = first; w <= last; top = bottom[w++])
      if (top + bottom[w] - 64 <= 2 * bound) return false;
    return true;
  }

  uint64_t match_[64][kWords];
  int32_t size_;
};

}  // namespace

// ---------------------------------------------------------------- parts of up to 64 characters

// Subjects first .. last - 1, of at most 64 characters each, against all entries y; with self against those behind
// them.
void CtphPairs::Impl::join_words(const CtphEntries& x, uint32_t first, uint32_t last, const CtphEntries& y, bool self,
                                 HitSink& hits) {
  const CtphKernels& kernel = *kernels().ctph;
  // A group costs the vector forms about as much as three lanes alone.
  const bool vectors = &kernel != &kScalarCtphKernels;
  const auto worth_a_group = [vectors](uint32_t marked) {
    marked &= marked - 1;
    return vectors && (marked & (marked - 1)) != 0;
  };
  LevenshteinGroup groups[kGroups];
  const uint32_t num_groups = (last - first + kLevenshteinLanes - 1) / kLevenshteinLanes;
  SymbolBag bag[kSubjects];
  uint32_t length[kSubjects];
  std::memset(groups, 0, num_groups * sizeof *groups);
  {
    const CtphEntries::Run* run = &x.run_of(first);
    for (uint32_t i = first; i < last; ++i) {
      if (i == run->first + run->count) ++run;
      const uint32_t s = i - first;
      LevenshteinGroup& group = groups[s / kLevenshteinLanes];
      const size_t lane = s % kLevenshteinLanes;
      const uint8_t* part = x.part(*run, i);
      length[s] = run->length;
      for (uint32_t c = 0; c < length[s]; ++c) group.match[part[c]][lane] |= uint64_t{1} << c;
      group.rows[lane] = ~uint64_t{0} >> (kCtphWord - length[s]);
      bag[s] = x.bag(i);
    }
  }
  const uint32_t shortest = length[0];
  const uint32_t longest = length[last - first - 1];
  const SymbolBags others = y.bags();
  uint32_t marks[kPiece];  // bit s: subject s and this entry passed
  uint32_t passed[kPiece];
  uint64_t looks = 0;
  uint64_t compares = 0;

  const auto check = [&](uint32_t s, uint32_t i, uint32_t distance, uint32_t sum) {
    if (distance <= most[sum]) hits.add(x.rows[first + s], y.rows[i], distance << 16 | sum);
  };
  Lane lanes[kLanes];  // to be compared alone, texts of one length
  uint32_t lane_subject[kLanes];
  uint32_t lane_entry[kLanes];
  size_t num_lanes = 0;
  const auto compare_lanes = [&](uint32_t text_length) {
    for (size_t k = num_lanes; k < kLanes; ++k) lanes[k] = lanes[0];
    uint32_t distances[kLanes];
    levenshtein_lanes(lanes, text_length, distances);
    hits.spend(6 * text_length);
    for (size_t k = 0; k < num_lanes; ++k)
      check(lane_subject[k], lane_entry[k], distances[k], length[lane_subject[k]] + text_length);
    num_lanes = 0;
  };
  const auto compare = [&](uint32_t mark, uint32_t i, const CtphEntries::Run& run) {
    const uint8_t* text = y.part(run, i);
    compares += static_cast<uint64_t>(std::popcount(mark));
    uint32_t distances[kSubjects];
    uint32_t many = 0;  // groups
    for (uint32_t g = 0; g < num_groups; ++g) many += worth_a_group(mark >> 8 * g & 0xff);
    if (many == kGroups) {
      kernel.levenshtein64(text, run.length, groups, kGroups, distances);
      hits.spend(16 * run.length);
    }
    for (uint32_t g = 0; g < num_groups; ++g) {
      uint32_t marked = mark >> 8 * g & 0xff;
      if (marked == 0) continue;
      const bool whole = many == kGroups || worth_a_group(marked);
      if (whole && many != kGroups) {
        kernel.levenshtein64(text, run.length, groups + g, 1, distances + 8 * g);
        hits.spend(4 * run.length);
      }
      for (; marked != 0; marked &= marked - 1) {
        const uint32_t lane = static_cast<uint32_t>(std::countr_zero(marked));
        const uint32_t s = 8 * g + lane;
        if (whole) {
          check(s, i, distances[s], length[s] + run.length);
          continue;
        }
        lanes[num_lanes] = {groups + g, lane, text};
        lane_subject[num_lanes] = s;
        lane_entry[num_lanes++] = i;
        if (num_lanes == kLanes) compare_lanes(run.length);
      }
    }
  };

  for (const CtphEntries::Run& run : y.runs) {
    const uint32_t end = run.first + run.count;
    if (self && end <= first + 1) continue;
    if (run.length < shortest && !may_match(shortest, run.length)) continue;
    if (run.length > longest && !may_match(longest, run.length)) break;
    uint64_t tried = 0;  // pairs with an entry of this run whose symbols were looked at
    uint64_t left = 0;   // those that passed
    uint32_t piece = 0;
    for (uint32_t from = self ? std::max(run.first, first + 1) : run.first; from < end; from += kPiece) {
      const uint32_t to = std::min(end, from + kPiece);
      std::memset(marks, 0, (to - from) * sizeof *marks);
      bool look = tried < kTrial || left < tried - tried / 8;
      if (++piece % kTrialPieces == 0 && !look) {
        look = true;
        tried = left = 0;
      }
      bool any = false;
      for (uint32_t s = 0; s < last - first; ++s) {
        const uint32_t start = self ? std::max(from, first + s + 1) : from;
        if (start >= to || !may_match(length[s], run.length)) continue;
        looks += to - start;
        if (!look) {
          for (uint32_t i = start - from; i < to - from; ++i) marks[i] |= uint32_t{1} << s;
          any = true;
          continue;
        }
        const uint32_t longer = std::max(length[s], run.length);
        const uint32_t edits = most[length[s] + run.length];
        const size_t n = kernel.bag_candidates(&bag[s], &others, start, to, longer - std::min(longer, edits), passed);
        for (size_t k = 0; k < n; ++k) marks[passed[k] - from] |= uint32_t{1} << s;
        any |= n != 0;
        tried += to - start;
        left += n;
        hits.spend(to - start + 10);
      }
      if (!any) continue;
      for (uint32_t i = from; i < to; ++i)
        if (marks[i - from] != 0) compare(marks[i - from], i, run);
    }
    if (num_lanes != 0) compare_lanes(run.length);
  }
  looked.fetch_add(looks, std::memory_order_relaxed);
  compared.fetch_add(compares, std::memory_order_relaxed);
}

// ---------------------------------------------------------------- longer parts

namespace {

// Whether entries of more than 64 characters can be `most` edits apart. An edit breaks at most two of a part's bigrams,
// and the others are the other part's too.
bool share_bigrams(const CtphEntries& x, uint32_t i, const CtphEntries& y, uint32_t j, uint32_t most) noexcept {
  const uint32_t more = std::max(x.num_bigrams[i - x.words], y.num_bigrams[j - y.words]);
  return more <= 2 * most ||
         kernels().ctph->common_bits(x.bigrams.data() + kBitSetWords * (i - x.words),
                                     y.bigrams.data() + kBitSetWords * (j - y.words)) >= more - 2 * most;
}

}  // namespace

// Subject i, of more than 64 characters.
void CtphPairs::Impl::join_long(const CtphEntries& x, uint32_t i, const CtphEntries& y, bool self, HitSink& hits) {
  const CtphKernels& kernel = *kernels().ctph;
  const CtphEntries::Run& of = x.run_of(i);
  const uint32_t length = of.length;
  const LongPattern pattern(x.part(of, i), length);
  const SymbolBag bag = x.bag(i);
  const SymbolBags others = y.bags();
  uint32_t passed[kPiece];
  uint64_t looks = 0;
  uint64_t compares = 0;
  for (const CtphEntries::Run& run : y.runs) {
    const uint32_t end = run.first + run.count;
    if ((self && end <= i + 1) || !may_match(length, run.length)) continue;
    const uint32_t sum = length + run.length;
    const uint32_t longer = std::max(length, run.length);
    for (uint32_t from = self ? std::max(run.first, i + 1) : run.first; from < end; from += kPiece) {
      const uint32_t to = std::min(end, from + kPiece);
      const size_t n =
          kernel.bag_candidates(&bag, &others, from, to, longer - std::min<uint32_t>(longer, most[sum]), passed);
      looks += to - from;
      hits.spend(to - from + 10);
      for (size_t k = 0; k < n; ++k) {
        if (run.length > kCtphWord && !share_bigrams(x, i, y, passed[k], most[sum])) {
          hits.spend(50);
          continue;
        }
        ++compares;
        const uint32_t distance = pattern.distance(y.part(run, passed[k]), run.length, most[sum]);
        if (distance <= most[sum]) hits.add(x.rows[i], y.rows[passed[k]], distance << 16 | sum);
        hits.spend(size_t{length} * run.length / 16 + 100);
      }
    }
  }
  looked.fetch_add(looks, std::memory_order_relaxed);
  compared.fetch_add(compares, std::memory_order_relaxed);
}

// ---------------------------------------------------------------- blocks

// Every entry of x with every one of y; with self, x being y, every two entries once.
void CtphPairs::Impl::join_entries(const CtphEntries& x, const CtphEntries& y, bool self) {
  if (x.n == 0 || y.n == 0) return;
  const uint32_t words = x.words;
  const size_t word_tasks = (size_t{words} + kSubjects - 1) / kSubjects;
  const bool few = uint64_t{x.n} * y.n < kFewPairs && words == x.n;
  run_tasks(
      few ? 1 : threads, word_tasks + (x.n - words), ws.poller,
      [&](unsigned, size_t task, HitSink& hits) {
        if (task >= word_tasks) {
          join_long(x, words + static_cast<uint32_t>(task - word_tasks), y, self, hits);
          return;
        }
        const uint32_t first = static_cast<uint32_t>(task) * kSubjects;
        join_words(x, first, std::min(words, first + kSubjects), y, self, hits);
      },
      [&](const Hit* hits, size_t n) {
        for (size_t i = 0; i < n; ++i) take(hits[i]);
      });
}

// The end of the block of a list in a file that begins with entry `first`.
uint32_t CtphPairs::Impl::block_end(const CtphEntries& list, uint32_t first) const {
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

void CtphPairs::Impl::load(CtphEntries& out, const CtphEntries& list, TempFile& file, uint32_t first, uint32_t last) {
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
void CtphPairs::Impl::join_files(const CtphEntries& x, const CtphEntries& y, TempFile& file, bool self) {
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
    const uint32_t shortest = x.run_of(first).length;
    const uint32_t longest = x.run_of(end - 1).length;
    uint32_t from = y.n;
    uint32_t to = 0;
    for (const CtphEntries::Run& run : y.runs) {
      if (!may_match(std::clamp(run.length, shortest, longest), run.length)) continue;
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

// ---------------------------------------------------------------- lists

struct PartCount {
  uint32_t entries = 0;
  uint32_t long_entries = 0;
  uint64_t symbols = 0;
};
constexpr uint32_t kLists = kCtphListKinds * (kCtphExponents + 1);

// (list, length) -> row. A part without characters is near no other. counts: kLists of them.
void CtphPairs::Impl::sort_parts(RecordSorter& sorted, PartCount* counts) {
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
bool CtphPairs::Impl::join_offloaded() {
  if (offload == nullptr) return false;
  if (!store.in_memory()) {
    offload->refuse_large();
    return false;
  }
  PartCount counts[kLists];
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
  for (uint32_t list = 0; list < kLists; list += kCtphListKinds) {
    const auto entries = [&](CtphListKind kind) { return static_cast<double>(counts[list + kind].entries); };
    pairs += two_sets ? entries(kPart1OfA) * (entries(kPart1OfB) + entries(kPart2OfB)) +
                            entries(kPart1OfB) * entries(kPart2OfA)
                      : entries(kPart1OfA) * (entries(kPart1OfA) / 2 + entries(kPart2OfA));
  }
  return offload->join(CtphJob{parts.data(), n, two_sets, most}, pairs * kLookCost / threads, ws,
                         [this](uint32_t x, uint32_t y, uint32_t value) {
                           take({x, y, value});
                         });
}

void CtphPairs::Impl::join() {
  RecordSorter sorted(memory_share(ws, kEighth), ws);
  PartCount counts[kLists];
  sort_parts(sorted, counts);

  SortRecord r;
  bool more = sorted.next(&r);
  for (uint32_t exponent = 0; exponent <= kCtphExponents; ++exponent) {
    const PartCount* count = counts + kCtphListKinds * exponent;
    const bool in_memory = store.in_memory();
    const bool wanted = count[kPart1OfA].entries + count[kPart1OfB].entries != 0;
    CtphEntries lists[kCtphListKinds];
    std::unique_ptr<TempFile> file;
    uint64_t written = 0;
    if (wanted && !in_memory) file = ws.files->create();
    if (wanted && in_memory)
      for (uint32_t kind = 0; kind < kCtphListKinds; ++kind)
        lists[kind].reserve(count[kind].entries, count[kind].long_entries, count[kind].symbols, ws.ledger);
    for (; more && r.hi / kCtphListKinds == exponent; more = sorted.next(&r)) {
      ws.poller.spend(10);
      if (!wanted) continue;
      const uint32_t kind = r.hi % kCtphListKinds;
      const CtphView digest = store.read(r.value, buffer1);
      const std::string_view part = kind < kPart2OfA ? digest.part1 : digest.part2;
      uint8_t entry[sizeof(uint32_t) + kCtphMaxPart];
      std::memcpy(entry, &r.value, sizeof(uint32_t));
      uint8_t* symbols = entry + sizeof(uint32_t);
      for (size_t i = 0; i < part.size(); ++i) symbols[i] = ctph_value(part[i]) & 63;
      ws.poller.spend(4 * part.size());
      if (in_memory) {
        lists[kind].add(r.value, symbols, part.size());
      } else {
        lists[kind].add_to_runs(part.size(), written);
        ++lists[kind].n;
        file->append(entry, sizeof(uint32_t) + part.size());
        written += sizeof(uint32_t) + part.size();
        ws.spilled_bytes += sizeof(uint32_t) + part.size();
      }
    }
    if (!wanted) continue;
    const auto join_lists = [&](CtphListKind x, CtphListKind y) {
      in_memory ? join_entries(lists[x], lists[y], x == y) : join_files(lists[x], lists[y], *file, x == y);
    };
    join_lists(kPart1OfA, two_sets ? kPart1OfB : kPart1OfA);
    join_lists(kPart1OfA, two_sets ? kPart2OfB : kPart2OfA);
    if (two_sets) join_lists(kPart1OfB, kPart2OfA);
  }
}

}  // namespace neardup
