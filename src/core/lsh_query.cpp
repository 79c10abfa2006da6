// See lsh_query.h. Decoders are total: they accept or throw, and what they accept is safe for every operation.
#include "core/lsh_query.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/text.h"

namespace neardup {
namespace {

constexpr std::string_view kJaccardPrefix = "jaccard>=";

[[noreturn]] void corrupt(const std::string& what) { throw Error(Errc::corrupt_data, "invalid lsh_query: " + what); }

void check_fields(uint8_t format, uint8_t measure, uint16_t reserved) {
  if (format != kLshQueryFormat)
    corrupt("format " + std::to_string(format) + " is not known, this library reads format " +
            std::to_string(kLshQueryFormat));
  if (measure != static_cast<uint8_t>(LshMeasure::jaccard)) corrupt("unknown measure " + std::to_string(measure));
  if (reserved != 0) corrupt("reserved bytes are not 0");
}

// Equal values have equal bytes.
double canonical(double bound) noexcept {
  if (std::isnan(bound)) return std::numeric_limits<double>::quiet_NaN();
  return bound == 0 ? 0 : bound;
}

std::vector<uint8_t> assemble(double bound, const std::vector<uint8_t>& signature) {
  const MinhashView view = view_minhash(signature.data(), signature.size());
  std::vector<uint8_t> out(lsh_query_size(view));
  write_lsh_query(bound, view, out.data());
  return out;
}

}  // namespace

LshQueryView view_lsh_query(const void* bytes, size_t size) {
  if (size < sizeof(LshQueryHeader)) corrupt(std::to_string(size) + " bytes are too few");
  const auto* h = static_cast<const LshQueryHeader*>(bytes);
  check_fields(h->format, h->measure, h->reserved);
  return {h->bound, view_minhash(h + 1, size - sizeof *h)};
}

void write_lsh_query(double bound, const MinhashView& signature, void* out) noexcept {
  LshQueryHeader h{};
  h.format = kLshQueryFormat;
  h.measure = static_cast<uint8_t>(LshMeasure::jaccard);
  h.bound = canonical(bound);
  std::memcpy(out, &h, sizeof h);
  std::memcpy(static_cast<uint8_t*>(out) + sizeof h, signature.header, signature.size);
}

std::string lsh_query_to_text(const LshQueryView& query) {
  std::string out(kJaccardPrefix);
  if (std::isnan(query.bound)) {
    out += "NaN";
  } else if (std::isinf(query.bound)) {
    out += query.bound < 0 ? "-Infinity" : "Infinity";
  } else {
    char digits[32];
    const auto r = std::to_chars(digits, digits + sizeof digits, query.bound);
    out.append(digits, r.ptr);
  }
  return out + " " + minhash_to_text(query.signature);
}

std::vector<uint8_t> lsh_query_from_text(std::string_view text) {
  const auto fail = [&](const char* why) {
    return Error(Errc::invalid_text, "invalid input syntax for type lsh_query: \"" + excerpt(text) + "\"", why,
                 "To make one, use with_threshold(signature, threshold).");
  };
  const size_t space = text.find(' ');
  if (text.substr(0, kJaccardPrefix.size()) != kJaccardPrefix || space == std::string_view::npos)
    throw fail("A value reads \"jaccard>=0.8 \", then a signature.");
  const std::string_view number = text.substr(kJaccardPrefix.size(), space - kJaccardPrefix.size());
  double bound = 0;
  const auto r = std::from_chars(number.data(), number.data() + number.size(), bound);
  // from_chars() takes nan(...), too.
  if (r.ec != std::errc() || r.ptr != number.data() + number.size() || number.back() == ')')
    throw fail("The bound is not a number.");
  return assemble(bound, minhash_from_text(text.substr(space + 1)));
}

std::vector<uint8_t> lsh_query_to_wire(const LshQueryView& query) {
  const std::vector<uint8_t> signature = minhash_to_wire(query.signature);
  std::vector<uint8_t> out(sizeof(LshQueryHeader) + signature.size());
  out[0] = kLshQueryFormat;
  out[1] = static_cast<uint8_t>(LshMeasure::jaccard);
  const uint64_t bits = std::bit_cast<uint64_t>(query.bound);
  for (unsigned i = 0; i < 8; ++i) out[4 + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  std::copy(signature.begin(), signature.end(), out.begin() + sizeof(LshQueryHeader));
  return out;
}

std::vector<uint8_t> lsh_query_from_wire(const uint8_t* bytes, size_t size) {
  if (size < sizeof(LshQueryHeader)) corrupt(std::to_string(size) + " bytes are too few");
  check_fields(bytes[0], bytes[1], static_cast<uint16_t>(bytes[2] << 8 | bytes[3]));
  uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) bits = bits << 8 | bytes[4 + i];
  return assemble(std::bit_cast<double>(bits),
                  minhash_from_wire(bytes + sizeof(LshQueryHeader), size - sizeof(LshQueryHeader)));
}

}  // namespace neardup
