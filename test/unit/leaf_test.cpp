// Leaves: what is packed comes back, searches agree with std::lower_bound, hostile bytes are never read beyond.
#include "core/lsh/leaf.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace neardup::leaf_test {
namespace {

using Random = std::mt19937_64;

// The image alone in memory of its own, so that the sanitizer sees an access outside.
struct Image {
  explicit Image(uint32_t bytes) : data(new uint8_t[bytes]), size(bytes) {}
  std::unique_ptr<uint8_t[]> data;
  uint32_t size;
};

Image write(LeafPacker* packer) {
  std::vector<uint8_t> room(kLeafBytes, 0xee);
  const uint32_t size = packer->write(room.data());
  EXPECT_LE(size, kLeafBytes);
  for (uint32_t i = size; i < kLeafBytes; ++i) EXPECT_EQ(room[i], 0xee) << "byte " << i << " after the end was written";
  Image image(size);
  std::copy_n(room.data(), size, image.data.get());
  return image;
}

std::vector<Image> pack(const std::vector<Entry>& entries) {
  const auto packer = std::make_unique<LeafPacker>();
  std::vector<Image> out;
  for (const Entry& e : entries) {
    if (!packer->add(e)) {
      EXPECT_GT(packer->count(), 0u);
      out.push_back(write(packer.get()));
      EXPECT_EQ(packer->count(), 0u);
      EXPECT_TRUE(packer->add(e)) << "an empty leaf takes any entry";
    }
    EXPECT_EQ(packer->last(), e);
  }
  if (packer->count() != 0) out.push_back(write(packer.get()));
  return out;
}

// Every access of the leaf against the plain entries [from, to).
void expect_same(const LeafView& leaf, const std::vector<Entry>& entries, size_t from, Random& random) {
  const uint32_t n = leaf.count();
  for (uint32_t i = 0; i < n; ++i) {
    ASSERT_EQ(leaf.at(i), entries[from + i]);
    ASSERT_EQ(leaf.key(i), entries[from + i].key);
    ASSERT_EQ(leaf.tid(i), entries[from + i].tid);
  }
  EXPECT_EQ(leaf.one_key(), n == 0 || entries[from].key == entries[from + n - 1].key);
  const uint32_t a = static_cast<uint32_t>(random() % (n + 1));
  const uint32_t b = a + static_cast<uint32_t>(random() % (n + 1 - a));
  std::vector<Entry> some(b - a);
  leaf.decode(a, b, some.data());
  EXPECT_TRUE(std::equal(some.begin(), some.end(), entries.begin() + from + a));
  std::vector<uint64_t> tids(b - a);
  leaf.decode_tids(a, b, tids.data());
  for (uint32_t i = 0; i < b - a; ++i) EXPECT_EQ(tids[i], entries[from + a + i].tid);

  const auto begin = entries.begin() + from;
  const auto end = begin + n;
  const auto check = [&](const Entry& e) {
    ASSERT_EQ(leaf.lower_bound(e), std::lower_bound(begin, end, e) - begin);
    const auto key_below = [](const Entry& x, uint64_t key) { return x.key < key; };
    ASSERT_EQ(leaf.lower_bound_key(e.key), std::lower_bound(begin, end, e.key, key_below) - begin);
    const auto beyond_e = e.tid == kMaxTid ? std::upper_bound(begin, end, e) : std::lower_bound(begin, end, e);
    const uint32_t before = static_cast<uint32_t>(beyond_e - begin);
    for (const uint32_t from_here :
         {0u, before - std::min<uint32_t>(before, random() % 20), before, n, static_cast<uint32_t>(random() % (n + 1))})
      ASSERT_EQ(leaf.end_from(from_here, e), std::max(before, from_here)) << from_here;
    // Whatever is said of where the leaf ends.
    const uint64_t ends[] = {
        1, kMaxKey, random() & kMaxKey, e.key, e.key + 1, entries[from + n - 1].key, entries[from].key + 1};
    for (const uint64_t beyond : {ends[random() % 7], ends[random() % 7]}) {
      ASSERT_EQ(leaf.lower_bound(e, beyond), std::lower_bound(begin, end, e) - begin) << beyond;
      ASSERT_EQ(leaf.lower_bound_key(e.key, beyond), std::lower_bound(begin, end, e.key, key_below) - begin) << beyond;
      // Only hints, which must not trap; the shape may be another leaf's.
      LeafView::prefetch(entries.data(), leaf.shape(), entries[from].key, beyond, e.key);
      LeafView::prefetch(entries.data(), {static_cast<uint16_t>(random()), 255, 255}, random(), random(), random());
    }
  };
  check(kLeastEntry);
  check(kBeyondEntry);
  for (int i = 0; i < 100; ++i) {
    const Entry& e = entries[from + random() % n];
    check(e);
    check(successor(e));
    check({e.key, e.tid - std::min<uint64_t>(e.tid, 1)});
    check({e.key - std::min<uint64_t>(e.key, 1), e.tid});
    check({e.key, 0});
    check({e.key, kMaxTid});
    check({random() & kMaxKey, random() & kMaxTid});
  }
}

void expect_round_trip(std::vector<Entry> entries, Random& random) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  size_t at = 0;
  for (const Image& image : pack(entries)) {
    LeafView leaf;
    ASSERT_TRUE(leaf.open(image.data.get(), image.size));
    ASSERT_EQ(leaf.size(), image.size);
    ASSERT_LE(at + leaf.count(), entries.size());
    expect_same(leaf, entries, at, random);
    at += leaf.count();
    // The spare bytes are needed.
    LeafView cut;
    EXPECT_FALSE(cut.open(image.data.get(), image.size - 1));
  }
  EXPECT_EQ(at, entries.size());
}

