// See word_row.h.
#include "core/word_model/word_row.h"

#include "core/base/error.h"
#include "core/base/message_text.h"

namespace neardup {
namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kMaxLebBytes = 5;

[[noreturn]] void corrupt(const std::string& why, std::string hint = {}) {
  throw Error(Errc::corrupt_data, "stored features of a word are damaged: " + why, {}, std::move(hint));
}

void put_leb(uint32_t v, std::vector<uint8_t>* out) {
  for (; v >= 0x80; v >>= 7) out->push_back(static_cast<uint8_t>(v | 0x80));
  out->push_back(static_cast<uint8_t>(v));
}

// Each number has one form only, so that equal rows are equal bytes.
uint32_t read_leb(const uint8_t** p, const uint8_t* end) {
  uint64_t v = 0;
  for (size_t i = 0; i < kMaxLebBytes; ++i) {
    if (*p == end) corrupt("they end too early");
    const uint8_t b = *(*p)++;
    v |= static_cast<uint64_t>(b & 0x7f) << (7 * i);
    if (b >= 0x80) continue;
    if (v > UINT32_MAX || (b == 0 && i > 0)) break;
    return static_cast<uint32_t>(v);
  }
  corrupt("a number is not of 32 bits, or longer than need be");
}

}  // namespace

uint64_t row_weight(const WordRow& row) noexcept {
  uint64_t sum = 0;
  for (size_t i = 0; i < row.size; ++i) sum += row.values[i];
  return sum;
}

uint64_t common_information(const WordRow& a, const WordRow& b) noexcept {
  uint64_t sum = 0;
  for (size_t i = 0, j = 0; i < a.size && j < b.size;) {
    if (a.features[i] == b.features[j]) {
      sum += uint64_t{a.values[i++]} + b.values[j++];
    } else if (a.features[i] < b.features[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

void encode_word_row(const WordRow& row, std::vector<uint8_t>* out) {
  out->reserve(out->size() + 1 + kMaxLebBytes + 5 * row.size);
  out->push_back(kFormat);
  put_leb(static_cast<uint32_t>(row.size), out);
  for (size_t i = 0; i < row.size; ++i)
    put_leb(i == 0 ? row.features[0] : row.features[i] - row.features[i - 1] - 1, out);
  for (size_t i = 0; i < row.size; ++i) {
    out->push_back(static_cast<uint8_t>(row.values[i]));
    out->push_back(static_cast<uint8_t>(row.values[i] >> 8));
  }
}

void decode_word_row(const uint8_t* bytes, size_t size, uint32_t features, std::vector<uint32_t>* out_features,
                     std::vector<uint16_t>* out_values) {
  const uint8_t* p = bytes;
  const uint8_t* const end = bytes + size;
  if (p == end) corrupt("no bytes");
  const uint8_t format = *p++;
  if (format != kFormat)
    corrupt("format " + std::to_string(format) + " is not known, this library reads format " + std::to_string(kFormat),
            hint_if_newer(format, kFormat));
  const size_t n = read_leb(&p, end);
  // A feature has 3 bytes at least: no more memory is asked for than the bytes can fill.
  if (n > static_cast<size_t>(end - p) / 3) corrupt("they end too early");
  if (n > features) corrupt("they are too many");
  const size_t first = out_features->size();
  const size_t first_value = out_values->size();
  out_features->resize(first + n);
  out_values->resize(first_value + n);
  uint64_t next = 0;
  for (size_t i = 0; i < n; ++i) {
    next += read_leb(&p, end);
    if (next >= features) corrupt("a feature is not one of the model");
    (*out_features)[first + i] = static_cast<uint32_t>(next++);
  }
  if (static_cast<size_t>(end - p) != 2 * n) corrupt("their length is wrong");
  for (size_t i = 0; i < n; ++i, p += 2) {
    const auto value = static_cast<uint16_t>(p[0] | p[1] << 8);
    if (value == 0 || value > kMaxInformation) corrupt("a value is not between 1 and 32767");
    (*out_values)[first_value + i] = value;
  }
}

}  // namespace neardup
