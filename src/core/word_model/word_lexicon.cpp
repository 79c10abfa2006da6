// See word_lexicon.h. Open addressing over records in blocks, so that nothing is copied when they become more; runs of
// words by bytes, merged by a heap.
#include "core/word_model/word_lexicon.h"

#include <algorithm>
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/hash.h"
#include "core/word_model/word_places.h"

namespace neardup {
namespace {

constexpr size_t kFirstWordSlots = 256;
constexpr size_t kLeastRecordBlock = 4096;
constexpr size_t kMaxRecordBlock = size_t{1} << 20;
constexpr size_t kFirstRecord = 8;  // a record at 0 would look like a free slot

size_t padded(size_t n) noexcept { return (n + 7) & ~size_t{7}; }

// Classes of frequencies, ascending: each below 256 has its own, others share one with at most 1/64 more.
constexpr size_t kExactClasses = 256;
constexpr size_t kFrequencyClasses = kExactClasses + 56 * 64;
size_t frequency_class(uint64_t frequency) noexcept {
  if (frequency < kExactClasses) return static_cast<size_t>(frequency);
  const unsigned bits = static_cast<unsigned>(std::bit_width(frequency)) - 1;  // 8 .. 63
  return kExactClasses + (bits - 8) * 64 + (frequency >> (bits - 6) & 63);
}

// The class in which the most-th greatest lies, and how many of that class are wanted.
struct Cut {
  size_t at = 0;
  uint64_t wanted = 0;
  uint64_t total = 0;  // of that class and those above
};
Cut find_cut(const std::vector<uint64_t>& classes, uint64_t most) {
  Cut cut;
  for (size_t i = classes.size(); i-- > 0;) {
    cut.at = i;
    cut.wanted = most - cut.total;
    cut.total += classes[i];
    if (cut.total >= most) break;
  }
  return cut;
}

// More room at the end, twice as much as before, up to what is needed.
template <class T>
void make_room(Array<T>* array, size_t used, size_t needed, Workspace& ws) {
  if (needed <= array->size()) return;
  resize_polled(array, std::max(needed, array->size() + array->size() / 2), used, ws.ledger, ws.poller);
}

}  // namespace

// The words of several runs in order of their bytes, equal ones together.
class WordLexicon::Merge {
 public:
  Merge(TempFile& file, const ByteRun* runs, size_t n, size_t budget, Workspace& ws)
      : poller_(ws.poller), words_(ws.ledger, n * kMaxWordBytes) {
    const size_t share = budget / n;
    const size_t buffer =
        share < kMaxWordBytes + kLeastRunBuffer ? kLeastRunBuffer : std::min(share - kMaxWordBytes, kMaxRunBuffer);
    sources_.reserve(n);
    heap_.reserve(n);
    same_.reserve(n);
    for (size_t i = 0; i < n; ++i) {
      sources_.push_back({ByteRunReader(file, runs[i], buffer, ws), words_.data() + i * kMaxWordBytes, 0, 0, 0});
      same_.push_back(static_cast<uint32_t>(i));
    }
  }

  // The next word; word() and count() are of all runs together.
  bool next() {
    const auto later = [this](uint32_t a, uint32_t b) {
      const int order = source_word(a).compare(source_word(b));
      return order != 0 ? order > 0 : a > b;
    };
    for (const uint32_t s : same_) {
      if (!advance(sources_[s])) continue;
      heap_.push_back(s);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    same_.clear();
    count_ = 0;
    numbers_ = 0;
    while (!heap_.empty() && (same_.empty() || source_word(heap_[0]) == word())) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const Source& s = sources_[heap_.back()];
      count_ += s.count;
      numbers_ += s.numbers;
      same_.push_back(heap_.back());
      heap_.pop_back();
    }
    poller_.spend(100);
    return !same_.empty();
  }

  std::string_view word() const noexcept { return source_word(same_[0]); }
  uint64_t count() const noexcept { return count_; }
  uint64_t numbers() const noexcept { return numbers_; }

