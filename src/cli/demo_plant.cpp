// `neardup demo-plant`: labelled, edited copies of loaded texts, for ./run demo.
#include "cli/demo_plant.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/database.h"
#include "cli/base/interrupt.h"
#include "cli/base/table.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kLeastWords = 100;
constexpr double kShareEdited = 0.02;

struct Word {
  std::size_t begin, end;
};

std::vector<Word> words_of(std::string_view text) {
  auto in_word = [](unsigned char c) {
    return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::vector<Word> words;
  for (std::size_t i = 0; i < text.size();) {
    if (!in_word(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && in_word(static_cast<unsigned char>(text[i]))) ++i;
    words.push_back({begin, i});
  }
  return words;
}

// 2 % of the words, spread over the text, become words that it does not hold.
std::string edited(std::string_view text, const std::vector<Word>& words, std::uint64_t seed) {
  const auto edits =
      std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(words.size()) * kShareEdited));
  const std::size_t stride = words.size() / edits;
  std::string out;
  std::size_t done = 0;
  for (std::size_t i = 0; i < edits; ++i) {
    const std::uint64_t random = XXH3_64bits_withSeed(&i, sizeof i, seed);
    const Word& word = words[i * stride + random % stride];
    char replacement[24];
    std::snprintf(replacement, sizeof replacement, "edit%06llx", static_cast<unsigned long long>(random >> 40));
    out.append(text.substr(done, word.begin - done)).append(replacement);
    done = word.end;
  }
  out.append(text.substr(done));
  return out;
}

}  // namespace

int demo_plant_main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: neardup demo-plant TABLE COUNT\n", stderr);
    return 2;
  }
  const std::string named = parse_table_name(argv[1]);
  const int count = std::atoi(argv[2]);
  install_interrupt_handlers();
  Connection db({});
  const std::string table = qualified_table(db, named);
  db.query("BEGIN");
  // In the order of the hash: a fixed sample across all folders, each content once.
  db.query("DECLARE source NO SCROLL CURSOR FOR SELECT DISTINCT ON (content_hash) content_hash, path, body FROM " +
           table +
           " WHERE pg_catalog.octet_length(body) OPERATOR(pg_catalog.>=) 500"
           " AND pg_catalog.octet_length(body) OPERATOR(pg_catalog.<=) 200000"
           " AND NOT pg_catalog.starts_with(path, 'planted/') ORDER BY content_hash, id");
  struct Copy {
    std::string path, body;
  };
  std::vector<Copy> copies;
  while (static_cast<int>(copies.size()) < count) {
    Result rows = db.query("FETCH 100 FROM source");
    if (PQntuples(rows.get()) == 0) break;
    for (int i = 0; i < PQntuples(rows.get()) && static_cast<int>(copies.size()) < count; ++i) {
      const std::string_view body = get_text(rows, i, 2);
      const std::vector<Word> words = words_of(body);
      if (words.size() < kLeastWords) continue;
      char number[32];
      std::snprintf(number, sizeof number, "planted/%03d of ", static_cast<int>(copies.size()) + 1);
      copies.push_back({number + std::string(get_text(rows, i, 1)),
                        edited(body, words, static_cast<std::uint64_t>(get_int8(rows, i, 0)))});
    }
  }
  std::int64_t planted = 0;
  for (const Copy& copy : copies) {
    planted += command_rows(db.query(
        "INSERT INTO " + table + " (path, size, mtime, content_hash, body) VALUES ($1, $2, pg_catalog.now(), $3, $4)",
        Params()
            .text(copy.path)
            .int8(static_cast<std::int64_t>(copy.body.size()))
            .int8(static_cast<std::int64_t>(XXH3_64bits(copy.body.data(), copy.body.size())))
            .text(copy.body)));
  }
  db.query("COMMIT");
  std::printf("%lld\n", static_cast<long long>(planted));
  return 0;
}

}  // namespace neardup::cli
