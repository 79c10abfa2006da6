// Jobs for searches by a GPU module, and their pairs as defined.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/pairs/digests/ctph_pairs.h"

#include "test/gpu/fake_search.h"
#include "test/reference/hash_sets.h"
#include "test/reference/pairs_reference.h"
#include "test/reference/signature_sets.h"

namespace neardup::test {

// A job with what it points to. Move-only.
struct OwnedJob {
  std::string name;
  NeardupGpuJob job = {};
  std::vector<unsigned char> bytes;
  std::vector<const void*> rows;
  std::vector<uint64_t> values;
  std::vector<std::string> texts;
  std::vector<NeardupGpuPart> parts;
  std::vector<uint16_t> most;
  std::vector<reference::Pair> pairs;  // of all_jobs(): as defined

  OwnedJob() = default;
  OwnedJob(OwnedJob&&) = default;
  OwnedJob(const OwnedJob&) = delete;
};

// Distinct rows of a list, set A being the first count_a of it; both sets lose their own copies only.
template <class Row>
std::vector<Row> distinct(const std::vector<Row>& rows, size_t* count_a) {
  std::vector<Row> out;
  size_t first = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == *count_a) first = out.size();
    if (std::find(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), rows[i]) == out.end())
      out.push_back(rows[i]);
  }
  *count_a = *count_a >= rows.size() ? out.size() : first;
  return out;
}

// count_a: as many rows of the list as are in set A; all of them: one set.
inline OwnedJob minhash_job(const reference::Rows& all, uint32_t need, size_t count_a) {
  OwnedJob out;
  const bool two_sets = count_a < all.size();
  std::vector<std::vector<unsigned char>> rows;
  for (uint32_t i = 0; i < all.size(); ++i) rows.emplace_back(all.row(i), all.row(i) + all.row_bytes());
  rows = distinct(rows, &count_a);
  for (const auto& row : rows) out.bytes.insert(out.bytes.end(), row.begin(), row.end());
  for (size_t i = 0; i < rows.size(); ++i) out.rows.push_back(out.bytes.data() + i * all.row_bytes());
  out.job.kind = NEARDUP_GPU_MINHASH;
  out.job.two_sets = two_sets;
  out.job.count_a = static_cast<uint32_t>(count_a);
  out.job.count = static_cast<uint32_t>(rows.size());
  out.job.rows = out.rows.data();
  out.job.num_perm = all.num_perm;
  out.job.bits = all.bits;
  out.job.need = need;
  return out;
}

inline OwnedJob simhash_job(const std::vector<uint64_t>& all, uint32_t most, size_t count_a) {
  OwnedJob out;
  out.job.two_sets = count_a < all.size();
  out.values = distinct(all, &count_a);
  out.job.kind = NEARDUP_GPU_SIMHASH;
  out.job.count_a = static_cast<uint32_t>(count_a);
  out.job.count = static_cast<uint32_t>(out.values.size());
  out.job.values = out.values.data();
  out.job.most = most;
  return out;
}

inline std::vector<uint16_t> most_by_sum(double threshold) {
  std::vector<uint16_t> out = {0};
  uint32_t d = 0;
  for (uint32_t sum = 1; sum <= 2 * kCtphMaxPart; ++sum) {
    while (d < sum && ctph_similarity((d + 1) << 16 | sum) >= threshold) ++d;
    out.push_back(static_cast<uint16_t>(d));
  }
  return out;
}

inline OwnedJob ctph_job(const std::vector<CtphDigest>& all, double threshold, size_t count_a) {
  OwnedJob out;
  const bool two_sets = count_a < all.size();
  const std::vector<CtphDigest> rows = distinct(all, &count_a);
  out.texts.reserve(2 * rows.size());  // so that texts stay where they are
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const uint32_t of_b = two_sets && i >= count_a;
    for (const bool second : {false, true}) {
      out.texts.push_back(second ? rows[i].part2 : rows[i].part1);
      const std::string& text = out.texts.back();
      if (text.empty()) continue;
      out.parts.push_back({text.data(), i, static_cast<uint16_t>(text.size()),
                           static_cast<uint16_t>(4 * (rows[i].exponent + second) + 2 * second + of_b)});
    }
  }
  std::sort(out.parts.begin(), out.parts.end(), [](const NeardupGpuPart& a, const NeardupGpuPart& b) {
    return std::tie(a.list, a.length, a.row) < std::tie(b.list, b.length, b.row);
  });
  out.most = most_by_sum(threshold);
  out.job.kind = NEARDUP_GPU_CTPH;
  out.job.two_sets = two_sets;
  out.job.count = static_cast<uint32_t>(out.parts.size());
  out.job.parts = out.parts.data();
  out.job.most_by_sum = out.most.data();
  return out;
}

using Pairs = std::vector<reference::Pair>;

// The pairs that the double finds, which compares every pair.
inline Pairs pairs_by_definition(const NeardupGpuJob& job) {
  fake::Search search;
  char error[NEARDUP_GPU_TEXT];
  fake::behaviour = fake::Behaviour::works;
  fake::search_start(reinterpret_cast<NeardupGpuSearch*>(&search), &job, error, sizeof error);
  Pairs out;
  for (const NeardupGpuPair& p : search.pairs) out.emplace_back(p.a, p.b, p.value);
  std::sort(out.begin(), out.end());
  return out;
}

// Small ones of every kind, one set and two, hard in many ways.
inline std::vector<OwnedJob> all_jobs() {
  std::vector<OwnedJob> out;
  const auto add = [&](std::string name, OwnedJob job) {
    job.name = std::move(name);
    job.pairs = pairs_by_definition(job.job);
    out.push_back(std::move(job));
  };
  const auto sets = [](size_t n) { return std::vector<size_t>{n, n / 3, 0}; };
  for (const std::string& name : reference::set_names()) {
    struct {
      uint32_t num_perm, bits, need;
    } shapes[] = {{48, 32, 38}, {48, 32, 20}, {37, 16, 30}, {128, 32, 103}, {130, 8, 90}, {128, 32, 20}, {48, 8, 48}};
    for (const auto& s : shapes) {
      const reference::Rows rows = reference::make_set(name, s.num_perm, s.bits, 130);
      for (const size_t count_a : sets(rows.size()))
        add("minhash " + name + " " + std::to_string(s.num_perm) + "x" + std::to_string(s.bits) + " need " +
                std::to_string(s.need) + ", set A " + std::to_string(count_a),
            minhash_job(rows, s.need, count_a));
    }
  }
  for (const char* shape : reference::kHashShapes) {
    for (const uint32_t n : {0u, 1u, 2u, 300u}) {
      const reference::Values values = reference::make_values(shape, n, n);
      for (const uint32_t most : {0u, 1u, 3u, 7u, 12u, 31u, 32u, 64u})
        for (const size_t count_a : sets(values.size()))
          add("simhash " + std::string(shape) + " " + std::to_string(n) + ", distance " + std::to_string(most) +
                  ", set A " + std::to_string(count_a),
              simhash_job(values, most, count_a));
    }
  }
  for (const reference::DigestShape& shape : reference::digest_shapes())
    for (const double threshold : {0.3, 0.6, 0.85, 1.0})
      for (const size_t count_a : sets(shape.digests.size()))
        add("ctph " + std::string(shape.name) + ", threshold " + std::to_string(threshold) + ", set A " +
                std::to_string(count_a),
            ctph_job(shape.digests, threshold, count_a));
  return out;
}

}  // namespace neardup::test
