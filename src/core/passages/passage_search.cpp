// See passage_search.h: seeds while documents come; then windows, their counts, their proof; at last ranges.
#include "core/passages/passage_search.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/base/hash.h"
#include "core/document/text_units.h"
#include "core/passages/document_batch.h"
#include "core/passages/find_windows.h"
#include "core/passages/seed_filter.h"
#include "core/passages/seed_store.h"
#include "core/passages/seeds.h"
#include "core/passages/verify_windows.h"
#include "core/passages/window_counts.h"
#include "core/unicode/utf8.h"
#include "core/work/byte_store.h"

namespace neardup {
namespace {

// Different windows with equal hashes in so many searches are no chance.
constexpr unsigned kMaxSearches = 8;
// Steps of progress: windows, counts, proof, ranges.
constexpr uint64_t kSearchSteps = 4;
constexpr size_t kReadUnitCost = 30;  // nanoseconds
constexpr size_t kSeedCost = 10;      // nanoseconds

}  // namespace

void check_window_units(Unit unit, int64_t units, const char* name) {
  const int64_t least = is_of_lines(unit) ? 1 : 2;
  if (units < least || units > kMaxPassageUnits)
    throw Error(Errc::invalid_argument,
                std::string(name) + " must be between " + std::to_string(least) + " and " +
                    std::to_string(kMaxPassageUnits) + " for unit '" + unit_name(unit) + "': " + std::to_string(units),
                {}, std::string("It is the number of ") + units_in_words(unit) + " in a row that make a passage.");
}

void check_passage_options(const PassageOptions& o) {
  check_window_units(o.unit, o.min_units, "min_units");
  if (o.at_least < 2)
    throw Error(Errc::invalid_argument, "at_least must be at least 2: " + std::to_string(o.at_least), {},
                "It is how often a passage occurs in all documents.");
}

struct PassageSearch::Impl {
  explicit Impl(const PassageOptions& o)
      : options(o),
        ws(o.memory_limit, o.files, o.stop),
        shape{o.unit, static_cast<uint32_t>(o.min_units), static_cast<uint64_t>(o.at_least)},
        texts(memory_share(ws, kEighth), ws),
        begins(ws.ledger, kFirstDocuments),
        filter(std::in_place, memory_share(ws, kQuarter), ws),
        seeds(memory_share(ws, kSixteenth), ws),
        batch(o.threads, ws) {
    begins[0] = 0;
  }

  static constexpr size_t kFirstDocuments = 64;

  const PassageOptions options;
  Workspace ws;
  const WindowShape shape;
  ByteStore texts;
  Array<uint64_t> begins;  // rows + 1
  uint64_t rows = 0;
  std::optional<SeedFilter> filter;
  SeedStore seeds;
  DocumentBatch batch;
  DocumentPlaces places{nullptr, 0, nullptr};
  std::unique_ptr<RepeatedWindows> repeated;
  PassageSearchStats stats;

  // The walk over documents.
  std::vector<RepeatedRange> ranges;
  std::vector<CommonPassage> passages;
  size_t taken = 0;
  RangeWalk range_walk{shape.units, options.keep_first, &ranges};
  PassageWalk passage_walk{shape.units, &passages};
  uint32_t row = 0;  // that is walked over, where scanner is set
  std::vector<uint8_t> text;
  std::optional<UnitScanner> scanner;
  size_t skipped = 0;             // bytes before its first unit, which is that of the first window
  size_t skipped_characters = 0;  // and their code points
  uint64_t unit = 0;
  TextUnit last{0, 0, 0};

  // ---- while documents come

  void add(const uint8_t* bytes, size_t size) {
    if (rows + 2 > begins.size()) resize_polled(&begins, 2 * begins.size(), rows + 1, ws.ledger, ws.poller);
    texts.append(bytes, size);
    if (size >= shape.units) {
      const PlacedDocument document{bytes, size, begins[rows], static_cast<uint32_t>(rows), 0};
      if (batch.is_large(size)) {
        add_seeds();
        read_seeds(document, options.stop, [&](const Seed& seed) { keep_seed(seed); });
      } else {
        if (!batch.has_room(size)) add_seeds();
        batch.add(document);
      }
    }
    begins[++rows] = texts.size();
  }

