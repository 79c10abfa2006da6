// lsh_query: every form reads back what was written, and broken bytes are refused.
#include "core/lsh/lsh_query.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace neardup::lsh_query_test {
namespace {

std::vector<uint8_t> signature(uint8_t bits, bool empty) {
  MinhashParams params;
  params.num_perm = 16;
  params.bits = bits;
  params.tokenizer = 1;
  params.seed = -5;
  std::vector<uint32_t> components(16);
  for (uint32_t i = 0; i < 16; ++i) components[i] = i * 0x9E3779B1u >> 1;
  std::vector<uint8_t> out(minhash_size(params, empty));
  write_minhash(params, empty ? nullptr : components.data(), out.data());
  return out;
}

std::vector<uint8_t> stored(const LshQueryView& q) {
  std::vector<uint8_t> out(lsh_query_size(q));
  write_lsh_query(q, out.data());
  return out;
}

std::vector<uint8_t> query(double bound, uint8_t bits = 32, bool empty = false) {
  const std::vector<uint8_t> s = signature(bits, empty);
  return stored({view_minhash(s.data(), s.size()), Measure::jaccard, bound});
}

std::vector<uint8_t> simhash_query(double bound, uint64_t value) {
  return stored({AnyValue(value), Measure::hamming, bound});
}

std::vector<uint8_t> digest_query(Measure measure, double bound, const CtphDigest& digest) {
  return stored({digest_view(digest), measure, bound});
}

LshQueryView view(const std::vector<uint8_t>& bytes) { return view_lsh_query(bytes.data(), bytes.size()); }

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kBounds[] = {0.8, 0.75, 1, 1.0 / 3, 0, -1, 5e-324, 1e308, 0.1, 1e-7, kInfinity, -kInfinity, NAN};

TEST(LshQuery, EveryFormReadsBack) {
  for (const double bound : kBounds) {
    for (const uint8_t bits : {8, 16, 32}) {
      for (const bool empty : {false, true}) {
        const std::vector<uint8_t> q = query(bound, bits, empty);
        const LshQueryView v = view(q);
        EXPECT_EQ(std::bit_cast<uint64_t>(double{v.bound}), std::bit_cast<uint64_t>(bound));
        const std::vector<uint8_t> s = signature(bits, empty);
        ASSERT_EQ(v.signature.size, s.size());
        EXPECT_EQ(std::memcmp(v.signature.header, s.data(), s.size()), 0);
        EXPECT_EQ(lsh_query_from_text(lsh_query_to_text(v)), q) << lsh_query_to_text(v);
        const std::vector<uint8_t> wire = lsh_query_to_wire(v);
        EXPECT_EQ(wire.size(), q.size());
        EXPECT_EQ(lsh_query_from_wire(wire.data(), wire.size()), q);
      }
    }
  }
}

void expect_reads_back(const std::vector<uint8_t>& q) {
  const LshQueryView v = view(q);
  EXPECT_EQ(stored(v), q);
  EXPECT_EQ(lsh_query_from_text(lsh_query_to_text(v)), q) << lsh_query_to_text(v);
  const std::vector<uint8_t> wire = lsh_query_to_wire(v);
  EXPECT_EQ(lsh_query_from_wire(wire.data(), wire.size()), q);
}

TEST(LshQuery, EveryMeasureReadsBack) {
  const CtphDigest digests[] = {{0, 64, "", ""}, {5, 64, "AAAabc+/", "xyz"}, {30, 100, std::string(100, 'q'), "Z"}};
  for (const double bound : kBounds) {
    for (const uint64_t value : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x0123456789abcdef}})
      expect_reads_back(simhash_query(bound, value));
    for (const CtphDigest& digest : digests)
      for (const Measure m : {Measure::ctph_score, Measure::ctph_edit_rate})
        expect_reads_back(digest_query(m, bound, digest));
  }
  EXPECT_EQ(lsh_query_to_text(view(simhash_query(3, 0x0123456789abcdef))), "hamming<=3 0123456789abcdef");
  EXPECT_EQ(lsh_query_to_text(view(digest_query(Measure::ctph_score, 70, digests[1]))),
            "ctph_score>=70 96:AAAabc+/:xyz");
  EXPECT_EQ(lsh_query_to_text(view(digest_query(Measure::ctph_edit_rate, 0.1, digests[0]))), "ctph_edit_rate<=0.1 3::");
  const std::vector<uint8_t> wire = lsh_query_to_wire(view(simhash_query(1, 0x0123456789abcdef)));
  EXPECT_EQ(wire, (std::vector<uint8_t>{1, 2, 0, 0,    0x3f, 0xf0, 0,    0,    0,    0,
                                        0, 0, 1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}));
}

