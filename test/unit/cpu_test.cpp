// Every form of a kernel gives what the plain definition gives, at any length and alignment.
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/kernels/kernels.h"
#include "core/lsh/leaf.h"

#include "test/unit/support.h"

namespace neardup::cpu_test {
namespace {

using test::Random;

// Two lists of n elements where about half are equal; some differ in one bit only.
template <class T>
void alike(Random& random, T* a, T* b, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    a[i] = static_cast<T>(random());
    b[i] = a[i];
    if (random() % 2 == 0)
      b[i] = static_cast<T>(b[i] ^ (random() % 2 == 0 ? random() : uint64_t{1} << random() % (8 * sizeof(T))));
  }
}

template <class T>
void check_counts(uint32_t (*Kernels::*count)(const T*, const T*, size_t)) {
  test::for_each_kernels([&] {
    Random random(1);
    for (size_t n = 0; n <= 200; ++n) {
      for (size_t shift = 0; shift < 4; ++shift) {
        // Memory of exactly this size, starting `shift` elements behind an allocation's border.
        std::vector<T> a(n + shift), b(n + shift / 2);
        alike(random, a.data() + shift, b.data() + shift / 2, n);
        uint32_t expected = 0;
        for (size_t i = 0; i < n; ++i) expected += a[shift + i] == b[shift / 2 + i];
        ASSERT_EQ((kernels().*count)(a.data() + shift, b.data() + shift / 2, n), expected) << n;
      }
    }
    for (const size_t n : {256u, 1000u, 4096u, 70000u}) {
      const std::vector<T> same(n, std::numeric_limits<T>::max());
      EXPECT_EQ((kernels().*count)(same.data(), same.data(), n), n);
      const std::vector<T> other(n, 0);
      EXPECT_EQ((kernels().*count)(same.data(), other.data(), n), 0u);
    }
  });
}

// Forms that test::for_each_kernels() passes over count as a skipped test.
void expect_tested(const char* name) {
  if (!kernels_available(name)) GTEST_SKIP() << "this processor has no " << name << ": its kernels are not tested here";
  ASSERT_TRUE(force_kernels(name));
  EXPECT_STREQ(kernels().name, name);
  force_kernels("auto");
}
TEST(Kernels, Avx2IsTested) { expect_tested("avx2"); }
TEST(Kernels, Avx512IsTested) { expect_tested("avx512"); }
TEST(Kernels, NeonIsTested) { expect_tested("neon"); }

TEST(Kernels, CountEqual32) { check_counts<uint32_t>(&Kernels::count_equal32); }
TEST(Kernels, CountEqual16) { check_counts<uint16_t>(&Kernels::count_equal16); }
TEST(Kernels, CountEqual8) { check_counts<uint8_t>(&Kernels::count_equal8); }

TEST(Kernels, EqualMask32) {
  test::for_each_kernels([] {
    Random random(2);
    for (int round = 0; round < 500; ++round) {
      for (const size_t n : {0u, 16u, 32u, 48u, 64u}) {
        const size_t shift = random() % 4;
        std::vector<uint32_t> a(n + shift), b(n);
        alike(random, a.data() + shift, b.data(), n);
        uint64_t expected = 0;
        for (size_t i = 0; i < n; ++i) expected |= uint64_t{a[shift + i] == b[i]} << i;
        ASSERT_EQ(kernels().equal_mask32(a.data() + shift, b.data(), n), expected);
      }
    }
    const std::vector<uint32_t> same(64, 7);
    EXPECT_EQ(kernels().equal_mask32(same.data(), same.data(), 64), ~uint64_t{0});
  });
}

TEST(Kernels, FoldAscii) {
  test::for_each_kernels([] {
    Random random(3);
    for (size_t blocks = 0; blocks <= 20; ++blocks) {
      for (size_t shift = 0; shift < 8; ++shift) {
        std::string in(64 * blocks + shift, ' ');
        for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(blocks < 4 ? i + 64 * blocks : random());
        const test::Exact exact(in);
        std::vector<uint8_t> out(64 * blocks + shift);
        std::vector<uint64_t> word(blocks), high(blocks);
        kernels().fold_ascii(exact.data() + shift, blocks, out.data() + shift, word.data(), high.data());
        for (size_t i = 0; i < 64 * blocks; ++i) {
          const uint8_t c = exact.data()[shift + i];
          const bool upper = c >= 'A' && c <= 'Z';
          const bool is_word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
          ASSERT_EQ(out[shift + i], upper ? c + 32 : c);
          ASSERT_EQ(word[i / 64] >> i % 64 & 1, is_word) << int{c};
          ASSERT_EQ(high[i / 64] >> i % 64 & 1, c >= 0x80) << int{c};
        }
      }
    }
  });
}

TEST(Kernels, AtLeast8) {
  test::for_each_kernels([] {
    Random random(5);
    for (size_t blocks = 0; blocks <= 20; ++blocks) {
      for (unsigned least = 1; least <= 127; ++least) {
        const size_t shift = random() % 8;
        std::string in(64 * blocks + shift, ' ');
        // None, few or many that are enough, and those next to the bound.
        const unsigned most = blocks % 3 == 0 ? least : 128;
        for (char& c : in) c = static_cast<char>(random() % 8 == 0 ? least - random() % 2 : random() % most);
        const test::Exact exact(in);
        std::vector<uint64_t> masks(blocks);
        kernels().at_least8(exact.data() + shift, blocks, static_cast<uint8_t>(least), masks.data());
        for (size_t i = 0; i < 64 * blocks; ++i)
          ASSERT_EQ(masks[i / 64] >> i % 64 & 1, exact.data()[shift + i] >= least) << least << ", byte " << i;
      }
    }
  });
}

// n random fields and 8 bytes where the last one begins, in memory of exactly this size.
struct RandomFields {
  RandomFields(Random& random, uint32_t n, uint32_t bits)
      : exact(random_bytes(random, uint64_t{n - 1} * bits / 8 + 8)) {
    fields = {exact.data(), (uint64_t{1} << bits) - 1, bits};
  }
  static std::string random_bytes(Random& random, size_t size) {
    std::string bytes(size, ' ');
    for (char& c : bytes) c = static_cast<char>(random());
    return bytes;
  }
  // Bit by bit.
  uint64_t at(uint32_t i) const {
    uint64_t field = 0;
    for (uint32_t b = 0; b < fields.bits; ++b) {
      const uint64_t bit = uint64_t{i} * fields.bits + b;
      field |= (uint64_t{exact.data()[bit / 8]} >> bit % 8 & 1) << b;
    }
    return field;
  }

