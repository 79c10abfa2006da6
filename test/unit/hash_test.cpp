// The mixers that reach disk, against values computed elsewhere (Python integers): if one fails, the code is wrong.
#include "core/base/hash.h"

#include <gtest/gtest.h>
#include <unordered_set>

#include "core/document/shingle.h"

namespace neardup::hash_test {
namespace {

TEST(Hash, Mix64) {
  EXPECT_EQ(mix64(0), 0u);
  EXPECT_EQ(mix64(1), 0x3c0aad46f555e0b9u);
  EXPECT_EQ(mix64(2), 0x86ada1326dc2d891u);
  EXPECT_EQ(mix64(uint64_t{1} << 63), 0xfe16232a960aaf61u);
  EXPECT_EQ(mix64(~uint64_t{0}), 0x9055d46b73492210u);
  EXPECT_EQ(mix64(0x0123456789abcdefu), 0x960cbea3c15f985au);
}

TEST(Hash, SketchSeed) {
  EXPECT_EQ(sketch_seed(0), 0x5c7d071806442e5bu);
  EXPECT_EQ(sketch_seed(1), 0x6e2dc30408138fbdu);
}

TEST(Hash, Mum) {
  EXPECT_EQ(mum(0, 5), 0u);
  EXPECT_EQ(mum(1, ~uint64_t{0}), ~uint64_t{0});
  EXPECT_EQ(mum(~uint64_t{0}, ~uint64_t{0}), ~uint64_t{0});
  EXPECT_EQ(mum(uint64_t{1} << 63, 2), 1u);
  EXPECT_EQ(mum(uint64_t{1} << 32, uint64_t{1} << 32), 1u);
  EXPECT_EQ(mum(0x0123456789abcdefu, 0xfedcba9876543210u), 0x2317228f48165bb2u);
  EXPECT_EQ(mum(kSeed0, kSeed1), 0xca813bf4c7abf0a9u);
}

TEST(Hash, ByteHash) {
  EXPECT_EQ(byte_hash(0), 0x2903a64488290934u);
  EXPECT_EQ(byte_hash(' '), 0x819cf09e81079530u);
  EXPECT_EQ(byte_hash('A'), 0xf6e1bd641d4101cbu);
  EXPECT_EQ(byte_hash('a'), 0xfd6697b5bc77e712u);
  EXPECT_EQ(byte_hash(127), 0xcf278cbaae57c107u);
  EXPECT_EQ(byte_hash(128), 0x2609b339b757f002u);
  EXPECT_EQ(byte_hash(255), 0x7534e5aa6c5ed920u);
}

TEST(Hash, CodePointHash) {
  for (uint32_t c = 0; c < 256; ++c) EXPECT_EQ(code_point_hash(c), byte_hash(c));
  EXPECT_EQ(code_point_hash(0x100), 0x92d5a862f6f83b3du);
  EXPECT_EQ(code_point_hash(0x434), 0xd05a9525c6995e91u);
  EXPECT_EQ(code_point_hash(0x4e2d), 0x627d9864cc7e71c7u);
  EXPECT_EQ(code_point_hash(0xfffd), 0x8080115c57810932u);
  EXPECT_EQ(code_point_hash(0x10ffff), 0x707a174e589f951au);
}

TEST(Hash, NoTwoCodePointsShareAHash) {
  std::unordered_set<uint64_t> seen;
  seen.reserve(0x110000);
  for (uint32_t c = 0; c < 0x110000; ++c) EXPECT_TRUE(seen.insert(code_point_hash(c)).second) << c;
}

TEST(Hash, LittleEndianLoads) {
  const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 0x88};
  EXPECT_EQ(load_le64(bytes), 0x8807060504030201u);
  EXPECT_EQ(load_le_partial(bytes, 0), 0u);
  EXPECT_EQ(load_le_partial(bytes, 3), 0x030201u);
  EXPECT_EQ(load_le_partial(bytes, 8), load_le64(bytes));
}

// XXH3, 64 bits, seed 0: xxHash's own test vector for no bytes, and that all bytes count.
TEST(Hash, ElementHash) {
  EXPECT_EQ(element_hash("", 0), 0x2d06800538d394c2u);
  EXPECT_NE(element_hash("a\0b", 3), element_hash("a\0c", 3));
  EXPECT_NE(element_hash("a", 1), element_hash("a\0", 2));
}

}  // namespace
}  // namespace neardup::hash_test
