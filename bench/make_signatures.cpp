// Writes signatures (bench/signatures.h) as PostgreSQL binary COPY to standard output: (id bigint, sig minhash), and
// on request what plain PostgreSQL needs to search without an index of ours.
//
//   make_signatures --rows 1000000 | psql -c 'COPY t (id, sig) FROM STDIN (FORMAT binary)'
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/hash.h"
#include "core/signature/minhash_encode.h"
#include "core/unicode/utf8.h"

#include "bench/signatures.h"

namespace {

using namespace neardup;

constexpr char kUsage[] =
    R"(usage: make_signatures --rows N [OPTION ...] >FILE

  --rows N          size of the corpus; ids are 1..N
  --from A --to B   only rows A+1..B of it (default: all): a corpus can come in parts
  --queries Q       instead, Q different rows of those, for use as queries: half of them drawn among the rows, half
                    among the families (drawn among the rows alone they would have 12 hits each at 0.8, not 8)
  --identical M     M more rows that are all alike, ids N+1..N+M, scattered among the others; half of their components
                    are boilerplate that many others have
  --only-identical  just one of these, with id 0: the query for them
  --band-keys B     a third column, bigint[]: B keys, each of num_perm / B components
  --num-perm P      components (128)
  --bits W          8, 16 or 32 (32)
  --seed S          another corpus (1)
  --base I          ids begin after I (0)
)";

constexpr uint32_t kInt8Oid = 20;

struct Options {
  uint32_t rows = 0;
  uint32_t from = 0;
  uint32_t to = UINT32_MAX;
  uint32_t queries = 0;
  uint32_t identical = 0;
  uint32_t band_keys = 0;
  uint32_t num_perm = 128;
  uint32_t bits = 32;
  uint32_t seed = 1;
  uint32_t base = 0;
  bool only_identical = false;
};

[[noreturn]] void usage(const std::string& what) {
  if (!what.empty()) std::fprintf(stderr, "make_signatures: %s\n", what.c_str());
  std::fputs(kUsage, what.empty() ? stdout : stderr);
  std::exit(what.empty() ? 0 : 2);
}

uint32_t number(const char* option, const char* text) {
  char* end = nullptr;
  const unsigned long long v = text == nullptr ? 0 : std::strtoull(text, &end, 10);
  if (text == nullptr || end == text || *end != 0 || text[0] == '-' || v > 100'000'000) {
    usage(std::string(option) + " needs a number up to 100000000");
  }
  return static_cast<uint32_t>(v);
}

Options parse(int argc, char** argv) {
  Options o;
  const struct {
    const char* name;
    uint32_t Options::*value;
  } kNumbers[] = {
      {"--rows", &Options::rows},         {"--from", &Options::from},           {"--to", &Options::to},
      {"--queries", &Options::queries},   {"--identical", &Options::identical}, {"--band-keys", &Options::band_keys},
      {"--num-perm", &Options::num_perm}, {"--bits", &Options::bits},           {"--seed", &Options::seed},
      {"--base", &Options::base}};
  for (int i = 1; i < argc; ++i) {
    bool known = false;
    for (const auto& n : kNumbers) {
      if (std::strcmp(argv[i], n.name) != 0) continue;
      o.*n.value = number(n.name, i + 1 < argc ? argv[i + 1] : nullptr);
      ++i;
      known = true;
      break;
    }
    if (known) continue;
    if (std::strcmp(argv[i], "--only-identical") == 0) {
      o.only_identical = true;
    } else {
      usage(std::strcmp(argv[i], "--help") == 0 ? "" : std::string("unknown option ") + argv[i]);
    }
  }
  o.to = std::min(o.to, o.rows);
  if (o.rows == 0) usage("--rows is missing");
  if (o.from > o.to) usage("--from is above --to");
  if (o.queries > (o.to - o.from) / 2) usage("--queries is above half of the rows");
  if (o.band_keys > 0 && (o.band_keys > o.num_perm || o.num_perm % o.band_keys != 0)) {
    usage("--band-keys must divide --num-perm");
  }
  return o;
}

// Tuples of binary COPY, written in pieces of about 1 MB.
class Copy {
 public:
  explicit Copy(const Options& o)
      : o_(o), corpus_(o.rows, o.num_perm, 32, o.seed), row_(o.num_perm), stored_(kMaxMinhashSize / 4) {
    params_.bits = static_cast<uint8_t>(o.bits);
    params_.num_perm = static_cast<uint16_t>(o.num_perm);
    params_.tokenizer = kTokenizerVersion;
    put_bytes("PGCOPY\n\377\r\n\0", 11);
    put32(0);
    put32(0);
  }

  const bench::Signatures& corpus() const { return corpus_; }

  void row(uint32_t i) {
    corpus_.row(i, row_.data());
    tuple(uint64_t{o_.base} + i + 1);
  }

  void identical(uint64_t id) {
    if (identical_.empty()) {
      identical_.resize(row_.size());
      corpus_.version(corpus_.boilerplate_family(), 0, identical_.data());
    }
    row_ = identical_;
    tuple(id);
  }

  void finish() {
    put16(0xffff);
    flush();
    if (std::fflush(stdout) != 0) fail();
  }

 private:
  [[noreturn]] static void fail() {
    std::perror("make_signatures: cannot write");
    std::exit(1);
  }