  // f(epoch, number) of the word; once a word.
  template <class F>
  void each_number(F f) {
    for (const uint32_t i : same_) {
      Source& s = sources_[i];
      for (; s.numbers > 0; --s.numbers) {
        const uint64_t epoch = s.reader.read();
        f(epoch, s.reader.read());
      }
    }
  }

 private:
  struct Source {
    ByteRunReader reader;
    uint8_t* word;
    size_t length;
    uint64_t count;
    uint64_t numbers;  // not yet read
  };

  std::string_view source_word(uint32_t s) const noexcept {
    return {reinterpret_cast<const char*>(sources_[s].word), sources_[s].length};
  }

  bool advance(Source& s) {
    for (; s.numbers > 0; --s.numbers) {
      s.reader.read();
      s.reader.read();
    }
    if (s.reader.at_end()) return false;
    const size_t shared = static_cast<size_t>(s.reader.read());
    const size_t rest = static_cast<size_t>(s.reader.read());
    if (shared > s.length || rest > kMaxWordBytes - shared)
      throw Error(Errc::corrupt_data, "a temporary file is damaged");
    s.reader.read_bytes(s.word + shared, rest);
    s.length = shared + rest;
    s.count = s.reader.read();
    s.numbers = s.reader.read();
    return true;
  }

  Poller& poller_;
  Array<uint8_t> words_;
  std::vector<Source> sources_;
  std::vector<uint32_t> heap_;
  std::vector<uint32_t> same_;
  uint64_t count_ = 0;
  uint64_t numbers_ = 0;
};

namespace {

// Writes the words of a run; each shares its beginning with the one before.
class WordWriter {
 public:
  WordWriter(TempFile& file, uint64_t written, size_t buffer, Workspace& ws)
      : out_(file, written, buffer, ws), before_(ws.ledger, kMaxWordBytes) {}

  // Then `numbers` pairs are to be put, epoch and number.
  RunWriter& put(std::string_view word, uint64_t count, uint64_t numbers) {
    size_t shared = 0;
    while (shared < length_ && shared < word.size() && before_[shared] == word[shared]) ++shared;
    out_.put(shared);
    out_.put(word.size() - shared);
    out_.put_bytes(reinterpret_cast<const uint8_t*>(word.data()) + shared, word.size() - shared);
    out_.put(count);
    out_.put(numbers);
    std::memcpy(before_.data() + shared, word.data() + shared, word.size() - shared);
    length_ = word.size();
    return out_;
  }
  ByteRun finish() { return out_.finish(); }

