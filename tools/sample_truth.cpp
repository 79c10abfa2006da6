// Writes test/data/samples.tsv: what the slow reference says of the texts in samples/, for the scripts that check it
// against the database where the larger data sets are absent. From the root of the tree:
//   g++ -std=c++20 -O2 -Isrc -Itest tools/sample_truth.cpp -o /tmp/sample_truth && /tmp/sample_truth
// Documents are the texts in the order of their paths, numbered from 0 as text_N, and twelve of them in a row, from
// text N on, as row_N. A row: a document, its digest, and of each later document that it is compared with: its name,
// edit distance, Jaccard similarities of 3 words and of 5 characters, score of the digests. Compared are all pairs that
// share a tenth of their 5-character shingles, and some of the others.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "reference/ctph_reference.h"
#include "reference/edit_reference.h"
#include "reference/shingle_reference.h"

namespace {

namespace ref = neardup::reference;

constexpr size_t kInARow = 12;

struct Document {
  std::string id, text;
  std::set<uint64_t> words, chars;
  ref::Symbols symbols;
  ref::Ctph digest;
};

std::vector<Document> documents() {
  std::vector<std::string> paths, texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("samples")) {
    if (entry.is_regular_file() && entry.path().filename() != "README") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::vector<Document> out;
  for (const size_t length : {size_t{1}, kInARow}) {
    for (size_t i = 0; i < texts.size(); ++i) {
      Document d;
      d.id = (length == 1 ? "text_" : "row_") + std::to_string(i);
      for (size_t j = 0; j < length; ++j) d.text += texts[(i + j) % texts.size()];
      const auto words = ref::word_shingle_hashes(d.text, 3), chars = ref::char_shingle_hashes(d.text, 5);
      d.words.insert(words.begin(), words.end());
      d.chars.insert(chars.begin(), chars.end());
      d.symbols = ref::code_point_symbols(d.text);
      d.digest = ref::ctph(d.text);
      out.push_back(d);
    }
  }
  return out;
}

double jaccard(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  size_t both = 0;
  for (const uint64_t x : a) both += b.count(x);
  return static_cast<double>(both) / static_cast<double>(a.size() + b.size() - both);
}

}  // namespace

int main() {
  const std::vector<Document> all = documents();
  std::FILE* const out = std::fopen("test/data/samples.tsv", "w");
  if (out == nullptr) return 1;
  for (size_t i = 0; i < all.size(); ++i) {
    std::fprintf(out, "%s\t%s", all[i].id.c_str(), ref::ctph_text(all[i].digest).c_str());
    for (size_t j = i + 1; j < all.size(); ++j) {
      const double chars = jaccard(all[i].chars, all[j].chars);
      if (chars < 0.1 && (i * 7 + j) % 12 != 0) continue;
      std::fprintf(out, "\t%s %llu %.9f %.9f %d", all[j].id.c_str(),
                   static_cast<unsigned long long>(ref::edit_distance(all[i].symbols, all[j].symbols)),
                   jaccard(all[i].words, all[j].words), chars, ref::ctph_score(all[i].digest, all[j].digest));
    }
    std::fprintf(out, "\n");
  }
  return std::fclose(out);
}
