// See lsh_query.h. Decoders are total: they accept or throw, and what they accept is safe for every operation.
#include "core/lsh/lsh_query.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/message_text.h"
#include "core/kinds/query_bytes.h"

namespace neardup {
namespace {

// Its bound, in the text form, is on this side of the measure.
std::string_view bound_sign(const MeasureInfo& measure) noexcept { return measure.is_similarity ? ">=" : "<="; }

// Where the bound begins in a text that begins with `jaccard>=`, or another measure's name and sign; 0: it does not.
size_t read_measure(std::string_view text, Measure* measure) noexcept {
  for (uint8_t number = 1; number <= kNewestStoredMeasure; ++number) {
    *measure = static_cast<Measure>(number);
    const MeasureInfo& m = info(*measure);
    if (text.starts_with(m.name) && text.substr(m.name.size()).starts_with(bound_sign(m)))
      return m.name.size() + bound_sign(m).size();
  }
  return 0;
}

void check_is_binary(const void* bytes, size_t size) {
  Measure measure;
  if (read_measure({static_cast<const char*>(bytes), size}, &measure) != 0)
    throw Error(Errc::corrupt_data, std::string("invalid lsh_query: ") + kTextForm, {}, kTextFormHint);
  if (size < sizeof(LshQueryHeader)) refuse_bytes(std::to_string(size) + " bytes are too few");
}

void check_fields(uint8_t format, uint8_t measure, uint16_t reserved) {
  if (format != kLshQueryFormat)
    refuse_bytes("format " + std::to_string(format) + " is not known, this library reads format " +
                     std::to_string(kLshQueryFormat),
                 hint_if_newer(format, kLshQueryFormat));
  if (measure < 1 || measure > kNewestStoredMeasure)
    refuse_bytes("unknown measure " + std::to_string(measure), hint_if_newer(measure, kNewestStoredMeasure));
  if (reserved != 0) refuse_bytes("reserved bytes are not 0");
}

const ValueForms& value_forms(Measure measure) noexcept { return info(measure_kind(measure)).forms; }

// Equal values have equal bytes.
void write_header(Measure measure, double bound, void* out) noexcept {
  LshQueryHeader h{};
  h.format = kLshQueryFormat;
  h.measure = static_cast<uint8_t>(measure);
  h.bound = std::isnan(bound) ? std::numeric_limits<double>::quiet_NaN() : bound == 0 ? 0 : bound;
  std::memcpy(out, &h, sizeof h);
}

// The stored form from that of its value.
std::vector<uint8_t> with_header(Measure measure, double bound, const std::vector<uint8_t>& value) {
  std::vector<uint8_t> out(sizeof(LshQueryHeader) + value.size());
  write_header(measure, bound, out.data());
  std::copy(value.begin(), value.end(), out.begin() + sizeof(LshQueryHeader));
  return out;
}

}  // namespace

LshQueryView view_lsh_query(const void* bytes, size_t size) {
  check_is_binary(bytes, size);
  const auto* h = static_cast<const LshQueryHeader*>(bytes);
  check_fields(h->format, h->measure, h->reserved);
  const auto measure = static_cast<Measure>(h->measure);
  return {value_forms(measure).view(reinterpret_cast<const uint8_t*>(h + 1), size - sizeof *h), measure, h->bound};
}

size_t lsh_query_size(const LshQueryView& query) noexcept {
  return sizeof(LshQueryHeader) + value_forms(query.measure).stored_size(query);
}

void write_lsh_query(const LshQueryView& query, void* out) noexcept {
  write_header(query.measure, query.bound, out);
  value_forms(query.measure).store(query, static_cast<uint8_t*>(out) + sizeof(LshQueryHeader));
}

std::string lsh_query_to_text(const LshQueryView& query) {
  const MeasureInfo& measure = info(query.measure);
  std::string out(measure.name);
  out += bound_sign(measure);
  if (std::isnan(query.bound)) {
    out += "NaN";
  } else if (std::isinf(query.bound)) {
    out += query.bound < 0 ? "-Infinity" : "Infinity";
  } else {
    char digits[32];
    const auto r = std::to_chars(digits, digits + sizeof digits, query.bound);
    out.append(digits, r.ptr);
  }
  return out + ' ' + value_forms(query.measure).to_text(query);
}

std::vector<uint8_t> lsh_query_from_text(std::string_view text) {
  const auto fail = [&](const char* why) {
    return Error(Errc::invalid_text, "invalid input syntax for type lsh_query: \"" + excerpt(text) + "\"", why,
                 "To make one, use with_threshold(signature, threshold).");
  };
  Measure measure;
  const size_t from = read_measure(text, &measure);
  const size_t space = text.find(' ');
  if (from == 0 || space == std::string_view::npos) throw fail("A value reads \"jaccard>=0.8 \", then a signature.");
  const std::string_view number = text.substr(from, space - from);
  double bound = 0;
  const auto r = std::from_chars(number.data(), number.data() + number.size(), bound);
  // from_chars() takes nan(...), too.
  if (r.ec != std::errc() || r.ptr != number.data() + number.size() || number.back() == ')')
    throw fail("The bound is not a number.");
  const char* why = nullptr;
  const std::vector<uint8_t> value = value_forms(measure).from_text(text.substr(space + 1), &why);
  if (why != nullptr) throw fail(why);
  return with_header(measure, bound, value);
}

std::vector<uint8_t> lsh_query_to_wire(const LshQueryView& query) {
  std::vector<uint8_t> out(sizeof(LshQueryHeader));
  out[0] = kLshQueryFormat;
  out[1] = static_cast<uint8_t>(query.measure);
  store_big_endian(std::bit_cast<uint64_t>(query.bound), &out[4]);
  const std::vector<uint8_t> value = value_forms(query.measure).to_wire(query);
  out.insert(out.end(), value.begin(), value.end());
  return out;
}

std::vector<uint8_t> lsh_query_from_wire(const uint8_t* bytes, size_t size) {
  check_is_binary(bytes, size);
  check_fields(bytes[0], bytes[1], load_big_endian<uint16_t>(bytes + 2));
  const auto measure = static_cast<Measure>(bytes[1]);
  const double bound = std::bit_cast<double>(load_big_endian<uint64_t>(bytes + 4));
  constexpr size_t kQueryHeaderBytes = sizeof(LshQueryHeader);
  return with_header(measure, bound,
                     value_forms(measure).from_wire(bytes + kQueryHeaderBytes, size - kQueryHeaderBytes));
}

}  // namespace neardup