Entry entry(uint64_t key, uint64_t block, uint64_t offset) { return {key, block << 16 | offset}; }

TEST(Leaf, RandomEntries) {
  Random random(1);
  for (const size_t n : {1u, 2u, 10u, 5000u}) {
    std::vector<Entry> entries;
    for (size_t i = 0; i < n; ++i)
      entries.push_back(entry(random() & kMaxKey, random() & 0xffffffff, random() & 0xffff));
    expect_round_trip(entries, random);
  }
}

// As an index has them: keys from anywhere, TIDs of a table of so many rows.
TEST(Leaf, EntriesOfATable) {
  Random random(2);
  for (const uint64_t rows : {100u, 10000u, 1000000u, 100000000u}) {
    for (const unsigned key_bits : {8u, 20u, 40u}) {
      std::vector<Entry> entries;
      for (int i = 0; i < 6000; ++i) {
        const uint64_t row = random() % rows;
        entries.push_back(entry(1 + (random() & (kMaxKey >> (40 - key_bits))), row / 11, 1 + row % 11));
      }
      expect_round_trip(entries, random);
    }
  }
}

// Lists longer than a leaf, and the roster: one key, no bits spent on it.
TEST(Leaf, HotKeys) {
  Random random(3);
  for (const uint64_t key : {kRosterKey, uint64_t{77}, kMaxKey}) {
    std::vector<Entry> entries;
    for (uint64_t row = 0; row < 20000; ++row) entries.push_back(entry(key, row / 11, 1 + row % 11));
    expect_round_trip(entries, random);
    const std::vector<Image> images = pack(entries);
    LeafView leaf;
    ASSERT_TRUE(leaf.open(images[0].data.get(), images[0].size));
    EXPECT_TRUE(leaf.one_key());
    EXPECT_EQ(leaf.lower_bound_key(key), 0u);
    EXPECT_EQ(leaf.lower_bound_key(key + 1), leaf.count());
    // 12 bits for blocks at most and 4 for offsets
    EXPECT_GE(leaf.count(), kLeafDataBits / 16 - 1);
  }
  // hot keys between others
  std::vector<Entry> entries;
  for (int i = 0; i < 30000; ++i)
    entries.push_back(
        entry(random() % 3 == 0 ? random() & kMaxKey : 1000 + random() % 3, random() % 5000, 1 + random() % 20));
  expect_round_trip(entries, random);
}

TEST(Leaf, Extremes) {
  Random random(4);
  const uint64_t keys[] = {0, 1, 255, kMaxKey - 1, kMaxKey};
  const uint64_t blocks[] = {0, 1, 0x7fffffff, 0xfffffffe, 0xffffffff};
  const uint64_t offsets[] = {0, 1, 2, 0x7fff, 0xfffe, 0xffff};
  std::vector<Entry> all;
  for (const uint64_t k : keys)
    for (const uint64_t b : blocks)
      for (const uint64_t o : offsets) all.push_back(entry(k, b, o));
  for (const Entry& e : all) expect_round_trip({e}, random);
  for (const Entry& a : all)
    for (const Entry& b : all)
      if (a < b) expect_round_trip({a, b}, random);
  expect_round_trip(all, random);
}

// Every combination of widths, and leaves filled to the last bit.
TEST(Leaf, EveryWidth) {
  Random random(5);
  for (unsigned key_bits = 0; key_bits <= 40; key_bits += 1 + key_bits / 8) {
    for (unsigned block_bits = 0; block_bits <= 32; block_bits += 1 + block_bits / 6) {
      for (const unsigned off_bits : {0u, 1u, 3u, 8u, 15u, 16u}) {
        const auto pick = [&](unsigned bits) { return bits == 0 ? 0 : random() >> (64 - bits); };
        const uint64_t base_key = random() % (kMaxKey + 1 - (kMaxKey >> (40 - key_bits)));
        const uint64_t base_block =
            block_bits == 32 ? 0 : random() % ((uint64_t{1} << 32) - (uint64_t{1} << block_bits));
        std::vector<Entry> entries;
        for (int i = 0; i < 3000; ++i)
          entries.push_back(entry(base_key + pick(key_bits), base_block + pick(block_bits), pick(off_bits)));
        expect_round_trip(entries, random);
      }
    }
  }
}

