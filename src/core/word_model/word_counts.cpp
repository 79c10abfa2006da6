// See word_counts.h. One pass over the documents: each place becomes a number, the words' in a lexicon that may end an
// epoch and number anew. With the vocabulary chosen, the numbers are read once more, epoch by epoch, as its ids.
#include "core/word_model/word_counts.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "core/word_model/word_lexicon.h"
#include "core/word_model/word_pairs.h"
#include "core/work/workspace.h"

namespace neardup {
namespace {

// Instead of a place: numbers are those of the next epoch from here on.
constexpr uint32_t kNextEpoch = 0x7ffffffe;
static_assert(kNextEpoch >= WordLexicon::kMaxNumbers);

// 32-bit numbers, one after the other: in memory while they fit, else in a file.
class NumberStream {
 public:
  explicit NumberStream(Workspace& ws)
      : ws_(ws),
        most_(memory_share(ws, kHalf) / sizeof(uint32_t)),
        block_(std::clamp<size_t>(ws.limit / 32 / sizeof(uint32_t), 512, 65536)) {}

  void push(uint32_t v) {
    if (used_ == room_) make_room();
    blocks_.back()[used_++] = v;
  }

  uint64_t size() const noexcept { return written_ + (blocks_.empty() ? 0 : (blocks_.size() - 1) * block_ + used_); }
  size_t held_bytes() const noexcept { return blocks_.size() * block_ * sizeof(uint32_t); }
  bool in_file() const noexcept { return file_ != nullptr; }

  // Numbers in memory go to the file.
  void spill() {
    if (file_ == nullptr) file_ = ws_.files->create();
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const size_t n = i + 1 == blocks_.size() ? used_ : block_;
      append_polled(*file_, blocks_[i].data(), n * sizeof(uint32_t), ws_);
      written_ += n;
    }
    if (blocks_.size() > 1) blocks_.resize(1);
    used_ = 0;
  }

  // The next numbers in order, until the next call; 0 after the last. They are read once.
  size_t read(const uint32_t** numbers) {
    if (file_ != nullptr && !blocks_.empty()) {
      if (used_ > 0) spill();
      room_ = 0;
      const size_t n = static_cast<size_t>(std::min<uint64_t>(block_, written_ - read_));
      read_polled(*file_, read_ * sizeof(uint32_t), blocks_[0].data(), n * sizeof(uint32_t), ws_.poller);
      read_ += n;
      *numbers = blocks_[0].data();
      return n;
    }
    if (read_ > 0) blocks_[static_cast<size_t>(read_ - 1)] = Array<uint32_t>();
    if (read_ == blocks_.size()) return 0;
    *numbers = blocks_[static_cast<size_t>(read_)].data();
    return ++read_ == blocks_.size() ? used_ : block_;
  }

 private:
  void make_room() {
    if (ws_.files != nullptr && !blocks_.empty() && (file_ != nullptr || (blocks_.size() + 1) * block_ > most_)) {
      spill();
    } else {
      blocks_.emplace_back(ws_.ledger, block_);
      used_ = 0;
    }
    room_ = block_;
  }

  Workspace& ws_;
  const size_t most_;
  const size_t block_;
  std::vector<Array<uint32_t>> blocks_;
  size_t used_ = 0;  // of the last block
  size_t room_ = 0;
  std::unique_ptr<TempFile> file_;
  uint64_t written_ = 0;
  uint64_t read_ = 0;  // numbers of the file, or blocks
};

}  // namespace

class WordCounts::Engine {
 public:
  explicit Engine(const WordCountOptions& options)
      : options_(options), ws_(options.memory_limit, options.files, options.stop), lexicon_(ws_), stream_(ws_) {
    if (options.window < 1 || options.window > kMaxWordWindow)
      throw Error(Errc::invalid_argument, "window must be between 1 and 16: " + std::to_string(options.window));
    if (options.discount >= kDiscountUnits)
      throw Error(Errc::invalid_argument,
                  "discount must be below 1000 thousandths: " + std::to_string(options.discount));
  }

  void add_document(const uint8_t* text, size_t size) {
    begin_document();
    WordPlaces places(text, size, options_.stop);
    for (WordPlace place; places.next(&place);) {
      if (place.begins && options_.sentences) begins_ = true;
      put(reinterpret_cast<const uint8_t*>(place.word.data()), place.word.size());
    }
  }

  void begin_document() {
    ++documents_;
    begins_ = true;
  }

  void add_word(std::string_view word) {
    ws_.poller.spend(50);
    size_t n = 0;
    if (word.size() <= kMaxWordBytes) {
      n = word.size();
      std::copy(word.begin(), word.end(), word_);
      std::memset(word_ + n, 0, 8);
    }
    put(word_, n);
  }

  size_t choose(size_t most) {
    flush();
    return lexicon_.choose(most);
  }