  test::Exact exact;
  PackedFields fields;
};

TEST(Kernels, UnpackEntries) {
  test::for_each_kernels([] {
    Random random(6);
    for (uint32_t block_bits = 0; block_bits <= 32; ++block_bits) {
      for (uint32_t off_bits = 0; off_bits <= 16; ++off_bits) {
        const uint32_t n = 1 + static_cast<uint32_t>(random() % 60);
        const RandomFields keys(random, n, static_cast<uint32_t>(random() % (kKeyBits + 1)));
        const RandomFields tids(random, n, block_bits + off_bits);
        PackedEntries leaf;
        leaf.keys = keys.fields;
        leaf.tids = tids.fields;
        leaf.base_key = random() & kMaxKey;
        leaf.base_block = random() % 2 == 0 ? random() % 1000 : 0xffffffffu - random() % 1000;
        leaf.off_mask = (uint64_t{1} << off_bits) - 1;
        leaf.n = n;
        leaf.off_bits = off_bits;
        std::vector<Entry> expected;
        for (uint32_t i = 0; i < n; ++i) {
          const uint64_t block = leaf.base_block + (tids.at(i) >> off_bits);
          expected.push_back({leaf.base_key + keys.at(i), (block << 16 | (tids.at(i) & leaf.off_mask)) & kMaxTid});
        }
        for (uint32_t from = 0; from < n; ++from) {
          for (const uint32_t to : {from, std::min(n, from + 1 + static_cast<uint32_t>(random() % 20)), n}) {
            std::vector<Entry> entries(to - from + 1, Entry{7, 7});
            std::vector<uint64_t> only(to - from + 1, 7);
            kernels().unpack_entries(leaf, from, to, entries.data());
            kernels().unpack_tids(leaf, from, to, only.data());
            for (uint32_t i = from; i < to; ++i) {
              ASSERT_TRUE(entries[i - from] == expected[i])
                  << block_bits << " + " << off_bits << " bits, " << i << " from " << from;
              ASSERT_EQ(only[i - from], expected[i].tid)
                  << block_bits << " + " << off_bits << " bits, " << i << " from " << from;
            }
            ASSERT_TRUE((entries.back() == Entry{7, 7}));
            ASSERT_EQ(only.back(), 7u);
          }
        }
      }
    }
  });
}

TEST(Kernels, SketchRound0) {
  test::for_each_kernels([] {
    Random random(4);
    for (size_t n = 0; n <= 200; ++n) {
      for (const uint32_t num_perm : {16u, 17u, 100u, 128u, 1000u, 4096u}) {
        const size_t shift = random() % 4;
        std::vector<uint64_t> x(n + shift);
        // Repeats, so that one vector holds the same bin twice.
        for (uint64_t& v : x) v = random() % 3 == 0 ? random() % 4 : random();
        const uint64_t seed_mix = random();
        std::vector<uint32_t> expected(num_perm, 0xffffffffu), got(num_perm, 0xffffffffu);
        for (size_t i = shift; i < x.size(); ++i) {
          const uint64_t h = mix64(x[i] ^ seed_mix);
          uint32_t& c = expected[(h & 0xffffffffu) * num_perm >> 32];
          c = std::min(c, static_cast<uint32_t>(h >> 33));
        }
        kernels().sketch_round0(x.data() + shift, n, seed_mix, num_perm, got.data());
        ASSERT_EQ(got, expected) << n << " " << num_perm;
      }
    }
  });
}

TEST(Kernels, Names) {
  EXPECT_TRUE(kernels_available("auto"));
  EXPECT_TRUE(kernels_available("scalar"));
  EXPECT_TRUE(force_kernels("scalar"));
  EXPECT_STREQ(kernels().name, "scalar");
  for (const char* unknown : {"", "sse", "AVX2", "avx", "scalar "}) {
    EXPECT_FALSE(kernels_available(unknown)) << unknown;
    EXPECT_FALSE(force_kernels(unknown)) << unknown;
    EXPECT_STREQ(kernels().name, "scalar");
  }
  for (const char* name : kKernelForms) {
    EXPECT_EQ(force_kernels(name), kernels_available(name));
    EXPECT_STREQ(kernels().name, kernels_available(name) ? name : "scalar");
    force_kernels("scalar");
  }
  EXPECT_TRUE(force_kernels("auto"));
  std::printf("the best kernels of this machine: %s\n", kernels().name);
}

size_t differing_bits(const uint8_t* a, const uint8_t* b, size_t n) {
  size_t differing = 0;
  for (size_t i = 0; i < 8 * n; ++i) differing += (a[i / 8] ^ b[i / 8]) >> i % 8 & 1;
  return differing;
}

TEST(Kernels, CountDiffering) {
  test::for_each_kernels([] {
    Random random(5);
    for (size_t n = 0; n <= 80; ++n) {
      for (size_t shift = 0; shift < 9; ++shift) {
        std::vector<uint8_t> a(n + shift), b(n + shift / 2);
        alike(random, a.data() + shift, b.data() + shift / 2, n);
        ASSERT_EQ(kernels().count_differing(a.data() + shift, b.data() + shift / 2, n),
                  differing_bits(a.data() + shift, b.data() + shift / 2, n));
      }
    }
  });
}

TEST(Kernels, NearCodes) {
  test::for_each_kernels([] {
    Random random(6);
    for (const size_t words : {1u, 2u, 3u, 4u, 5u, 8u, 9u, 64u}) {
      for (const auto& [nx, ny] : {std::pair{1u, 1u}, {3u, 7u}, {40u, 33u}, {256u, 256u}}) {
        std::vector<uint64_t> x(nx * words), y(ny * words);
        for (uint64_t& v : x) v = random();
        // Some near ones, at distances on both sides of the bound.
        for (size_t j = 0; j < ny; ++j)
          for (size_t w = 0; w < words; ++w)
            y[j * words + w] = j % 2 == 0 ? random() : x[j % nx * words + w] ^ (random() & random() & random());
        const auto most = static_cast<unsigned>(words * 8);
        for (const bool triangle : {false, true}) {
          if (triangle) y = x;
          const size_t other = triangle ? nx : ny;
          std::vector<uint32_t> expected, found(nx * other);
          for (size_t i = 0; i < nx; ++i)
            for (size_t j = triangle ? i + 1 : 0; j < other; ++j)
              if (differing_bits(reinterpret_cast<const uint8_t*>(&x[i * words]),
                                 reinterpret_cast<const uint8_t*>(&y[j * words]), words * 8) <= most)
                expected.push_back(static_cast<uint32_t>(i << 16 | j));
          found.resize(kernels().near_codes(x.data(), nx, y.data(), other, words, triangle, most, found.data()));
          ASSERT_EQ(found, expected) << words << " words";
        }
      }
    }
  });
}

}  // namespace
}  // namespace neardup::cpu_test