// A leaf is filled: the entry that it refused would not have fitted.
TEST(Leaf, IsFilled) {
  Random random(6);
  for (const unsigned key_bits : {10u, 25u, 40u}) {
    std::set<Entry> entries;
    while (entries.size() < (key_bits == 10 ? 9000u : 6000u))
      entries.insert(entry(random() >> (64 - key_bits), random() % 100000, 1 + random() % 60));
    const std::vector<Image> images = pack({entries.begin(), entries.end()});
    for (size_t i = 0; i + 1 < images.size(); ++i) EXPECT_GE(images[i].size, kLeafBytes - 16);
  }
}

TEST(Leaf, EmptyLeaf) {
  const auto packer = std::make_unique<LeafPacker>();
  const Image image = write(packer.get());
  EXPECT_EQ(image.size, sizeof(LeafHead) + 16);
  LeafView leaf;
  ASSERT_TRUE(leaf.open(image.data.get(), image.size));
  EXPECT_EQ(leaf.count(), 0u);
  EXPECT_EQ(leaf.lower_bound(kLeastEntry), 0u);
  EXPECT_EQ(leaf.lower_bound(kBeyondEntry), 0u);
  EXPECT_EQ(leaf.end_from(0, kBeyondEntry), 0u);
  EXPECT_EQ(leaf.lower_bound_key(0), 0u);
  EXPECT_EQ(leaf.lower_bound_key(kMaxKey), 0u);
}

TEST(Leaf, ClearForgets) {
  Random random(7);
  const auto packer = std::make_unique<LeafPacker>();
  packer->add(entry(kMaxKey - 1, 0xffffffff, 0xffff));
  packer->clear();
  EXPECT_EQ(packer->count(), 0u);
  const Entry e = entry(3, 4, 5);
  ASSERT_TRUE(packer->add(e));
  const Image image = write(packer.get());
  LeafView leaf;
  ASSERT_TRUE(leaf.open(image.data.get(), image.size));
  expect_same(leaf, {e}, 0, random);
}

// Everything that open() accepts can be read at every index below count(), whatever it holds.
void read_all(const uint8_t* bytes, size_t size, Random& random) {
  LeafView leaf;
  if (!leaf.open(bytes, size)) return;
  for (uint32_t i = 0; i < leaf.count(); ++i) {
    ASSERT_LE(leaf.tid(i), kMaxTid);
    ASSERT_LE(leaf.key(i), 2 * kMaxKey);
  }
  for (int i = 0; i < 20; ++i) {
    const Entry e = {random() & kMaxKey, random() & kMaxTid};
    EXPECT_LE(leaf.lower_bound(e), leaf.count());
    EXPECT_LE(leaf.end_from(leaf.count() / 2, e), leaf.count());
    EXPECT_LE(leaf.lower_bound_key(e.key), leaf.count());
  }
}

TEST(Leaf, HostileBytesAreNotReadBeyond) {
  Random random(8);
  for (int trial = 0; trial < 20000; ++trial) {
    const uint32_t size = static_cast<uint32_t>(random() % (trial % 4 == 0 ? kLeafBytes + 100 : 300));
    Image image(size);
    for (uint32_t i = 0; i < size; ++i) image.data[i] = static_cast<uint8_t>(random());
    if (size >= sizeof(LeafHead) && trial % 2 == 0) {
      LeafHead head{};
      head.n = static_cast<uint16_t>(random() % (trial % 8 == 0 ? 65536 : 200));
      head.key_bits = static_cast<uint8_t>(random() % 42);
      head.block_bits = static_cast<uint8_t>(random() % 34);
      head.off_bits = static_cast<uint8_t>(random() % 18);
      head.base_key = random() >> (random() % 64);
      head.base_block = static_cast<uint32_t>(random());
      std::memcpy(image.data.get(), &head, sizeof head);
    }
    read_all(image.data.get(), size, random);
  }
}

