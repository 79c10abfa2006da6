// See lsh_query.h. Decoders are total: they accept or throw, and what they accept is safe for every operation.
#include "core/lsh/lsh_query.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/base/message_text.h"
#include "core/exact/int_set.h"
#include "core/signature/simhash.h"

namespace neardup {
namespace {

struct Prefix {
  LshMeasure measure;
  std::string_view text;
};
constexpr Prefix kPrefixes[] = {
    {LshMeasure::jaccard, "jaccard>="},           {LshMeasure::hamming, "hamming<="},
    {LshMeasure::ctph_score, "ctph_score>="},     {LshMeasure::ctph_edit_rate, "ctph_edit_rate<="},
    {LshMeasure::set_jaccard, "set_jaccard>="},   {LshMeasure::set_in_query, "set_in_query>="},
    {LshMeasure::query_in_set, "query_in_set>="}, {LshMeasure::set_overlap, "set_overlap>="},
    {LshMeasure::bit_hamming, "bit_hamming<="},
};

// What a query holds beside its bound.
enum class Value : uint8_t { minhash, simhash, digest, set, code };
constexpr Value value_of(LshMeasure measure) noexcept {
  if (is_of_sets(measure)) return Value::set;
  if (measure == LshMeasure::jaccard) return Value::minhash;
  if (measure == LshMeasure::bit_hamming) return Value::code;
  return measure == LshMeasure::hamming ? Value::simhash : Value::digest;
}

[[noreturn]] void corrupt(const std::string& what, std::string hint = {}) {
  throw Error(Errc::corrupt_data, "invalid lsh_query: " + what, {}, std::move(hint));
}

void check_is_binary(const void* bytes, size_t size) {
  const std::string_view text(static_cast<const char*>(bytes), size);
  for (const Prefix& prefix : kPrefixes)
    if (text.substr(0, prefix.text.size()) == prefix.text)
      throw Error(Errc::corrupt_data, std::string("invalid lsh_query: ") + kTextForm, {}, kTextFormHint);
}

void check_fields(uint8_t format, uint8_t measure, uint16_t reserved) {
  if (format != kLshQueryFormat)
    corrupt("format " + std::to_string(format) + " is not known, this library reads format " +
                std::to_string(kLshQueryFormat),
            hint_if_newer(format, kLshQueryFormat));
  if (measure < 1 || measure > std::size(kPrefixes))
    corrupt("unknown measure " + std::to_string(measure), hint_if_newer(measure, std::size(kPrefixes)));
  if (reserved != 0) corrupt("reserved bytes are not 0");
}

// Equal values have equal bytes.
double canonical(double bound) noexcept {
  if (std::isnan(bound)) return std::numeric_limits<double>::quiet_NaN();
  return bound == 0 ? 0 : bound;
}

std::vector<uint8_t> stored(const LshQueryView& query) {
  std::vector<uint8_t> out(lsh_query_size(query));
  write_lsh_query(query, out.data());
  return out;
}

uint64_t load_be64(const uint8_t* p) noexcept {
  uint64_t v = 0;
  for (unsigned i = 0; i < 8; ++i) v = v << 8 | p[i];
  return v;
}

void store_be64(uint64_t v, uint8_t* p) noexcept {
  for (unsigned i = 0; i < 8; ++i) p[i] = static_cast<uint8_t>(v >> (56 - 8 * i));
}

void check_simhash_size(size_t size) {
  if (size != sizeof(uint64_t)) corrupt("a simhash has 8 bytes, not " + std::to_string(size));
}

// Bytes of a code that a query stores.
size_t stored_code_bytes(uint32_t bits) noexcept { return valid_code_bits(bits) ? code_bytes(bits) : 0; }

BitCode checked_code(uint32_t bits, const uint8_t* bytes, size_t size) {
  if (size != stored_code_bytes(bits))
    corrupt("a bit code of " + std::to_string(bits) + " bits has not " + std::to_string(size) + " bytes");
  if (size != 0 && bits % 8 != 0 && (bytes[size - 1] & (0xff >> bits % 8)) != 0)
    corrupt("the bits behind a bit code are not 0");
  return {size == 0 ? nullptr : bytes, bits};
}

std::string code_to_text(const BitCode& code) {
  if (code.bytes == nullptr) return '[' + std::to_string(code.bits) + ']';
  std::string out(code.bits, '0');
  for (uint32_t i = 0; i < code.bits; ++i)
    if ((code.bytes[i / 8] >> (7 - i % 8) & 1) != 0) out[i] = '1';
  return out;
}

// bytes: room for kMostCodeBytes, 0.
BitCode code_from_text(std::string_view text, uint8_t* bytes, const char** why) {
  *why = "A bit code reads 0101.., 64 to 4096 bits.";
  BitCode code;
  if (!text.empty() && text.front() == '[' && text.back() == ']') {
    const auto r = std::from_chars(text.data() + 1, text.data() + text.size() - 1, code.bits);
    if (r.ec == std::errc() && r.ptr == text.data() + text.size() - 1 && !valid_code_bits(code.bits)) *why = nullptr;
    return code;
  }
  if (text.size() > kMostCodeBits || !valid_code_bits(static_cast<uint32_t>(text.size()))) return code;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '0' && text[i] != '1') return code;
    if (text[i] == '1') bytes[i / 8] |= static_cast<uint8_t>(0x80 >> i % 8);
  }
  *why = nullptr;
  return {bytes, static_cast<uint32_t>(text.size())};
}