std::vector<uint8_t> set_query(double bound, const std::vector<int64_t>& elements) {
  return stored({set_view(elements.data(), elements.size()), Measure::set_jaccard, bound});
}

std::vector<uint8_t> code_query(double bound, uint32_t bits, const std::vector<uint8_t>& bytes) {
  return stored({BitCode{bytes.data(), bits}, Measure::bit_hamming, bound});
}

TEST(LshQuery, BitCodesReadBack) {
  std::vector<uint8_t> bytes(512);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 151 + 7);
  for (const double bound : kBounds)
    for (const uint32_t bits : {64u, 256u, 4096u}) expect_reads_back(code_query(bound, bits, bytes));
  // No codes: only their length counts.
  for (const uint32_t bits : {0u, 1u, 63u, 4097u, 4000000000u}) {
    expect_reads_back(code_query(3, bits, {}));
    EXPECT_EQ(view(code_query(3, bits, {})).code.bytes, nullptr);
    EXPECT_EQ(view(code_query(3, bits, {})).code.bits, bits);
  }
  EXPECT_EQ(lsh_query_to_text(view(code_query(3, 8, {}))), "bit_hamming<=3 [8]");
  const std::vector<uint8_t> odd = {0xff, 0, 0, 0, 0, 0, 0, 1, 0x80};
  EXPECT_EQ(lsh_query_to_text(view(code_query(3, 65, odd))), "bit_hamming<=3 11111111" + std::string(55, '0') + "11");
  // Bits behind the last one would make equal values unequal.
  std::vector<uint8_t> broken = code_query(3, 65, odd);
  broken.back() |= 1;
  EXPECT_THROW(view(broken), Error);
  for (size_t cut = 1; cut <= 13; ++cut) {
    const std::vector<uint8_t> q = code_query(3, 65, odd);
    EXPECT_THROW(view({q.begin(), q.end() - static_cast<std::ptrdiff_t>(cut)}), Error);
  }
  for (const char* text : {"bit_hamming<=3 ", "bit_hamming<=3 0101", "bit_hamming<=3 [64]", "bit_hamming<=3 [-1]",
                           "bit_hamming<=3 []", "bit_hamming<=3 [8"})
    EXPECT_THROW(lsh_query_from_text(text), Error) << text;
  EXPECT_THROW(lsh_query_from_text("bit_hamming<=3 " + std::string(63, '0') + "2"), Error);
  EXPECT_THROW(lsh_query_from_text("bit_hamming<=3 " + std::string(4097, '0')), Error);
}

