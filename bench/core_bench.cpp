// Shingles and sketches of documents in MB/s, comparisons in ns, many signatures in s: one thread, medians of 7.
// Usage: core_bench                 generated texts (bench/texts.h), every form of the kernels
//        core_bench DIR             the files below DIR, one document each
//        core_bench --rates FILE [processor]   one document a line; prints MB/s for word 3 and char 5, for the scripts
//                                   beside this; by the processor's time on request
//        core_bench --export FILE [N]   writes N generated ASCII documents (2000), one a line
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "core/document/shingle.h"
#include "core/kernels/kernels.h"
#include "core/signature/minhash.h"
#include "core/signature/simhash.h"

#include "bench/texts.h"

namespace {

using namespace neardup;
using Documents = std::vector<std::string>;

constexpr int kRuns = 7;
constexpr uint32_t kPerm = 128;
constexpr size_t kDocumentBytes = 6000;
constexpr size_t kDocuments = 2000;

uint64_t g_sink;  // keeps results alive

bool g_processor_time = false;

double now() {
  if (g_processor_time) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median_seconds(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    const double start = now();
    work();
    times.push_back(now() - start);
  }
  std::sort(times.begin(), times.end());
  return times[kRuns / 2];
}

std::vector<uint32_t> sign(Unit unit, int k, const std::string& text, uint64_t seed = 0) {
  static uint64_t batch[ShingleStream::kMaxBatch];
  ShingleStream stream(unit, k, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  DocumentSketch sketch(kPerm, seed);
  while (const size_t n = stream.next(batch)) sketch.add(batch, n);
  std::vector<uint32_t> components(kPerm);
  sketch.finish(components.data());
  return components;
}

size_t total_bytes(const Documents& documents) {
  size_t n = 0;
  for (const std::string& d : documents) n += d.size();
  return n;
}

double megabytes_per_second(Unit unit, int k, const Documents& documents) {
  const double s = median_seconds([&] {
    for (const std::string& d : documents) g_sink += sign(unit, k, d)[0];
  });
  return static_cast<double>(total_bytes(documents)) / 1e6 / s;
}

double simhash_rate(Unit unit, int k, const Documents& documents) {
  const double s = median_seconds([&] {
    for (const std::string& d : documents)
      g_sink += simhash_document(unit, k, reinterpret_cast<const uint8_t*>(d.data()), d.size(), nullptr).value_or(0);
  });
  return static_cast<double>(total_bytes(documents)) / 1e6 / s;
}

Documents generated(bench::Script script, size_t n = kDocuments) {
  const bench::Texts texts(script);
  Documents out;
  for (size_t i = 0; i < n; ++i) out.push_back(texts.document(i, kDocumentBytes));
  return out;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void rates(const char* name, const Documents& documents) {
  for (const char* form : kKernelForms) {
    if (!force_kernels(form)) continue;
    std::printf("%-10s %-8s %10.0f %10.0f %10.0f %10.0f\n", name, form, megabytes_per_second(Unit::word, 3, documents),
                megabytes_per_second(Unit::character, 5, documents), simhash_rate(Unit::word, 3, documents),
                simhash_rate(Unit::character, 5, documents));
    std::fflush(stdout);
  }
  force_kernels("auto");
}

void header(size_t bytes, size_t n) {
  std::printf("shingles + sketch, %u components, MB/s, one thread; %zu documents of %zu bytes on average\n", kPerm, n,
              bytes / std::max<size_t>(n, 1));
  std::printf("%-10s %-8s %10s %10s %10s %10s\n", "text", "kernels", "word 3", "char 5", "simhash w3", "simhash c5");
}

template <class T>
void comparisons(const Documents& documents) {
  // 64 signatures: they stay in the first-level cache.
  constexpr size_t kRows = 64;
  constexpr uint32_t kBits = 8 * sizeof(T);
  std::vector<T> rows;
  for (size_t i = 0; i < kRows; ++i) {
    for (const uint32_t v : sign(Unit::word, 3, documents[i])) {
      rows.push_back(static_cast<T>(kBits == 32 ? v : kBits == 16 ? component16(v, kPerm) : component8(v)));
    }
  }
  constexpr int kRounds = 200;
  double sum = 0;
  const double s = median_seconds([&] {
    for (int r = 0; r < kRounds; ++r) {
      for (size_t i = 0; i < kRows; ++i) {
        for (size_t j = 0; j < kRows; ++j) {
          sum += estimate_jaccard(count_matches(&rows[i * kPerm], &rows[j * kPerm], kPerm, kBits), kPerm, kBits);
        }
      }
    }
  });
  g_sink += static_cast<uint64_t>(sum);
  std::printf("%4ux%-4u %-8s %10.1f\n", kPerm, kBits, kernels().name, s * 1e9 / (kRounds * kRows * kRows));
}

int rates_of_lines(const char* path) {
  Documents documents;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) documents.push_back(line);
  if (documents.empty()) {
    std::fprintf(stderr, "no documents in %s\n", path);
    return 1;
  }
  std::printf("%.1f %.1f\n", megabytes_per_second(Unit::word, 3, documents),
              megabytes_per_second(Unit::character, 5, documents));
  return 0;
}

int export_documents(const char* path, size_t n) {
  std::ofstream out(path);
  for (std::string d : generated(bench::Script::ascii, n)) {
    std::replace(d.begin(), d.end(), '\n', ' ');
    out << d << '\n';
  }
  return out ? 0 : 1;
}

int bench_folder(const char* folder) {
  Documents documents;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           folder, std::filesystem::directory_options::skip_permission_denied)) {
    if (entry.is_regular_file()) documents.push_back(read_file(entry.path()));
  }
  header(total_bytes(documents), documents.size());
  rates("folder", documents);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "--rates") == 0) {
    g_processor_time = argc > 3 && std::strcmp(argv[3], "processor") == 0;
    return rates_of_lines(argv[2]);
  }
  if (argc >= 3 && std::strcmp(argv[1], "--export") == 0) {
    return export_documents(argv[2], argc > 3 ? std::strtoul(argv[3], nullptr, 10) : kDocuments);
  }
  if (argc == 2 && argv[1][0] != '-') return bench_folder(argv[1]);
  if (argc != 1) {
    std::fprintf(stderr, "usage: core_bench [DIR | --rates FILE [processor] | --export FILE [N]]\n");
    return 2;
  }
  const Documents ascii = generated(bench::Script::ascii);
  header(total_bytes(ascii), ascii.size());
  rates("ASCII", ascii);
  rates("mixed", generated(bench::Script::mixed));
  rates("Cyrillic", generated(bench::Script::cyrillic));
  rates("Chinese", generated(bench::Script::chinese));

  std::printf("\ncount_matches + estimate_jaccard, warm, ns\n");
  for (const char* form : kKernelForms) {
    if (!force_kernels(form)) continue;
    comparisons<uint32_t>(ascii);
    comparisons<uint16_t>(ascii);
    comparisons<uint8_t>(ascii);
  }
  force_kernels("auto");

  constexpr size_t kSignatures = 100'000;
  std::vector<uint32_t> all(kSignatures * kPerm);
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kSignatures; ++i) {
    const std::vector<uint32_t> s = sign(Unit::word, 3, ascii[i % ascii.size()], i / ascii.size());
    std::copy(s.begin(), s.end(), all.begin() + static_cast<ptrdiff_t>(i * kPerm));
  }
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  g_sink += all[77];
  std::printf("\n%zu signatures (word 3, documents of %zu bytes, one run): %.2f s\n", kSignatures, kDocumentBytes, s);
  return g_sink == 42;
}