// Elements of 8 bytes, ascending.
SetView checked_set(const uint8_t* bytes, size_t size) {
  if (size % sizeof(int64_t) != 0) corrupt("a set has 8 bytes an element, not " + std::to_string(size) + " in all");
  const SetView set{bytes, size / sizeof(int64_t)};
  for (size_t i = 1; i < set.n; ++i)
    if (set[i - 1] >= set[i]) corrupt("the elements of a set do not ascend");
  return set;
}

std::vector<int64_t> set_from_text(std::string_view text, const char** why) {
  std::vector<int64_t> elements;
  *why = "A set reads {1,2,3}.";
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return elements;
  const char* p = text.data() + 1;
  const char* end = text.data() + text.size() - 1;
  while (p != end) {
    int64_t element = 0;
    const auto r = std::from_chars(p, end, element);
    if (r.ec != std::errc() || (r.ptr != end && (*r.ptr != ',' || r.ptr + 1 == end))) return elements;
    elements.push_back(element);
    p = r.ptr == end ? end : r.ptr + 1;
  }
  *why = nullptr;
  elements.resize(make_set(elements.data(), elements.size()));
  return elements;
}

// A distance of bit codes that is half way between the strictest and all.
constexpr double kUsualNearBits = 64;

}  // namespace

LshQueryView view_lsh_query(const void* bytes, size_t size) {
  check_is_binary(bytes, size);
  if (size < sizeof(LshQueryHeader)) corrupt(std::to_string(size) + " bytes are too few");
  const auto* h = static_cast<const LshQueryHeader*>(bytes);
  check_fields(h->format, h->measure, h->reserved);
  LshQueryView v;
  v.measure = static_cast<LshMeasure>(h->measure);
  v.bound = h->bound;
  size -= sizeof *h;
  switch (value_of(v.measure)) {
    case Value::minhash:
      v.signature = view_minhash(h + 1, size);
      break;
    case Value::simhash:
      check_simhash_size(size);
      std::memcpy(&v.simhash, h + 1, sizeof v.simhash);
      break;
    case Value::digest:
      v.digest = view_ctph(h + 1, size);
      break;
    case Value::set:
      v.set = checked_set(reinterpret_cast<const uint8_t*>(h + 1), size);
      break;
    case Value::code: {
      const auto* p = reinterpret_cast<const uint8_t*>(h + 1);
      uint32_t bits;
      if (size < sizeof bits) corrupt(std::to_string(size) + " bytes are too few for a bit code");
      std::memcpy(&bits, p, sizeof bits);
      v.code = checked_code(bits, p + sizeof bits, size - sizeof bits);
      break;
    }
  }
  return v;
}

size_t lsh_query_size(const LshQueryView& query) noexcept {
  switch (value_of(query.measure)) {
    case Value::minhash:
      return sizeof(LshQueryHeader) + query.signature.size;
    case Value::simhash:
      return sizeof(LshQueryHeader) + sizeof query.simhash;
    case Value::set:
      return sizeof(LshQueryHeader) + query.set.n * sizeof(int64_t);
    case Value::code:
      return sizeof(LshQueryHeader) + sizeof query.code.bits + stored_code_bytes(query.code.bits);
    default:
      return sizeof(LshQueryHeader) + ctph_size(query.digest);
  }
}