  // Behind the last seed of a document comes one without windows.
  template <class Take>
  void read_seeds(const PlacedDocument& d, StopCheck* stop, Take take) const {
    SeedStream stream(shape.unit, shape.units, d.text, d.size, stop);
    for (Seed seed; stream.next(&seed);) take(seed);
    take(Seed{0, 0, 0});
  }

  void keep_seed(const Seed& seed) {
    if (seed.end == 0) {
      seeds.end_document();
      return;
    }
    seeds.add(seed);
    filter->add(seed.hash);
    ++stats.seeds;
  }

  // Adds the seeds of the documents in the batch.
  void add_seeds() {
    batch.run<Seed>(
        [&](unsigned, const PlacedDocument& d, StopCheck* stop, std::vector<Seed>* out) {
          read_seeds(d, stop, [&](const Seed& seed) { out->push_back(seed); });
        },
        [&](const Seed& seed) { keep_seed(seed); });
  }

  // ---- after the last one

  void run(const uint32_t* group_of) {
    add_seeds();
    filter->finish();
    seeds.finish();
    places = {begins.data(), static_cast<uint32_t>(rows), group_of};
    for (stats.searches = 1; !search(); ++stats.searches) {
      if (stats.searches < kMaxSearches) continue;
      throw Error(Errc::unsupported, "different passages have equal hashes", {},
                  "They were made for it: search the documents in parts to find them.");
    }
    filter.reset();
    repeated->rewind();
    ws.poller.steps(kSearchSteps - 1, kSearchSteps);
  }

  // False where hashes deceived.
  bool search() {
    const bool weak = stats.searches <= options.weak_searches;
    const WindowHasher hasher(mix64(options.key + stats.searches), shape.units,
                              weak ? options.weak_bits : kWindowHashBits);
    repeated.reset();
    {
      // No two windows begin at the same byte.
      WindowCounts counts(texts.size(), texts.size(), ws);
      ws.poller.steps(0, kSearchSteps);
      find_windows(hasher, &counts);
      stats.windows = counts.size();
      ws.poller.steps(1, kSearchSteps);
      repeated = counts.repeated(shape.at_least);
    }
    stats.repeated = repeated->size();
    ws.poller.steps(2, kSearchSteps);
    repeated->rewind();
    return verify_windows(repeated.get(), shape.unit, shape.units, places, &texts, ws, options.stop);
  }

  // The windows whose seed was chosen often enough.
  void find_windows(const WindowHasher& hasher, WindowCounts* counts) {
    std::vector<WindowFinder> finders(std::max(options.threads, 1u), WindowFinder(shape, hasher));
    const auto hash_batch = [&] {
      batch.run<WindowRecord>(
          [&](unsigned worker, const PlacedDocument& d, StopCheck* stop, std::vector<WindowRecord>* out) {
            size_t at = d.first_run;
            const auto next_run = [&](WindowRun* run) {
              if (at == d.end_run) return false;
              *run = batch.run_at(at++);
              return true;
            };
            finders[worker].find(d, next_run, stop, [&](const WindowRecord& r) { out->push_back(r); });
          },
          [&](const WindowRecord& r) { counts->add(r); });
    };
    seeds.rewind();
    for (uint32_t r = 0; r < rows; ++r) {
      ws.poller.parts(r, rows);
      PlacedDocument d{nullptr, static_cast<size_t>(begins[r + 1] - begins[r]), begins[r], r, places.group(r)};
      if (d.size < shape.units) continue;
      WindowRun run;
      bool any = next_run(&run);
      if (d.group == kNoGroup) {
        while (any) any = next_run(&run);
      } else if (any && batch.is_large(d.size)) {
        hash_batch();
        load(r);
        d.text = text.data();
        const auto all_runs = [&](WindowRun* next) {
          if (!any) return false;
          *next = run;
          any = next_run(&run);
          return true;
        };
        finders[0].find(d, all_runs, options.stop, [&](const WindowRecord& record) { counts->add(record); });
      } else if (any) {
        if (!batch.has_room(d.size)) hash_batch();
        texts.read(d.begin, batch.reserve(d), d.size);
        for (; any; any = next_run(&run)) batch.add_run(run);
      }
    }
    hash_batch();
  }