 private:
  RunWriter out_;
  Array<char> before_;
  size_t length_ = 0;
};

}  // namespace

WordLexicon::WordLexicon(Workspace& ws) : ws_(ws), budget_(memory_share(ws, kQuarter)) {
  const size_t block = std::clamp(std::bit_floor(budget_ / 8), kLeastRecordBlock, kMaxRecordBlock);
  block_shift_ = static_cast<unsigned>(std::countr_zero(block)) - 3;
  block_mask_ = static_cast<uint32_t>(block / 8 - 1);
  slots_ = Array<Slot>(ws.ledger, kFirstWordSlots);
  zero_polled(&slots_, ws.poller);
  mask_ = kFirstWordSlots - 1;
  grow_at_ = kFirstWordSlots / 8 * 5;
}

WordLexicon::~WordLexicon() = default;

// No format depends on tags: they are only in memory.
uint32_t WordLexicon::word_tag(const uint8_t* word, size_t n) noexcept {
  if (__builtin_expect(n > 16, 0)) return static_cast<uint32_t>(XXH3_64bits(word, n));
  const uint64_t second = n > 8 ? load_le64(word + 8) : 0;
  return static_cast<uint32_t>(mum(load_le64(word) ^ kSeed0 ^ n * kLengthFactor, second ^ kSeed1));
}

uint32_t WordLexicon::add(const uint8_t* word, size_t n, uint32_t tag) {
  for (size_t i = tag & mask_;; i = (i + 1) & mask_) {
    const Slot slot = slots_[i];
    if (slot.at == 0) return insert(i, tag, word, n);
    if (slot.tag != tag) continue;
    Record* const r = record(slot.at);
    if (r->length != n) continue;
    const uint8_t* const kept = r->word();
    bool equal = true;
    for (size_t at = 0; at < n && equal; at += 8) equal = load_le64(kept + at) == load_le64(word + at);
    if (!equal) continue;
    ++r->count;
    return r->number;
  }
}

uint32_t WordLexicon::insert(size_t slot, uint32_t tag, const uint8_t* word, size_t n) {
  const size_t bytes = sizeof(Record) + padded(n);
  const size_t block_bytes = (size_t{block_mask_} + 1) * 8;
  if (blocks_.empty() || used_ + bytes > block_bytes) {
    if (!blocks_.empty()) ++block_;
    if (block_ == blocks_.size()) {
      storage_.emplace_back(ws_.ledger, block_bytes / 8);
      blocks_.push_back(reinterpret_cast<uint8_t*>(storage_.back().data()));
    }
    used_ = block_ == 0 ? kFirstRecord : 0;
  }
  const uint64_t at = (uint64_t{block_} << block_shift_) + used_ / 8;
  if (words_ == kMaxNumbers || at > UINT32_MAX)
    throw Error(Errc::too_large, "too many different words to number in memory: more than " + std::to_string(words_));
  auto* const r = reinterpret_cast<Record*>(blocks_[block_] + used_);
  *r = {1, static_cast<uint32_t>(words_++), static_cast<uint32_t>(n)};
  // The zeros behind the word are copied, too.
  std::memcpy(r + 1, word, padded(n));
  used_ += bytes;
  slots_[slot] = {tag, static_cast<uint32_t>(at)};
  const uint32_t number = r->number;
  if (words_ >= grow_at_ && may_grow()) grow();
  look_ahead();
  ws_.poller.spend(200);
  return number;
}

// While it grows the old table is there, too.
bool WordLexicon::may_grow() const noexcept {
  const size_t held = storage_.size() * (size_t{block_mask_} + 1) * 8;
  return budget_ == SIZE_MAX || held + 3 * slots_.size() * sizeof(Slot) <= budget_;
}

void WordLexicon::grow() {
  Array<Slot> larger(ws_.ledger, 2 * slots_.size());
  zero_polled(&larger, ws_.poller);
  const size_t mask = larger.size() - 1;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if ((i & 1023) == 0) ws_.poller.spend(20 * 1024);
    if (slots_[i].at == 0) continue;
    size_t to = slots_[i].tag & mask;
    while (larger[to].at != 0) to = (to + 1) & mask;
    larger[to] = slots_[i];
  }
  slots_.swap(larger);
  mask_ = mask;
  grow_at_ = slots_.size() / 8 * 5;
}

// Sets full_ unless the next word, however long, can be added.
void WordLexicon::look_ahead() {
  if (budget_ == SIZE_MAX) return;
  const size_t block_bytes = (size_t{block_mask_} + 1) * 8;
  const bool slot = words_ + 1 < slots_.size() / 8 * 7;
  const bool room = used_ + sizeof(Record) + kMaxWordBytes <= block_bytes || block_ + 1 < blocks_.size() ||
                    (storage_.size() + 1) * block_bytes + slots_.size() * sizeof(Slot) <= budget_;
  full_ = !slot || !room || words_ + 1 >= kMaxNumbers;
}

// The slots in use at the front, in order of their words; .tag is then the first four bytes. Spoils the table.
size_t WordLexicon::sort_slots() {
  size_t n = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if ((i & 1023) == 0) ws_.poller.spend(30 * 1024);
    if (slots_[i].at == 0) continue;
    const uint8_t* const w = record(slots_[i].at)->word();  // 8 bytes at least, with zeros
    const auto first =
        static_cast<uint32_t>(w[0]) << 24 | static_cast<uint32_t>(w[1]) << 16 | static_cast<uint32_t>(w[2]) << 8 | w[3];
    slots_[n++] = {first, slots_[i].at};
  }
  std::sort(slots_.data(), slots_.data() + n, [this](const Slot& a, const Slot& b) {
    ws_.poller.spend(20);
    return a.tag != b.tag ? a.tag < b.tag : word_at(a.at) < word_at(b.at);
  });
  return n;
}