TEST(LshQuery, SetsReadBack) {
  for (const double bound : kBounds)
    for (const std::vector<int64_t>& set : {std::vector<int64_t>{}, {7}, {INT64_MIN, -1, 0, 5, INT64_MAX}})
      expect_reads_back(set_query(bound, set));
  EXPECT_EQ(lsh_query_to_text(view(set_query(0.5, {-3, 20}))), "set_jaccard>=0.5 {-3,20}");
  EXPECT_EQ(lsh_query_from_text("set_jaccard>=0.5 {20,-3,20}"), set_query(0.5, {-3, 20}));
  // The measures, from the number 6 of their bytes on; 9 is of bit codes.
  const std::pair<uint8_t, const char*> texts[] = {{6, "set_in_query>=0.5 {-3,20}"},
                                                   {7, "query_in_set>=0.25 {7}"},
                                                   {8, "set_overlap>=3 {}"},
                                                   {10, "set_dice>=0.5 {-3,20}"},
                                                   {11, "set_cosine>=0.25 {7}"}};
  for (const auto& [number, text] : texts) {
    const std::vector<uint8_t> q = lsh_query_from_text(text);
    EXPECT_EQ(q[1], number) << text;
    EXPECT_EQ(lsh_query_to_text(view(q)), text);
    expect_reads_back(q);
  }
  // No query has the measure after the last one of them.
  EXPECT_THROW(lsh_query_from_text("overlap_coefficient>=0.5 {1}"), Error);
  std::vector<uint8_t> newer = set_query(0.5, {1});
  newer[1] = 12;
  EXPECT_THROW(view(newer), Error);
  EXPECT_THROW(lsh_query_from_wire(newer.data(), newer.size()), Error);
  EXPECT_EQ(lsh_query_to_wire(view(set_query(1, {258}))),
            (std::vector<uint8_t>{1, 5, 0, 0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}));
  for (const char* text : {"set_jaccard>=0.5 ", "set_jaccard>=0.5 {", "set_jaccard>=0.5 {1,}", "set_jaccard>=0.5 {,1}",
                           "set_jaccard>=0.5 1,2", "set_jaccard>=0.5 {1 ,2}", "set_jaccard>=0.5 {9223372036854775808}",
                           "set_jaccard>=0.5 {1;2}", "set_jaccard>=0.5 {}}"})
    EXPECT_THROW(lsh_query_from_text(text), Error) << text;
  for (const std::vector<int64_t>& bad : {std::vector<int64_t>{2, 2}, {3, 1}}) {
    EXPECT_THROW(view(set_query(0.5, bad)), Error);
    const std::vector<uint8_t> bytes = set_query(0.5, bad);
    EXPECT_THROW(lsh_query_from_wire(bytes.data(), bytes.size()), Error);
  }
  std::vector<uint8_t> cut = set_query(0.5, {1, 2});
  cut.pop_back();
  EXPECT_THROW(view(cut), Error);
  EXPECT_THROW(lsh_query_from_wire(cut.data(), cut.size()), Error);
}

TEST(LshQuery, Within) {
  EXPECT_TRUE(within(Measure::jaccard, 0.8, 0.8));
  EXPECT_FALSE(within(Measure::jaccard, 0.8, 0.9));
  EXPECT_TRUE(within(Measure::hamming, 3, 3.5));
  EXPECT_FALSE(within(Measure::hamming, 4, 3.5));
  // SQL's NaN is above all numbers.
  EXPECT_FALSE(within(Measure::ctph_score, 100, NAN));
  EXPECT_TRUE(within(Measure::ctph_edit_rate, 1, NAN));
}

TEST(LshQuery, ClosenessIsMonotone) {
  for (const Measure m : {Measure::jaccard, Measure::hamming, Measure::ctph_score, Measure::ctph_edit_rate,
                          Measure::set_jaccard, Measure::set_in_query, Measure::query_in_set}) {
    const double most = m == Measure::hamming ? 64 : m == Measure::ctph_score ? 100 : 1;
    const double strictest = info(m).is_similarity ? most : 0;
    EXPECT_EQ(closeness(m, strictest), 1);
    EXPECT_GT(closeness(m, info(m).is_similarity ? most * 1.01 : -0.01), 1);
    EXPECT_EQ(closeness(m, info(m).is_similarity ? 0 : most), 0);
    EXPECT_EQ(closeness(m, NAN) > 1, info(m).is_similarity);
    for (int i = 1; i <= 100; ++i) {
      const double here = closeness(m, most * i / 100), before = closeness(m, most * (i - 1) / 100);
      EXPECT_TRUE(info(m).is_similarity ? here >= before : here <= before) << i;
    }
  }
}

