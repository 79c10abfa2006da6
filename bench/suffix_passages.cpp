// The plain way to find repeated passages: a suffix array of all text and the lengths of common prefixes. For
// passages_bench.py.
//   suffix_passages FILE BYTES      documents of a file with a NUL behind each; passages of at least so many bytes
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <divsufsort.h>
#include <vector>

namespace {

std::vector<unsigned char> read_file(const char* name) {
  std::vector<unsigned char> text;
  FILE* file = fopen(name, "rb");
  if (file == nullptr) {
    perror(name);
    exit(1);
  }
  unsigned char buffer[1 << 16];
  while (const size_t n = fread(buffer, 1, sizeof buffer, file)) text.insert(text.end(), buffer, buffer + n);
  fclose(file);
  return text;
}

// The length that the suffix at i shares with the one before it in the array, by i, cut at the end of a document
// (Karkkainen, Manzini, Puglisi, "Permuted longest-common-prefix array", CPM 2009).
std::vector<saidx_t> common_prefixes(const std::vector<unsigned char>& text, const std::vector<saidx_t>& suffixes) {
  const size_t n = text.size();
  std::vector<saidx_t> before(n, -1), out(n);
  for (size_t r = 1; r < n; ++r) before[static_cast<size_t>(suffixes[r])] = suffixes[r - 1];
  size_t length = 0;
  for (size_t i = 0; i < n; ++i) {
    if (before[i] < 0) {
      length = 0;
      continue;
    }
    const auto j = static_cast<size_t>(before[i]);
    while (i + length < n && j + length < n && text[i + length] != 0 && text[i + length] == text[j + length]) ++length;
    out[i] = static_cast<saidx_t>(length);
    length -= length > 0;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::vector<unsigned char> text = read_file(argv[1]);
  const auto least = static_cast<saidx_t>(atol(argv[2]));
  std::vector<saidx_t> suffixes(text.size());
  if (divsufsort(text.data(), suffixes.data(), static_cast<saidx_t>(text.size())) != 0) return 1;
  const std::vector<saidx_t> common = common_prefixes(text, suffixes);
  // Bytes of windows that occur again: a suffix has one with those before and behind it in the array.
  std::vector<bool> repeated(text.size() + 1);
  for (size_t r = 1; r < text.size(); ++r) {
    if (common[static_cast<size_t>(suffixes[r])] < least) continue;
    repeated[static_cast<size_t>(suffixes[r])] = repeated[static_cast<size_t>(suffixes[r - 1])] = true;
  }
  size_t bytes = 0;
  size_t end = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (repeated[i]) end = i + static_cast<size_t>(least);
    bytes += i < end;
  }
  printf("%zu bytes are repeated\n", bytes);
  return 0;
}