void write_lsh_query(const LshQueryView& query, void* out) noexcept {
  LshQueryHeader h{};
  h.format = kLshQueryFormat;
  h.measure = static_cast<uint8_t>(query.measure);
  h.bound = canonical(query.bound);
  std::memcpy(out, &h, sizeof h);
  uint8_t* value = static_cast<uint8_t*>(out) + sizeof h;
  switch (value_of(query.measure)) {
    case Value::minhash:
      std::memcpy(value, query.signature.header, query.signature.size);
      break;
    case Value::simhash:
      std::memcpy(value, &query.simhash, sizeof query.simhash);
      break;
    case Value::set:
      if (query.set.n != 0) std::memcpy(value, query.set.bytes, query.set.n * sizeof(int64_t));
      break;
    case Value::code:
      std::memcpy(value, &query.code.bits, sizeof query.code.bits);
      if (const size_t n = stored_code_bytes(query.code.bits); n != 0)
        std::memcpy(value + sizeof query.code.bits, query.code.bytes, n);
      break;
    case Value::digest:
      write_ctph(query.digest, value);
  }
}

std::string lsh_query_to_text(const LshQueryView& query) {
  std::string out(kPrefixes[static_cast<size_t>(query.measure) - 1].text);
  if (std::isnan(query.bound)) {
    out += "NaN";
  } else if (std::isinf(query.bound)) {
    out += query.bound < 0 ? "-Infinity" : "Infinity";
  } else {
    char digits[32];
    const auto r = std::to_chars(digits, digits + sizeof digits, query.bound);
    out.append(digits, r.ptr);
  }
  out += ' ';
  switch (value_of(query.measure)) {
    case Value::minhash:
      return out + minhash_to_text(query.signature);
    case Value::simhash:
      return out + simhash_to_text(query.simhash);
    case Value::set:
      out += '{';
      for (size_t i = 0; i < query.set.n; ++i) {
        if (i != 0) out += ',';
        out += std::to_string(query.set[i]);
      }
      return out + '}';
    case Value::code:
      return out + code_to_text(query.code);
    default:
      return out + ctph_to_text(query.digest);
  }
}

std::vector<uint8_t> lsh_query_from_text(std::string_view text) {
  const auto fail = [&](const char* why) {
    return Error(Errc::invalid_text, "invalid input syntax for type lsh_query: \"" + excerpt(text) + "\"", why,
                 "To make one, use with_threshold(signature, threshold).");
  };
  const size_t space = text.find(' ');
  const Prefix* prefix = std::find_if(std::begin(kPrefixes), std::end(kPrefixes),
                                      [&](const Prefix& p) { return text.starts_with(p.text); });
  if (prefix == std::end(kPrefixes) || space == std::string_view::npos)
    throw fail("A value reads \"jaccard>=0.8 \", then a signature.");
  const std::string_view number = text.substr(prefix->text.size(), space - prefix->text.size());
  LshQueryView query;
  query.measure = prefix->measure;
  const auto r = std::from_chars(number.data(), number.data() + number.size(), query.bound);
  // from_chars() takes nan(...), too.
  if (r.ec != std::errc() || r.ptr != number.data() + number.size() || number.back() == ')')
    throw fail("The bound is not a number.");
  const std::string_view value = text.substr(space + 1);
  switch (value_of(query.measure)) {
    case Value::minhash: {
      const std::vector<uint8_t> signature = minhash_from_text(value);
      query.signature = view_minhash(signature.data(), signature.size());
      return stored(query);
    }
    case Value::simhash:
      query.simhash = simhash_from_text(value);
      return stored(query);
    case Value::set: {
      const char* why;
      const std::vector<int64_t> elements = set_from_text(value, &why);
      if (why != nullptr) throw fail(why);
      query.set = {reinterpret_cast<const uint8_t*>(elements.data()), elements.size()};
      return stored(query);
    }
    case Value::code: {
      const char* why;
      uint8_t bytes[kMostCodeBytes] = {};
      query.code = code_from_text(value, bytes, &why);
      if (why != nullptr) throw fail(why);
      return stored(query);
    }
    default: {
      const CtphDigest digest = ctph_from_text(value);
      query.digest = view_of(digest);
      return stored(query);
    }
  }
}

