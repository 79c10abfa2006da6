// Pair statistics of a sample: exact where they say so, near the truth when only a share of the pairs is compared.
#include "core/lsh/pair_sample.h"

#include <gtest/gtest.h>

#include "core/base/hash.h"
#include "core/signature/ctph.h"
#include "core/signature/minhash.h"

#include "test/reference/signature_sets.h"

namespace neardup::pair_sample_test {
namespace {

using reference::Rows;
using reference::SetMaker;
using reference::StopAfter;

// Pairs at or above each level, by comparing all.
std::vector<double> all_pairs(const Rows& rows) {
  std::vector<double> out(kPairLevels);
  for (uint32_t i = 0; i < rows.size(); ++i) {
    for (uint32_t j = 0; j < i; ++j) {
      const double s =
          estimate_jaccard(count_matches(rows.row(i), rows.row(j), rows.num_perm, rows.bits), rows.num_perm, rows.bits);
      for (uint32_t level = 0; level < kPairLevels; ++level) out[level] += s >= pair_level(level);
    }
  }
  return out;
}

PairSample sample(const Rows& rows, uint32_t most_pairs = 1 << 20, StopCheck* stop = nullptr) {
  std::vector<uint8_t> packed;
  const size_t bytes = size_t{rows.num_perm} * rows.bits / 8;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const auto* row = static_cast<const uint8_t*>(rows.row(i));
    packed.insert(packed.end(), row, row + bytes);
  }
  return sample_pairs(packed.data(), rows.size(), rows.num_perm, rows.bits, most_pairs, stop);
}

TEST(PairSample, LevelsAreThoseThatSqlSees) {
  EXPECT_EQ(pair_level(0), 0.5);
  EXPECT_EQ(pair_level(5), 0.75);
  EXPECT_EQ(pair_level(6), 0.8);
  EXPECT_EQ(pair_level(kPairLevels - 1), 1.0);
}

TEST(PairSample, ExactFromThreeQuartersOn) {
  for (const uint32_t bits : {8u, 16u, 32u}) {
    for (const uint32_t num_perm : {16u, 64u, 100u, 128u, 256u}) {
      SetMaker maker(num_perm, bits, 7);
      maker.families(40, 6, num_perm / 2);
      maker.equal(12);
      maker.chain(60, num_perm / 12);
      const Rows& rows = maker.rows();
      const std::vector<double> want = all_pairs(rows);
      const PairSample got = sample(rows);
      for (uint32_t level = 0; level < kPairLevels; ++level) {
        SCOPED_TRACE(testing::Message() << num_perm << "x" << bits << " level " << pair_level(level));
        EXPECT_GE(got.candidates[level], got.similar[level]);
        if (pair_level(level) >= 0.75) {
          EXPECT_NEAR(got.similar[level], want[level], 1e-6 * want[level]);
        } else {
          EXPECT_NEAR(got.similar[level], want[level], 0.15 * want[level] + 10);
        }
      }
    }
  }
}

TEST(PairSample, ShareOfThePairsTellsTheNumber) {
  SetMaker maker(128, 32, 11);
  maker.equal(700);
  maker.families(200, 3, 30);
  maker.boilerplate(500, 20);
  const Rows& rows = maker.rows();
  const std::vector<double> want = all_pairs(rows);
  const PairSample got = sample(rows, 20000);
  for (uint32_t level = 0; level < kPairLevels; ++level)
    EXPECT_NEAR(got.similar[level], want[level], 0.05 * want[level]) << pair_level(level);
  const PairSample again = sample(rows, 20000);
  EXPECT_EQ(memcmp(&got, &again, sizeof got), 0);
}

TEST(PairSample, HotBandsAreCandidatesOnlyWhereTheIndexTakesThem) {
  SetMaker maker(128, 32, 3);
  maker.boilerplate(200, 12);  // two or three bands in common
  const PairSample got = sample(maker.rows());
  EXPECT_EQ(got.similar[6], 0);
  EXPECT_EQ(got.candidates[6], 0) << "at 0.8 more than 7 of 33 bands must agree";
  EXPECT_NEAR(got.candidates[5], 200 * 199 / 2, 1e-6) << "at 0.75 one is enough";
}

// The mean number of other copies that a document has, and not a row.
TEST(PairSample, CopiesAreOneDocument) {
  SetMaker maker(128, 32, 13);
  maker.equal(400);
  maker.families(1000, 0, 0);
  maker.families(100, 1, 0);
  const PairSample got = sample(maker.rows());
  const uint32_t top = kPairLevels - 1;
  EXPECT_NEAR(got.similar[top], 400 * 399 / 2 + 100, 1e-6);
  // 1 + 1000 + 100 documents, of which one has 399 other copies, and a hundred have one. A row has 100 on average.
  EXPECT_NEAR(got.document_similar[top], (399 + 100) / 1101.0, 1e-6);
  EXPECT_NEAR(got.document_candidates[top], (399 + 100) / 1101.0, 1e-6);
}

// Copies of a page that differ a little from each other, and rows that have another page's header only.
TEST(PairSample, NearCopiesAndHeadersAreToldApart) {
  SetMaker maker(128, 32, 17);
  maker.families(1, 600, 4);
  maker.boilerplate(400, 20);
  maker.families(1000, 0, 0);
  const PairSample got = sample(maker.rows());
  EXPECT_GT(got.similar[6] * 2 / maker.rows().size(), 150) << "matches of a row";
  EXPECT_LT(got.document_similar[6], 2);
  // A header that is in five of 33 bands does not make copies of its rows: candidates at 0.75 stay theirs.
  EXPECT_NEAR(got.document_candidates[5], 400 * 399 / 1401.0, 3);
}

TEST(PairSample, SimhashesAndTheirCopies) {
  std::vector<uint64_t> values(300, 0);
  values.insert(values.end(), 20, 7);  // three bits from the others
  for (uint64_t i = 1; i <= 1000; ++i) values.push_back(mix64(i) | 0xffff000000000000);
  const PairSample got = sample_simhash_pairs(values.data(), static_cast<uint32_t>(values.size()), nullptr);
  const uint32_t top = kPairLevels - 1;
  EXPECT_EQ(got.similar[top], 300 * 299 / 2 + 20 * 19 / 2);
  EXPECT_EQ(got.similar[top - 3], got.similar[top] + 300 * 20);
  EXPECT_NEAR(got.document_similar[top], (299 + 19) / 1002.0, 1e-9);
  EXPECT_NEAR(got.document_similar[top - 3], (299 + 19 + 320) / 1002.0, 1e-9);
}

TEST(PairSample, DigestsAndTheirCopies) {
  std::vector<CtphDigest> made;
  for (uint64_t i = 0; i < 200; ++i) {
    std::string text;
    for (uint64_t w = 0; w < 300; ++w) text += std::to_string(mix64(i * 1000 + w)) + ' ';
    made.push_back(ctph(text.data(), text.size()));
  }
  std::vector<CtphView> digests;
  for (const CtphDigest& digest : made) digests.push_back(digest_view(digest));
  digests.insert(digests.end(), 99, digests.front());
  PairSample scores{};
  PairSample rates{};
  sample_ctph_pairs(digests.data(), static_cast<uint32_t>(digests.size()), 1 << 20, nullptr, &scores, &rates);
  const uint32_t top = kPairLevels - 1;
  EXPECT_NEAR(scores.similar[top], 100 * 99 / 2, 1e-6);
  EXPECT_NEAR(scores.document_similar[top], 99 / 200.0, 1e-6);
  EXPECT_NEAR(rates.document_similar[top], 99 / 200.0, 1e-6);
  EXPECT_NEAR(rates.document_candidates[top], 99 / 200.0, 1e-6);
}

TEST(PairSample, SmallAndLargeForms) {
  SetMaker none(128, 32, 1);
  EXPECT_EQ(sample(none.rows()).similar[0], 0);
  SetMaker two(4096, 32, 1);
  two.equal(2);
  const PairSample got = sample(two.rows());
  EXPECT_NEAR(got.similar[kPairLevels - 1], 1, 1e-9);
  EXPECT_LT(pair_sample_bytes(4096, 32), 300u);
}

TEST(PairSample, Stops) {
  SetMaker maker(128, 32, 5);
  maker.equal(3000);
  StopAfter stop(3);
  EXPECT_THROW(sample(maker.rows(), 1 << 20, &stop), Error);
  EXPECT_EQ(stop.asked, 4);
}

}  // namespace
}  // namespace neardup::pair_sample_test