  void count(const uint32_t* words, size_t n, uint32_t features) {
    flush();
    if (n > kMaxWords)
      throw Error(Errc::invalid_argument, "a word model has at most 1000000 words: " + std::to_string(n));
    WordPairOptions o;
    o.words = static_cast<uint32_t>(n);
    o.contexts = features;
    o.window = options_.window;
    o.by_position = options_.by_position;
    o.discount = options_.discount;
    // A place adds 1 to a count, or without positions as many as there are places in its window.
    o.wide = stream_.size() > UINT32_MAX / (o.by_position ? 1 : 2 * static_cast<uint64_t>(o.window));
    lexicon_.begin_maps(words, n);
    const uint64_t most = WordPairs::expected(stream_.size(), windows_, options_.window);
    const size_t held = lexicon_.held_bytes() + memory_share(ws_, kEighth);
    pairs_.emplace(o, most, held + stream_.held_bytes(), ws_);
    if (pairs_->chunk_places() < most && ws_.limit != SIZE_MAX && !stream_.in_file()) {
      // In a file the numbers leave more room for chunks, and what is counted in one is not written.
      pairs_.reset();
      stream_.spill();
      pairs_.emplace(o, most, held + stream_.held_bytes(), ws_);
    }
    const uint32_t* map = lexicon_.next_map();
    const uint32_t* numbers;
    while (const size_t size = stream_.read(&numbers)) {
      for (size_t from = 0; from < size;) {
        const uint32_t* const at = std::find(numbers + from, numbers + size, kNextEpoch);
        const size_t to = static_cast<size_t>(at - numbers);
        pairs_->add(numbers + from, to - from, map);
        if (to < size) map = lexicon_.next_map();
        from = to + 1;
      }
    }
    pairs_->finish();
  }

  const WordCountOptions options_;
  Workspace ws_;
  WordLexicon lexicon_;
  NumberStream stream_;
  std::optional<WordPairs> pairs_;
  uint64_t documents_ = 0;
  uint64_t places_ = 0;

 private:
  // Places wait here until there are some, so that words are fetched side by side from a lexicon larger than the
  // caches.
  static constexpr size_t kWaitingWords = 32;
  static constexpr size_t kWaitingBytes = 8192;
  struct Waiting {
    uint32_t tag;
    uint16_t length;  // 0: without a word
    uint16_t at;      // in waiting_bytes_
    bool begins;
  };

  // The next place: a word with 8 zeros behind it, or none.
  void put(const uint8_t* word, size_t n) {
    ++places_;
    Waiting& w = waiting_[waiting_count_++];
    w.length = static_cast<uint16_t>(n);
    w.begins = std::exchange(begins_, false);
    if (n > 0) {
      uint8_t* const copy = waiting_bytes_ + waiting_used_;
      const size_t size = (n + 7) & ~size_t{7};
      std::memcpy(copy, word, size);
      w.tag = WordLexicon::word_tag(copy, n);
      w.at = static_cast<uint16_t>(waiting_used_);
      waiting_used_ += size;
      lexicon_.prefetch_slot(w.tag);
    }
    if (waiting_count_ == kWaitingWords || waiting_used_ > kWaitingBytes - kMaxWordBytes) flush();
  }

  void flush() {
    for (size_t i = 0; i < waiting_count_; ++i)
      if (waiting_[i].length > 0) lexicon_.prefetch_word(waiting_[i].tag);
    for (size_t i = 0; i < waiting_count_; ++i) {
      const Waiting& w = waiting_[i];
      starts_ |= w.begins;
      uint32_t number = kNoWord;
      if (w.length == 0) {
        // Before the first word of a window, and beyond its width, such places change nothing.
        if (starts_ || gap_ == options_.window) continue;
        ++gap_;
      } else {
        gap_ = 0;
        if (lexicon_.full()) {
          lexicon_.end_epoch();
          stream_.push(kNextEpoch);
        }
        number = lexicon_.add(waiting_bytes_ + w.at, w.length, w.tag);
      }
      windows_ += starts_;
      stream_.push(number | (starts_ ? kBeginsWindow : 0));
      starts_ = false;
    }
    waiting_count_ = 0;
    waiting_used_ = 0;
  }

  bool begins_ = true;    // a window begins with the next place that is put,
  bool starts_ = true;    // and with the next one that is numbered
  int gap_ = 0;           // places without a word before it
  uint64_t windows_ = 0;  // how many began
  uint8_t word_[kMaxWordBytes + 8];
  Waiting waiting_[kWaitingWords];
  size_t waiting_count_ = 0;
  uint8_t waiting_bytes_[kWaitingBytes];
  size_t waiting_used_ = 0;
};

WordCounts::WordCounts(const WordCountOptions& options) : engine_(std::make_unique<Engine>(options)) {}
WordCounts::~WordCounts() = default;

void WordCounts::add_document(const uint8_t* text, size_t size) { engine_->add_document(text, size); }
void WordCounts::begin_words() { engine_->begin_document(); }
void WordCounts::add_word(std::string_view word) { engine_->add_word(word); }
void WordCounts::end_words() {}

uint64_t WordCounts::documents() const noexcept { return engine_->documents_; }
uint64_t WordCounts::places() const noexcept { return engine_->places_; }

size_t WordCounts::choose(size_t most) { return engine_->choose(most); }
std::string_view WordCounts::word(size_t candidate) const noexcept { return engine_->lexicon_.word(candidate); }
uint64_t WordCounts::frequency(size_t candidate) const noexcept { return engine_->lexicon_.frequency(candidate); }

void WordCounts::count(const uint32_t* words, size_t n, uint32_t features) { engine_->count(words, n, features); }
bool WordCounts::next_row(WordRow* row) { return engine_->pairs_->next_row(row); }

uint32_t WordCounts::features() const noexcept { return engine_->pairs_->features(); }
uint64_t WordCounts::pairs() const noexcept { return engine_->pairs_->pairs(); }
uint64_t WordCounts::spilled_bytes() const noexcept { return engine_->ws_.spilled_bytes; }
size_t WordCounts::peak_bytes() const noexcept { return engine_->ws_.ledger.peak(); }

}  // namespace neardup