void WordLexicon::write_run() {
  const size_t n = sort_slots();
  if (file_ == nullptr) file_ = ws_.files->create();
  const uint64_t written = runs_.empty() ? 0 : runs_.back().end;
  WordWriter writer(*file_, written, std::min(ws_.limit / 16, kMaxRunBuffer), ws_);
  for (size_t i = 0; i < n; ++i) {
    const Record* const r = record(slots_[i].at);
    RunWriter& out = writer.put(word_at(slots_[i].at), r->count, 1);
    out.put(epochs_.size());
    out.put(r->number);
    ws_.poller.spend(50);
  }
  runs_.push_back(writer.finish());
  epochs_.push_back(static_cast<uint32_t>(words_));
  words_ = 0;
}

void WordLexicon::end_epoch() {
  write_run();
  zero_polled(&slots_, ws_.poller);
  block_ = 0;
  used_ = kFirstRecord;
  full_ = false;
}

void WordLexicon::free_table() {
  for (Array<uint64_t>& block : storage_) {
    block = Array<uint64_t>();
    ws_.poller.spend(100'000);
  }
  storage_.clear();
  blocks_.clear();
  slots_ = Array<Slot>();
}

size_t WordLexicon::merge_fan_in() const noexcept {
  return std::clamp<size_t>(budget_ / (kMaxWordBytes + kLeastRunBuffer), 2, kMaxOpenRuns);
}

// Merges until all runs can be read at once.
void WordLexicon::reduce_runs() {
  const size_t fan_in = merge_fan_in();
  while (runs_.size() > fan_in) {
    std::unique_ptr<TempFile> target = ws_.files->create();
    std::vector<ByteRun> merged;
    for (size_t first = 0; first < runs_.size(); first += fan_in) {
      Merge merge(*file_, runs_.data() + first, std::min(fan_in, runs_.size() - first), budget_, ws_);
      WordWriter writer(*target, merged.empty() ? 0 : merged.back().end, std::min(ws_.limit / 16, kMaxRunBuffer), ws_);
      while (merge.next()) {
        RunWriter& out = writer.put(merge.word(), merge.count(), merge.numbers());
        merge.each_number([&out](uint64_t epoch, uint64_t number) {
          out.put(epoch);
          out.put(number);
        });
      }
      merged.push_back(writer.finish());
    }
    file_ = std::move(target);
    runs_ = std::move(merged);
  }
}

void WordLexicon::add_chosen(std::string_view word, uint64_t count, uint32_t number) {
  make_room(&chosen_, chosen_count_, chosen_count_ + 1, ws_);
  make_room(&bytes_, bytes_used_, bytes_used_ + word.size(), ws_);
  std::copy(word.begin(), word.end(), bytes_.data() + bytes_used_);
  chosen_[chosen_count_++] = {count, bytes_used_, static_cast<uint32_t>(word.size()), number};
  bytes_used_ += word.size();
}

void WordLexicon::order_chosen(size_t most) {
  std::sort(chosen_.data(), chosen_.data() + chosen_count_, [this](const Chosen& a, const Chosen& b) {
    ws_.poller.spend(20);
    if (a.count != b.count) return a.count > b.count;
    return std::string_view(bytes_.data() + a.offset, a.length) < std::string_view(bytes_.data() + b.offset, b.length);
  });
  chosen_count_ = std::min(chosen_count_, most);
}

void WordLexicon::choose_in_memory(size_t most) {
  std::vector<uint64_t> classes(kFrequencyClasses);
  const auto each = [this](auto f) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if ((i & 1023) == 0) ws_.poller.spend(10 * 1024);
      if (slots_[i].at != 0) f(slots_[i].at);
    }
  };
  each([&](uint32_t at) { ++classes[frequency_class(record(at)->count)]; });
  const Cut cut = find_cut(classes, most);
  make_room(&chosen_, 0, static_cast<size_t>(cut.total), ws_);
  each([&](uint32_t at) {
    const Record* const r = record(at);
    if (frequency_class(r->count) >= cut.at) add_chosen(word_at(at), r->count, r->number);
  });
  order_chosen(most);
}

