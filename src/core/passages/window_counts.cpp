// See window_counts.h.
#include "core/passages/window_counts.h"

#include <algorithm>
#include <limits>

namespace neardup {
namespace {

constexpr size_t kMaxWindowParts = 4096;
constexpr size_t kLeastPartRecords = 1024;
// A slot of the table, of a table that is half full.
constexpr size_t kCountedWindowBytes = 2 * 48;
// A window as it is put in order: itself and two records of the sort.
constexpr size_t kOrderBytes = sizeof(RepeatedWindow) + 2 * sizeof(SortRecord);
constexpr size_t kMaxOrdered = size_t{1} << 22;
constexpr size_t kFirstTable = 64;
constexpr size_t kCountProbeCost = 25;  // nanoseconds

size_t parts_for(uint64_t most_windows, const Workspace& ws) {
  const size_t share = memory_share(ws, kQuarter);
  if (share == SIZE_MAX) return 1;
  return static_cast<size_t>(
      std::clamp<uint64_t>(most_windows / (share / kCountedWindowBytes) + 1, 1, kMaxWindowParts));
}

// A quarter of the limit is for the windows that are put in order, another one for the table of a part.
Partitions<WindowRecord>::Memory record_memory(const Workspace& ws) {
  return {ws.limit == SIZE_MAX ? size_t{1} << 16 : memory_share(ws, kSixteenth), memory_share(ws, kSixteenth)};
}

// The windows of a part by hash. A slot without occurrences is free.
class WindowTable {
 public:
  struct Entry {
    WindowHash hash;
    uint64_t last;  // byte of the last occurrence that was listed
    uint32_t occurrences;
    uint32_t documents;
    uint32_t last_row;
    uint32_t first_row;
    uint32_t first_character;
  };

  explicit WindowTable(Workspace& ws) : ws_(ws) { reserve(kFirstTable); }

  // The entry of a hash; new ones have no occurrences.
  Entry& entry(const WindowHash& hash) {
    if (2 * (used_ + 1) > table_.size()) reserve(2 * table_.size());
    Entry& e = table_[place(hash)];
    if (e.occurrences == 0) {
      e.hash = hash;
      e.last = kNoWindow;
      ++used_;
    }
    return e;
  }
  Entry& find(const WindowHash& hash) noexcept { return table_[place(hash)]; }

 private:
  size_t place(const WindowHash& hash) const noexcept {
    const size_t mask = table_.size() - 1;
    // The first number has chosen the part.
    size_t i = hash[1] & mask;
    while (table_[i].occurrences != 0 && table_[i].hash != hash) i = (i + 1) & mask;
    return i;
  }
  void reserve(size_t n) {
    Array<Entry> old = std::move(table_);
    table_ = Array<Entry>(ws_.ledger, n);
    zero_polled(&table_, ws_.poller);
    for (size_t i = 0; i < old.size(); ++i) {
      ws_.poller.spend(kCountProbeCost);
      if (old[i].occurrences != 0) table_[place(old[i].hash)] = old[i];
    }
  }

  Workspace& ws_;
  Array<Entry> table_;
  size_t used_ = 0;
};
static_assert(2 * sizeof(WindowTable::Entry) <= kCountedWindowBytes);

void count(WindowTable* table, const WindowRecord& r) {
  WindowTable::Entry& e = table->entry(r.hash);
  if (e.occurrences == std::numeric_limits<uint32_t>::max())
    throw Error(Errc::too_large, "a passage occurs more than 4294967295 times");
  if (e.occurrences == 0) {
    e.first_row = r.row;
    e.first_character = r.character;
  }
  if (e.occurrences == 0 || e.last_row != r.row) {
    e.last_row = r.row;
    ++e.documents;
  }
  ++e.occurrences;
}

}  // namespace

RepeatedWindows::RepeatedWindows(std::vector<uint64_t> ends, Partitions<RepeatedWindow>::Memory memory, Workspace& ws)
    : ws_(ws), ends_(std::move(ends)), parts_(ends_.size(), memory, ws) {}

void RepeatedWindows::rewind() { next_part_ = loaded_ = at_ = 0; }

bool RepeatedWindows::load() {
  if (next_part_ == parts_.parts()) return false;
  const size_t n = static_cast<size_t>(parts_.part_size(next_part_));
  if (windows_.size() < n) {
    windows_.renew(ws_.ledger, n);
    for (Array<SortRecord>& b : buffers_) b = Array<SortRecord>(ws_.ledger, n);
  }
  size_t i = 0;
  parts_.for_each(next_part_, [&](const RepeatedWindow& w) {
    windows_[i] = w;
    buffers_[0][i] = {static_cast<uint32_t>(w.byte >> 32), static_cast<uint32_t>(w.byte), static_cast<uint32_t>(i)};
    ws_.poller.spend(10);
    ++i;
  });
  order_ = sort_records(buffers_[0].data(), buffers_[1].data(), n, ws_.poller);
  loaded_ = n;
  at_ = 0;
  ++next_part_;
  return true;
}

WindowCounts::WindowCounts(uint64_t most_windows, uint64_t bytes, Workspace& ws)
    : ws_(ws),
      bytes_(bytes),
      part_records_(std::clamp(memory_share(ws, kQuarter) / kOrderBytes, kLeastPartRecords, kMaxOrdered)),
      parts_(parts_for(most_windows, ws), record_memory(ws), ws) {}

void WindowCounts::add(const WindowRecord& record) {
  if (parts_.size() % part_records_ == 0 && parts_.size() > 0) ends_.push_back(record.byte);
  __extension__ using u128 = unsigned __int128;
  parts_.add(static_cast<size_t>(static_cast<u128>(record.hash[0]) * parts_.parts() >> kWindowHashBits), record);
}

std::unique_ptr<RepeatedWindows> WindowCounts::repeated(uint64_t at_least) {
  std::vector<uint64_t> ends = ends_;
  ends.push_back(bytes_ + 1);
  const auto memory = record_memory(ws_);
  auto out = std::make_unique<RepeatedWindows>(std::move(ends),
                                               Partitions<RepeatedWindow>::Memory{memory.buffers, memory.records}, ws_);
  for (size_t part = 0; part < parts_.parts(); ++part) {
    ws_.poller.parts(part, parts_.parts());
    WindowTable table(ws_);
    parts_.for_each(part, [&](const WindowRecord& r) {
      count(&table, r);
      ws_.poller.spend(kCountProbeCost);
    });
    out->restart();
    parts_.for_each(part, [&](const WindowRecord& r) {
      WindowTable::Entry& e = table.find(r.hash);
      ws_.poller.spend(kCountProbeCost);
      if (e.occurrences < at_least) return;
      out->add({r.byte, e.last, e.occurrences, e.documents, e.first_row, e.first_character});
      e.last = r.byte;
    });
  }
  return out;
}

}  // namespace neardup
