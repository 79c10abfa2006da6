// See shared_grams.h.
#include "core/passages/shared/shared_grams.h"

#include "core/document/text_units.h"

namespace neardup {

void Names::grow() {
  Numbers<Slot> old(*ws_);
  std::swap(old, slots_);
  slots_.fill(2 * old.size(), Slot{0, 0});
  for (size_t i = 0; i < old.size(); ++i) {
    ws_->poller.spend(20);
    if (old[i].name != 0) slots_[place(old[i].key)] = old[i];
  }
}

SharedUnits::SharedUnits(Unit unit, const uint8_t* a_text, size_t a_size, const std::vector<std::string_view>& b_texts,
                         Workspace& ws, StopCheck* stop)
    : a(ws),
      b(ws),
      a_begin(ws),
      a_end(ws),
      b_begin(ws),
      ws_(&ws),
      bytes_(ws),
      word_begin_(ws),
      next_(ws),
      hashes_(ws),
      chains_(ws) {
  size_t b_size = 0;
  for (const std::string_view text : b_texts) b_size += text.size();
  if (a_size > UINT32_MAX || b_size > UINT32_MAX)
    throw Error(Errc::too_large, "a document of 4 GB and more cannot be compared: " +
                                     std::to_string(a_size > b_size ? a_size : b_size) + " bytes");
  const auto number = [&](std::string_view key, bool add) {
    ws_->poller.spend(30);
    if (unit != Unit::character && unit != Unit::byte) return word(key, add);
    // A code point of 1 to 4 bytes is its own key.
    const uint64_t symbol =
        load_le_partial(reinterpret_cast<const unsigned char*>(key.data()), static_cast<unsigned>(key.size()));
    return add ? hashes_.add(symbol) : hashes_.find(symbol);
  };
  TextUnit u;
  std::string_view key;
  for (const std::string_view text : b_texts) {
    if (b.size() != 0) {
      b.add(0);
      b_begin.add(0);
    }
    for (UnitScanner units(unit, reinterpret_cast<const uint8_t*>(text.data()), text.size(), stop);
         units.next(&u, &key);) {
      b.add(number(key, true));
      b_begin.add(static_cast<uint32_t>(u.begin));
    }
  }
  for (UnitScanner units(unit, a_text, a_size, stop); units.next(&u, &key);) {
    a.add(number(key, false));
    a_begin.add(static_cast<uint32_t>(u.begin));
    a_end.add(static_cast<uint32_t>(u.end));
  }
}

// The number of a word, which is added or 0 where it is new.
uint32_t SharedUnits::word(std::string_view key, bool add) {
  const uint64_t hash = element_hash(key.data(), key.size());
  const uint32_t chain = add ? hashes_.add(hash) : hashes_.find(hash);
  if (chain == 0) return 0;
  if (chain > chains_.size()) chains_.add(0);
  for (uint32_t w = chains_[chain - 1]; w != 0; w = next_[w - 1]) {
    const uint64_t begin = word_begin_[w - 1];
    const uint64_t end = w < word_begin_.size() ? word_begin_[w] : bytes_.size();
    ws_->poller.spend(key.size() / 16);
    if (end - begin == key.size() && std::memcmp(&bytes_[begin], key.data(), key.size()) == 0) return w;
  }
  if (!add) return 0;
  word_begin_.add(bytes_.size());
  for (const char c : key) bytes_.add(c);
  next_.add(chains_[chain - 1]);
  chains_[chain - 1] = static_cast<uint32_t>(next_.size());
  return chains_[chain - 1];
}

namespace {

// Numbers that the other document lacks become 0. b's numbers are 1 .. count; a's are some of them or 0.
void drop_unshared(uint32_t count, const Numbers<uint32_t>& a, Numbers<uint32_t>* b, Workspace& ws) {
  Numbers<uint8_t> seen(ws);
  seen.fill(size_t{count} + 1, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    ws.poller.spend(3);
    seen[a[i]] = 1;
  }
  seen[0] = 0;
  for (size_t i = 0; i < b->size(); ++i) {
    ws.poller.spend(3);
    if (!seen[(*b)[i]]) (*b)[i] = 0;
  }
}

// Runs from i on and from i + step on become one.
void join_runs(size_t step, Numbers<uint32_t>* a, Numbers<uint32_t>* b, Workspace& ws) {
  Names names(ws);
  const auto join = [&](Numbers<uint32_t>& x, auto number) {
    for (size_t i = 0; i < x.size(); ++i) {
      const uint32_t second = i + step < x.size() ? x[i + step] : 0;
      if (x[i] == 0) {
        ws.poller.spend(2);
        continue;
      }
      ws.poller.spend(40);
      x[i] = second == 0 ? 0 : number(uint64_t{x[i]} << 32 | second);
    }
  };
  join(*b, [&](uint64_t key) { return names.add(key); });
  join(*a, [&](uint64_t key) { return names.find(key); });
  drop_unshared(names.count(), *a, b, ws);
}

}  // namespace

void name_shared_runs(size_t length, Numbers<uint32_t>* a, Numbers<uint32_t>* b, Workspace& ws) {
  uint32_t greatest = 0;
  for (size_t i = 0; i < b->size(); ++i) {
    ws.poller.spend(1);
    greatest = std::max(greatest, (*b)[i]);
  }
  drop_unshared(greatest, *a, b, ws);
  if (length > std::min(a->size(), b->size())) {
    a->fill(a->size(), 0);
    b->fill(b->size(), 0);
    return;
  }
  size_t done = 1;
  for (; 2 * done <= length; done *= 2) join_runs(done, a, b, ws);
  if (done < length) join_runs(length - done, a, b, ws);
}

}  // namespace neardup
