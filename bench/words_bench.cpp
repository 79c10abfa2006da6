// Counting for word models: MB/s of text by processor time, stage by stage, one thread, best of some runs.
// Usage: words_bench [FILE [VOCABULARY [WINDOW [MEGABYTES [RUNS]]]]]
//        FILE: a document a line; of columns between tabs the last, in the form of COPY (\n is a line feed). "-":
//        generated text (bench/texts.h). VOCABULARY 100000, WINDOW 3, MEGABYTES of memory 0: no limit, RUNS 5.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "core/word_model/word_counts.h"

#include "bench/texts.h"
#include "reference/stdio_temp_file.h"

namespace {

using namespace neardup;

uint64_t g_sink;

// The time of this process, so that others on the machine disturb less.
double seconds_of_processor() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string unescaped(const std::string& line) {
  std::string out;
  const size_t tab = line.rfind('\t');
  for (size_t i = tab == std::string::npos ? 0 : tab + 1; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      out += line[i];
      continue;
    }
    const char c = line[++i];
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
  }
  return out;
}

std::vector<std::string> read_documents(const char* file) {
  std::vector<std::string> out;
  if (std::strcmp(file, "-") == 0) {
    const bench::Texts texts(bench::Script::ascii);
    for (uint64_t i = 0; i < 3000; ++i) out.push_back(texts.document(i, 6000));
    return out;
  }
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) out.push_back(unescaped(line));
  return out;
}

struct Stages {
  double places = 1e9, words = 1e9, choose = 1e9, count = 1e9, rows = 1e9, whole = 1e9;
};

void run(const std::vector<std::string>& documents, size_t vocabulary, const WordCountOptions& options, bool last,
         Stages* best) {
  double start = seconds_of_processor();
  const auto lap = [&start](double* least) {
    const double now = seconds_of_processor();
    *least = std::min(*least, now - start);
    start = now;
  };
  for (const std::string& d : documents) {
    WordPlaces places(reinterpret_cast<const uint8_t*>(d.data()), d.size());
    for (WordPlace place; places.next(&place);) g_sink += place.word.size() + place.begins;
  }
  lap(&best->places);
  const double whole = start;
  WordCounts counts(options);
  for (const std::string& d : documents) counts.add_document(reinterpret_cast<const uint8_t*>(d.data()), d.size());
  lap(&best->words);
  std::vector<uint32_t> ids(counts.choose(vocabulary));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<uint32_t>(i);
  lap(&best->choose);
  counts.count(ids.data(), ids.size(), static_cast<uint32_t>(vocabulary));
  lap(&best->count);
  uint64_t features = 0;
  for (WordRow row; counts.next_row(&row);) features += row.size;
  g_sink += features;
  lap(&best->rows);
  best->whole = std::min(best->whole, seconds_of_processor() - whole);
  if (!last) return;
  std::printf("%zu documents, %.2f million places, %zu words, %.2f million pairs, %.2f million features of words\n",
              documents.size(), static_cast<double>(counts.places()) / 1e6, ids.size(),
              static_cast<double>(counts.pairs()) / 1e6, static_cast<double>(features) / 1e6);
  std::printf("memory %.1f MB at most, %.1f MB written to files\n", static_cast<double>(counts.peak_bytes()) / 1e6,
              static_cast<double>(counts.spilled_bytes()) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> documents = read_documents(argc > 1 ? argv[1] : "-");
  const size_t vocabulary = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100000;
  reference::StdioTempFiles files;
  WordCountOptions options;
  if (argc > 3) options.window = std::atoi(argv[3]);
  if (argc > 4 && std::atoi(argv[4]) > 0) {
    options.memory_limit = std::strtoul(argv[4], nullptr, 10) << 20;
    options.files = &files;
  }
  const int runs = argc > 5 ? std::atoi(argv[5]) : 5;
  size_t bytes = 0;
  for (const std::string& d : documents) bytes += d.size();
  Stages best;
  for (int i = 0; i < runs; ++i) run(documents, vocabulary, options, i + 1 == runs, &best);
  const double mb = static_cast<double>(bytes) / 1e6;
  std::printf("%-32s %9s %8s\n", "", "ms", "MB/s");
  for (const auto& [name, s] :
       {std::pair{"places alone", best.places}, std::pair{"places, lexicon, numbers", best.words},
        std::pair{"vocabulary", best.choose}, std::pair{"ids, margins, places by word", best.count},
        std::pair{"rows", best.rows}, std::pair{"all but the first line", best.whole}})
    std::printf("%-32s %9.1f %8.1f\n", name, s * 1e3, mb / s);
  return g_sink == 42;
}
