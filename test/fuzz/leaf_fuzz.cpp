// Leaves: entries come back as they were packed, and what open() accepts is never read beyond.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/lsh/leaf.h"

#include "test/fuzz/fuzz.h"

using namespace neardup;

namespace {

void read_all(const uint8_t* bytes, size_t size) {
  LeafView leaf;
  if (!leaf.open(bytes, size)) return;
  const uint32_t n = leaf.count();
  std::vector<Entry> entries(n);
  leaf.decode(0, n, entries.data());
  std::vector<uint64_t> tids(n);
  leaf.decode_tids(0, n, tids.data());
  for (uint32_t i = 0; i < n; ++i) DEMAND(tids[i] == entries[i].tid && tids[i] <= kMaxTid);
  const bool sorted = std::is_sorted(entries.begin(), entries.end());
  for (uint32_t i = 0; i < n; i += 1 + n / 50) {
    const uint32_t found = leaf.lower_bound(entries[i]);
    const uint32_t first = leaf.lower_bound_key(entries[i].key);
    const uint32_t end = leaf.end_from(found, entries[i]);
    const uint32_t end_of_key = leaf.end_from(found, {entries[i].key, kMaxTid});
    DEMAND(found <= n && first <= n && end >= found && end <= n && end_of_key >= found && end_of_key <= n);
    if (!sorted) continue;
    DEMAND(found <= i && entries[found] == entries[i]);
    DEMAND(first <= found && entries[first].key == entries[i].key);
    DEMAND(entries[i].tid == kMaxTid || end == found);
    DEMAND(end_of_key > i && entries[end_of_key - 1].key == entries[i].key);
    DEMAND(end_of_key == n || entries[end_of_key].key > entries[i].key);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // As bytes of a page, in memory of exactly this size.
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[size]);
  if (size != 0) std::memcpy(exact.get(), data, size);
  read_all(exact.get(), size);

  // The input as entries: a head says how many bits vary, the rest are the entries.
  fuzz::Input in(data, size);
  const unsigned key_bits = in.read<uint8_t>() % 41;
  const unsigned block_bits = in.read<uint8_t>() % 33;
  const unsigned off_bits = in.read<uint8_t>() % 17;
  const uint64_t base_key = in.read<uint64_t>() & kMaxKey;
  const uint64_t base_block = in.read<uint32_t>();
  std::vector<Entry> entries;
  while (!in.empty() && entries.size() < 20000) {
    const uint64_t a = in.read<uint32_t>();
    const uint64_t b = in.read<uint32_t>();
    const uint64_t mixed = (a << 32 | b) * 0x9e3779b97f4a7c15u;
    const auto low = [](uint64_t v, unsigned bits) { return bits == 0 ? 0 : v >> (64 - bits); };
    entries.push_back(
        {(base_key + low(mixed, key_bits)) & kMaxKey,
         (((base_block + low(a << 32, block_bits)) & 0xffffffff) << 16 | low(b << 32, off_bits)) & kMaxTid});
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  const auto packer = std::make_unique<LeafPacker>();
  uint8_t page[kLeafBytes];
  size_t at = 0;
  const auto check = [&] {
    const uint32_t n = packer->count();
    const uint32_t bytes = packer->write(page);
    DEMAND(bytes <= kLeafBytes);
    const std::unique_ptr<uint8_t[]> image(new uint8_t[bytes]);
    std::memcpy(image.get(), page, bytes);
    LeafView leaf;
    DEMAND(leaf.open(image.get(), bytes) && leaf.count() == n);
    for (uint32_t i = 0; i < n; ++i) DEMAND(leaf.at(i) == entries[at + i]);
    read_all(image.get(), bytes);
    at += n;
  };
  for (const Entry& e : entries) {
    if (packer->add(e)) continue;
    check();
    DEMAND(packer->add(e));
  }
  if (packer->count() != 0) check();
  DEMAND(at == entries.size());
  return 0;
}