  // The windows of the next seed that was chosen often enough, in the document whose seeds are read.
  bool next_run(WindowRun* run) {
    for (Seed seed; seeds.next(&seed);) {
      ws.poller.spend(kSeedCost);
      if (!filter->reaches(seed.hash, shape.at_least)) continue;
      *run = {seed.first, seed.end};
      return true;
    }
    return false;
  }

  // Reads a document into `text`.
  void load(uint32_t r) {
    text.resize(static_cast<size_t>(begins[r + 1] - begins[r]));
    texts.read(begins[r], text.data(), text.size());
  }

  // ---- results

  // Walks on over units; false behind the last window of all. for_passages: makes passages, not ranges.
  bool walk(bool for_passages) {
    constexpr size_t kUnitsAtOnce = 1 << 14;
    if (!scanner && !enter_document(for_passages)) return false;
    for (size_t n = 0; n < kUnitsAtOnce; ++n) {
      ws.poller.spend(kReadUnitCost);
      TextUnit t;
      const bool more = next_unit(&t);
      const LastUnit before{text.data(), begins[row], last};
      const RepeatedWindow* window = repeated->peek();
      const bool rest = window != nullptr && window->byte < begins[row + 1];
      if (!more || !(rest || (for_passages ? passage_walk.is_open() : range_walk.is_open(unit)))) {
        if (for_passages)
          passage_walk.finish(before);
        else
          range_walk.finish(before);
        scanner.reset();
        return true;
      }
      const bool here = rest && window->byte == begins[row] + t.begin;
      const auto position = static_cast<uint32_t>(t.position);
      if (for_passages)
        passage_walk.unit(unit, position, before, here ? window : nullptr);
      else
        range_walk.unit(unit, position, before, here ? window : nullptr);
      if (here) repeated->pop();
      last = t;
      ++unit;
    }
    return true;
  }

  bool next_unit(TextUnit* unit) {
    if (!scanner->next(unit)) return false;
    unit->begin += skipped;
    unit->end += skipped;
    unit->position += skipped_characters;
    return true;
  }

  bool enter_document(bool for_passages) {
    const RepeatedWindow* window = repeated->peek();
    if (window == nullptr) return false;
    row = places.row_at(window->byte);
    ws.poller.parts(row, rows);
    load(row);
    skipped = static_cast<size_t>(window->byte - begins[row]);
    skipped_characters = count_code_points(text.data(), skipped, options.stop);
    scanner.emplace(shape.unit, text.data() + skipped, text.size() - skipped, options.stop);
    unit = 0;
    last = {0, 0, 0};
    if (for_passages)
      passage_walk.start(row);
    else
      range_walk.start(row);
    return true;
  }

  template <class T>
  size_t next_made(std::vector<T>* made, T* out, size_t most, bool for_passages) {
    while (taken == made->size()) {
      made->clear();
      taken = 0;
      if (!walk(for_passages)) return 0;
    }
    const size_t n = std::min(most, made->size() - taken);
    std::copy_n(made->begin() + static_cast<std::ptrdiff_t>(taken), n, out);
    taken += n;
    return n;
  }
};

PassageSearch::PassageSearch(const PassageOptions& options) {
  check_passage_options(options);
  impl_ = std::make_unique<Impl>(options);
}

PassageSearch::~PassageSearch() = default;

void PassageSearch::add(const uint8_t* text, size_t size) { impl_->add(text, size); }

void PassageSearch::run(const uint32_t* group_of) { impl_->run(group_of); }

size_t PassageSearch::next(RepeatedRange* out, size_t most) {
  return impl_->next_made(&impl_->ranges, out, most, false);
}

size_t PassageSearch::next(CommonPassage* out, size_t most) {
  return impl_->next_made(&impl_->passages, out, most, true);
}

void PassageSearch::read_text(uint64_t byte, void* out, size_t n) { impl_->texts.read(byte, out, n); }

PassageSearchStats PassageSearch::stats() const {
  PassageSearchStats s = impl_->stats;
  s.rows = impl_->rows;
  s.bytes = impl_->texts.size();
  s.peak_bytes = impl_->ws.ledger.peak();
  s.spilled_bytes = impl_->ws.spilled_bytes;
  return s;
}

}  // namespace neardup