TEST(LshQuery, TextForm) {
  const auto query_text = [](double bound) { return lsh_query_to_text(view(query(bound, 32, true))); };
  EXPECT_EQ(query_text(0.8), "jaccard>=0.8 mh1:word3:16x32:s-5:t1:empty");
  EXPECT_EQ(query_text(1), "jaccard>=1 mh1:word3:16x32:s-5:t1:empty");
  EXPECT_EQ(query_text(NAN).substr(0, 14), "jaccard>=NaN m");
  EXPECT_EQ(query_text(kInfinity).substr(0, 19), "jaccard>=Infinity m");
  EXPECT_EQ(query_text(-kInfinity).substr(0, 20), "jaccard>=-Infinity m");
  // One zero, one NaN: equal values have equal bytes.
  EXPECT_EQ(query(-0.0), query(0.0));
  EXPECT_EQ(query(-std::nan("1")), query(std::nan("")));
}

TEST(LshQuery, ReadsOtherSpellingsOfTheBound) {
  const std::string s = " mh1:char5:16x32:s0:t0:empty";
  const std::vector<uint8_t> q = lsh_query_from_text("jaccard>=0.5" + s);
  for (const char* bound : {"0.50", "5e-1", ".5", "00.5"}) EXPECT_EQ(lsh_query_from_text("jaccard>=" + (bound + s)), q);
  EXPECT_EQ(lsh_query_from_text("jaccard>=inf" + s), lsh_query_from_text("jaccard>=Infinity" + s));
}

TEST(LshQuery, TextErrors) {
  const std::string s = "mh1:char5:16x32:s0:t0:empty";
  EXPECT_NO_THROW(lsh_query_from_text("jaccard>=0.5 " + s));
  const std::string bad_texts[] = {
      "",
      "jaccard",
      "jaccard>=",
      "jaccard>=0.5" + s,
      "jaccard>= " + s,
      "jaccard >= 0.5 " + s,
      "hamming<=3 " + s,
      "hamming<=3 0123",
      "hamming<=3 0123456789abcdeg",
      "hamming>=3 0123456789abcdef",
      "ctph_score>=70 0123456789abcdef",
      "ctph_score>=70 4:a:b",
      "ctph_score<=70 3:a:b",
      "ctph_edit_rate<=x 3:a:b",
      "ctph_edit_rate<=0.1",
      "edit_rate<=0.1 3:a:b",
      "jaccard>=x " + s,
      "jaccard>=0.5x " + s,
      "jaccard>=+0.5 " + s,
      "jaccard>=1e999 " + s,
      "jaccard>=nan(1) " + s,
      "jaccard>=0.5  " + s,
      "jaccard>=0.5 " + s + " ",
      " jaccard>=0.5 " + s,
      "jaccard>=0.5 mh1:word",
      s,
      "jaccard>=0.5\t" + s,
  };
  for (const std::string& bad : bad_texts) {
    try {
      lsh_query_from_text(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::invalid_text) << bad;
      EXPECT_NE(std::string(e.what()).find("invalid input syntax for type"), std::string::npos);
      EXPECT_FALSE(e.hint().empty());
    }
  }
}

TEST(LshQuery, BrokenBytes) {
  const std::vector<uint8_t> good = query(0.8);
  const std::vector<uint8_t> wire = lsh_query_to_wire(view(good));
  const auto refused = [](const std::vector<uint8_t>& bytes, bool stored) {
    try {
      if (stored)
        view(bytes);
      else
        lsh_query_from_wire(bytes.data(), bytes.size());
      return false;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::corrupt_data);
      return true;
    }
  };
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_TRUE(refused({good.begin(), good.begin() + n}, true)) << n;
    EXPECT_TRUE(refused({wire.begin(), wire.begin() + n}, false)) << n;
  }
  for (const size_t at : {0, 1, 2, 3, 12, 13, 15}) {
    std::vector<uint8_t> bad(good);
    bad[at] ^= 0x55;
    EXPECT_TRUE(refused(bad, true)) << at;
    bad = wire;
    bad[at] ^= 0x55;
    EXPECT_TRUE(refused(bad, false)) << at;
  }
}

}  // namespace
}  // namespace neardup::lsh_query_test