void WordLexicon::choose_from_runs(size_t most) {
  if (words_ > 0) {
    write_run();
    free_table();
  }
  reduce_runs();
  std::vector<uint64_t> classes(kFrequencyClasses);
  for (Merge merge(*file_, runs_.data(), runs_.size(), budget_, ws_); merge.next();)
    ++classes[frequency_class(merge.count())];
  Cut cut = find_cut(classes, most);
  for (Merge merge(*file_, runs_.data(), runs_.size(), budget_, ws_); merge.next();) {
    const size_t c = frequency_class(merge.count());
    if (c < cut.at) continue;
    // The first by bytes of one frequency are chosen, and so they come.
    if (c == cut.at && c < kExactClasses) {
      if (cut.wanted == 0) continue;
      --cut.wanted;
    }
    add_chosen(merge.word(), merge.count(), 0);
  }
  order_chosen(most);
}

size_t WordLexicon::choose(size_t most) {
  chosen_count_ = 0;
  bytes_used_ = 0;
  if (most == 0) return 0;
  if (runs_.empty()) {
    choose_in_memory(most);
  } else {
    choose_from_runs(most);
  }
  return chosen_count_;
}

void WordLexicon::empty_map(size_t numbers) {
  if (map_.size() < numbers) {
    map_ = Array<uint32_t>();
    map_ = Array<uint32_t>(ws_.ledger, numbers);
  }
  for (size_t i = 0; i < numbers; ++i) {
    map_[i] = vocabulary_;
    if ((i & 0xffff) == 0) ws_.poller.spend(0x10000);
  }
}

void WordLexicon::begin_maps(const uint32_t* words, size_t n) {
  vocabulary_ = static_cast<uint32_t>(n);
  if (runs_.empty()) {
    epochs_.push_back(static_cast<uint32_t>(words_));
    empty_map(words_);
    for (size_t i = 0; i < n; ++i) map_[chosen_[words[i]].number] = static_cast<uint32_t>(i);
    ws_.poller.spend(10 * n);
  } else if (words_ > 0) {
    write_run();
  }
  free_table();
  if (runs_.empty()) return;

  // The vocabulary and the runs, side by side in order of bytes.
  Array<uint32_t> order(ws_.ledger, n);
  for (size_t i = 0; i < n; ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order.data(), order.data() + n, [&](uint32_t a, uint32_t b) {
    ws_.poller.spend(30);
    return word(words[a]) < word(words[b]);
  });
  pairs_ = std::make_unique<RecordSorter>(memory_share(ws_, kEighth), ws_);
  size_t at = 0;
  reduce_runs();
  for (Merge merge(*file_, runs_.data(), runs_.size(), budget_, ws_); at < n && merge.next();) {
    if (merge.word() != word(words[order[at]])) continue;
    merge.each_number([&](uint64_t epoch, uint64_t number) {
      pairs_->add({static_cast<uint32_t>(epoch), static_cast<uint32_t>(number), order[at]});
    });
    ++at;
  }
  file_.reset();
  pairs_->finish();
  has_pair_ = pairs_->next(&pair_);
}

const uint32_t* WordLexicon::next_map() {
  if (pairs_ == nullptr) return map_.data();
  empty_map(epochs_[epoch_]);
  for (; has_pair_ && pair_.hi == epoch_; has_pair_ = pairs_->next(&pair_)) map_[pair_.lo] = pair_.value;
  ++epoch_;
  return map_.data();
}

}  // namespace neardup