std::vector<uint8_t> lsh_query_to_wire(const LshQueryView& query) {
  std::vector<uint8_t> value(sizeof(uint64_t));
  switch (value_of(query.measure)) {
    case Value::minhash:
      value = minhash_to_wire(query.signature);
      break;
    case Value::simhash:
      store_be64(query.simhash, value.data());
      break;
    case Value::set:
      value.resize(query.set.n * sizeof(int64_t));
      for (size_t i = 0; i < query.set.n; ++i) store_be64(static_cast<uint64_t>(query.set[i]), &value[i * 8]);
      break;
    case Value::code:
      value.assign(sizeof query.code.bits, 0);
      for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<uint8_t>(query.code.bits >> (24 - 8 * i));
      value.insert(value.end(), query.code.bytes, query.code.bytes + stored_code_bytes(query.code.bits));
      break;
    case Value::digest:
      value.resize(ctph_size(query.digest));
      write_ctph(query.digest, value.data());
  }
  std::vector<uint8_t> out(sizeof(LshQueryHeader) + value.size());
  out[0] = kLshQueryFormat;
  out[1] = static_cast<uint8_t>(query.measure);
  store_be64(std::bit_cast<uint64_t>(query.bound), &out[4]);
  std::copy(value.begin(), value.end(), out.begin() + sizeof(LshQueryHeader));
  return out;
}

std::vector<uint8_t> lsh_query_from_wire(const uint8_t* bytes, size_t size) {
  check_is_binary(bytes, size);
  if (size < sizeof(LshQueryHeader)) corrupt(std::to_string(size) + " bytes are too few");
  check_fields(bytes[0], bytes[1], static_cast<uint16_t>(bytes[2] << 8 | bytes[3]));
  LshQueryView query;
  query.measure = static_cast<LshMeasure>(bytes[1]);
  query.bound = std::bit_cast<double>(load_be64(bytes + 4));
  bytes += sizeof(LshQueryHeader);
  size -= sizeof(LshQueryHeader);
  switch (value_of(query.measure)) {
    case Value::minhash: {
      const std::vector<uint8_t> signature = minhash_from_wire(bytes, size);
      query.signature = view_minhash(signature.data(), signature.size());
      return stored(query);
    }
    case Value::simhash:
      check_simhash_size(size);
      query.simhash = load_be64(bytes);
      return stored(query);
    case Value::set: {
      if (size % sizeof(int64_t) != 0) checked_set(bytes, size);  // throws
      std::vector<int64_t> elements(size / sizeof(int64_t));
      for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int64_t>(load_be64(bytes + i * 8));
      query.set = checked_set(reinterpret_cast<const uint8_t*>(elements.data()), size);
      return stored(query);
    }
    case Value::code: {
      constexpr size_t kBits = sizeof query.code.bits;
      if (size < kBits) corrupt(std::to_string(size) + " bytes are too few for a bit code");
      uint32_t bits = 0;
      for (size_t i = 0; i < kBits; ++i) bits = bits << 8 | bytes[i];
      query.code = checked_code(bits, bytes + kBits, size - kBits);
      return stored(query);
    }
    default:
      query.digest = view_ctph(bytes, size);
      return stored(query);
  }
}

double compare_sets(LshMeasure measure, const int64_t* set, size_t n, const int64_t* query, size_t m) noexcept {
  switch (measure) {
    case LshMeasure::set_in_query:
      return set_containment(set, n, query, m);
    case LshMeasure::query_in_set:
      return set_containment(query, m, set, n);
    case LshMeasure::set_overlap:
      return static_cast<double>(common_elements(set, n, query, m));
    default:
      return set_jaccard(set, n, query, m);
  }
}

double closeness(LshMeasure measure, double bound) noexcept {
  double c = 0;
  switch (measure) {
    case LshMeasure::jaccard:
    case LshMeasure::set_jaccard:
    case LshMeasure::set_in_query:
    case LshMeasure::query_in_set:
      c = bound;
      break;
    case LshMeasure::hamming:  // unrelated values differ in some 32 bits, near duplicates in 10 at most
      c = 1 - std::max(bound, 0.0) / 20;
      if (bound < 0) c = 2;
      break;
    case LshMeasure::ctph_score:
      c = bound <= 0 ? 0 : 0.5 + bound / 200;
      break;
    case LshMeasure::ctph_edit_rate:
      c = bound < 0 ? 2 : 1 - bound;
      break;
    case LshMeasure::bit_hamming:  // how much that is hangs on the length: 31 of 256 bits are near
      c = bound < 0 ? 2 : 1 / (1 + bound / kUsualNearBits);
      break;
    case LshMeasure::set_overlap:  // how much that is hangs on the sets
      c = std::isinf(bound) && bound > 0 ? 2 : 1 - 1 / (1 + std::max(bound, 0.0));
      break;
  }
  if (std::isnan(bound)) return is_similarity(measure) ? 2 : 0;
  return std::max(c, 0.0);
}

}  // namespace neardup