  void tuple(uint64_t id) {
    put16(static_cast<uint16_t>(2 + (o_.band_keys > 0)));
    put32(8);
    put64(id);
    // The components are of 32 bits: narrower ones are derived from them, as from a text's.
    write_minhash(params_, row_.data(), stored_.data());
    const std::vector<uint8_t> wire = minhash_to_wire(view_minhash(stored_.data(), minhash_size(params_, false)));
    put32(static_cast<uint32_t>(wire.size()));
    put_bytes(wire.data(), wire.size());
    if (o_.band_keys > 0) {
      // A one-dimensional array without NULLs: its head, then every element with its size.
      put32(20 + 12 * o_.band_keys);
      for (const uint32_t v : {1u, 0u, kInt8Oid, o_.band_keys, 1u}) put32(v);
      const uint32_t width = o_.num_perm / o_.band_keys;
      for (uint32_t b = 0; b < o_.band_keys; ++b) {
        uint64_t key = mix64(kSeed0 + b);
        for (uint32_t c = b * width; c < (b + 1) * width; ++c) key = mix64(key ^ component_at(view(), c));
        put32(8);
        put64(key);
      }
    }
    if (out_.size() >= (1 << 20)) flush();
  }

  MinhashView view() const {
    const auto* header = reinterpret_cast<const MinhashHeader*>(stored_.data());
    return {header, header + 1, minhash_size(params_, false)};
  }

  void flush() {
    if (std::fwrite(out_.data(), 1, out_.size(), stdout) != out_.size()) fail();
    out_.clear();
  }
  void put_bytes(const void* p, size_t n) {
    const auto* bytes = static_cast<const unsigned char*>(p);
    out_.insert(out_.end(), bytes, bytes + n);
  }
  void put16(uint16_t v) {
    v = __builtin_bswap16(v);
    put_bytes(&v, 2);
  }
  void put32(uint32_t v) {
    v = __builtin_bswap32(v);
    put_bytes(&v, 4);
  }
  void put64(uint64_t v) {
    v = __builtin_bswap64(v);
    put_bytes(&v, 8);
  }

  Options o_;
  bench::Signatures corpus_;
  MinhashParams params_;
  std::vector<uint32_t> row_;
  std::vector<uint32_t> identical_;
  std::vector<uint32_t> stored_;
  std::vector<unsigned char> out_;
};

// Half of the queries are drawn among the rows, half among the families; each time evenly over large and small
// families, so that few queries will do. In a scattered order. O(rows log rows).
std::vector<uint32_t> draw_queries(const Options& o, const bench::Signatures& corpus) {
  std::vector<std::vector<uint32_t>> families;
  for (uint32_t i = o.from; i < o.to; ++i) {
    const uint32_t f = corpus.family(i);
    if (f >= families.size()) families.resize(f + 1);
    families[f].push_back(i);
  }
  std::erase_if(families, [](const auto& rows) { return rows.empty(); });
  std::stable_sort(families.begin(), families.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<uint32_t> rows;
  for (const auto& family : families) rows.insert(rows.end(), family.begin(), family.end());

  uint64_t state = mix64(o.seed + 99);
  // A number in part j of 0..size-1, which has been cut into n parts.
  const auto draw = [&state](uint64_t size, uint64_t j, uint64_t n) {
    const uint64_t begin = size * j / n, end = std::max(size * (j + 1) / n, begin + 1);
    state = mix64(state + 1);
    return static_cast<size_t>(begin + state % (end - begin));
  };
  std::vector<uint32_t> drawn;
  std::unordered_set<uint32_t> seen;
  const auto add = [&](auto&& next) {
    for (int tries = 0; tries < 1000; ++tries) {
      const uint32_t row = next();
      if (!seen.insert(row).second) continue;
      drawn.push_back(row);
      return;
    }
  };
  const uint32_t by_row = o.queries / 2, by_family = o.queries - by_row;
  for (uint32_t j = 0; j < by_family; ++j) {
    add([&] {
      const auto& family = families[draw(families.size(), j, by_family)];
      return family[draw(family.size(), 0, 1)];
    });
  }
  for (uint32_t j = 0; j < by_row; ++j) add([&] { return rows[draw(rows.size(), j, by_row)]; });
  for (size_t i = drawn.size(); i > 1; --i) std::swap(drawn[i - 1], drawn[draw(i, 0, 1)]);
  return drawn;
}

int run(const Options& o) {
  check_num_perm(o.num_perm);
  check_bits(o.bits);
  Copy copy(o);
  if (o.only_identical) {
    copy.identical(0);
  } else if (o.queries > 0) {
    for (const uint32_t i : draw_queries(o, copy.corpus())) copy.row(i);
  } else {
    // After row i come as many of the others as keep their share even.
    const uint64_t n = o.to - o.from;
    uint64_t written = 0;
    for (uint64_t i = 0; i < n; ++i) {
      copy.row(o.from + static_cast<uint32_t>(i));
      for (; written < o.identical * (i + 1) / n; ++written) copy.identical(uint64_t{o.base} + o.rows + 1 + written);
    }
  }
  copy.finish();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const neardup::Error& e) {
    std::fprintf(stderr, "make_signatures: %s\n", e.what());
    return 2;
  }
}