TEST(Leaf, ManyAtOnceAreOneByOne) {
  Random random(11);
  for (int round = 0; round < 60; ++round) {
    const unsigned key_bits = random() % 41;
    const unsigned block_bits = random() % 33;
    std::vector<Entry> entries(3000 + random() % 9000);
    for (Entry& e : entries)
      e = entry(key_bits == 0 ? 7 : random() >> (64 - key_bits), block_bits == 0 ? 5 : random() >> (64 - block_bits),
                random() % 300);
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    const std::vector<Image> expected = pack(entries);
    const auto packer = std::make_unique<LeafPacker>();
    std::vector<Image> images;
    for (size_t at = 0; at < entries.size();) {
      const size_t n = std::min<size_t>(1 + random() % 2000, entries.size() - at);
      const size_t taken = packer->add(entries.data() + at, n);
      ASSERT_LE(taken, n);
      at += taken;
      if (taken < n) images.push_back(write(packer.get()));
    }
    if (packer->count() != 0) images.push_back(write(packer.get()));
    ASSERT_EQ(images.size(), expected.size());
    for (size_t i = 0; i < images.size(); ++i) {
      ASSERT_EQ(images[i].size, expected[i].size);
      EXPECT_TRUE(std::equal(images[i].data.get(), images[i].data.get() + images[i].size, expected[i].data.get())) << i;
    }
  }
}

// One that fits in every other field, too, and comes with others.
TEST(Leaf, TakesNoKeyBelowTheFirst) {
  const auto packer = std::make_unique<LeafPacker>();
  for (const uint64_t first : {uint64_t{1}, uint64_t{1000}, kMaxKey - 300}) {
    const Entry entries[] = {entry(first, 5, 6), entry(first + 200, 4, 7), entry(first + 1, 5, 7),
                             entry(first - 1, 5, 6), entry(first + 2, 5, 6)};
    EXPECT_EQ(packer->add(entries, 5), 3u);
    EXPECT_EQ(packer->add(entries + 3, 1), 0u);
    EXPECT_EQ(packer->count(), 3u);
    write(packer.get());
  }
}

// VACUUM packs them again like this from a damaged leaf.
TEST(Leaf, EntriesOutOfOrderStayInside) {
  Random random(12);
  for (int round = 0; round < 300; ++round) {
    std::vector<Entry> entries(2000);
    for (Entry& e : entries)
      e = entry(random() >> (24 + random() % 40), random() >> (32 + random() % 32), random() % 0x10000);
    const auto packer = std::make_unique<LeafPacker>();
    for (size_t at = 0; at < entries.size();) {
      const size_t taken = packer->add(entries.data() + at, entries.size() - at);
      at += taken;
      ASSERT_TRUE(taken != 0 || packer->count() != 0);
      write(packer.get());
    }
  }
}

TEST(Leaf, OpenRefuses) {
  const auto packer = std::make_unique<LeafPacker>();
  packer->add(entry(1, 2, 3));
  packer->add(entry(9, 9, 9));
  const Image image = write(packer.get());
  const auto opens = [&](auto change) {
    std::vector<uint8_t> bytes(image.data.get(), image.data.get() + image.size);
    LeafHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    change(head);
    std::memcpy(bytes.data(), &head, sizeof head);
    LeafView leaf;
    return leaf.open(bytes.data(), bytes.size());
  };
  EXPECT_TRUE(opens([](LeafHead&) {}));
  EXPECT_FALSE(opens([](LeafHead& h) { h.n = 3000; }));
  EXPECT_FALSE(opens([](LeafHead& h) { h.n = 65535; }));
  EXPECT_FALSE(opens([](LeafHead& h) { h.key_bits = 41; }));
  EXPECT_FALSE(opens([](LeafHead& h) { h.block_bits = 33; }));
  EXPECT_FALSE(opens([](LeafHead& h) { h.off_bits = 17; }));
  EXPECT_FALSE(opens([](LeafHead& h) { h.base_key = kMaxKey + 1; }));
  LeafView leaf;
  for (uint32_t size = 0; size < image.size; ++size) EXPECT_FALSE(leaf.open(image.data.get(), size));
  const std::vector<uint8_t> large(kLeafBytes + 1);
  EXPECT_FALSE(leaf.open(large.data(), large.size()));
  EXPECT_TRUE(leaf.open(large.data(), kLeafBytes));
}

TEST(Entry, OrderAndSuccessor) {
  EXPECT_LT(kLeastEntry, kBeyondEntry);
  EXPECT_LT((Entry{1, 5}), (Entry{2, 0}));
  EXPECT_LT((Entry{1, 5}), (Entry{1, 6}));
  EXPECT_EQ(successor({1, 5}), (Entry{1, 6}));
  EXPECT_EQ(successor({1, kMaxTid}), (Entry{2, 0}));
  for (const Entry& e : {Entry{0, 0}, Entry{7, kMaxTid}, Entry{kMaxKey, 3}}) {
    EXPECT_LT(e, successor(e));
    EXPECT_TRUE(e <= e);
    EXPECT_FALSE(successor(e) <= e);
  }
}

}  // namespace
}  // namespace neardup::leaf_test
