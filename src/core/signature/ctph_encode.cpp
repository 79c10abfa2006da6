// Text, stored and wire forms of ctph digests; see ctph.h. Decoders accept or throw, and what they accept is safe for
// every operation.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "core/base/message_text.h"
#include "core/signature/ctph.h"

namespace neardup {
namespace {

constexpr std::array<uint8_t, 256> kValues = [] {
  std::array<uint8_t, 256> out{};
  out.fill(255);
  for (uint8_t v = 0; v < 64; ++v)
    out[static_cast<size_t>(v < 26    ? 'A' + v
                            : v < 52  ? 'a' + v - 26
                            : v < 62  ? '0' + v - 52
                            : v == 62 ? '+'
                                      : '/')] = v;
  return out;
}();

// Says what is wrong with a part, or nothing.
std::string part_fault(std::string_view part, const char* name, uint32_t length) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (ctph_value(part[i]) <= 63) continue;
    const unsigned char c = static_cast<unsigned char>(part[i]);
    const std::string shown = c > 0x20 && c < 0x7f ? std::string("\"") + part[i] + "\"" : "byte " + std::to_string(c);
    return std::string(name) + " has " + shown + " at character " + std::to_string(i + 1) +
           ", allowed are A-Z, a-z, 0-9, + and /";
  }
  const size_t most = length == kCtphLength ? kCtphMaxPart : length;
  if (part.size() > most)
    return std::string(name) + " has " + std::to_string(part.size()) + " characters, at most " + std::to_string(most) +
           " are allowed";
  if (length != kCtphLength || part.size() <= kCtphLength) return {};
  const size_t left = ctph_values(part, true).size();
  if (left <= kCtphLength) return {};
  return std::string(name) + " has " + std::to_string(left) +
         " characters when runs are cut to three, at most 64 are allowed";
}

void put16(uint8_t* out, size_t v) noexcept {
  out[0] = static_cast<uint8_t>(v >> 8);
  out[1] = static_cast<uint8_t>(v);
}

uint32_t get16(const uint8_t* in) noexcept { return static_cast<uint32_t>(in[0]) << 8 | in[1]; }

// Digits only, no leading zero. False where they are something else; *fits tells whether the value is in 64 bits.
bool parse_number(std::string_view text, uint64_t* value, bool* fits) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  for (const char c : text)
    if (c < '0' || c > '9') return false;
  *fits = std::from_chars(text.data(), text.data() + text.size(), *value).ec == std::errc();
  return true;
}

// The start of a text, as messages show it, cut between characters of UTF-8.
std::string shown(std::string_view text) {
  size_t n = std::min<size_t>(text.size(), 32);
  while (n > 0 && n < text.size() && (text[n] & 0xc0) == 0x80) --n;
  return "\"" + std::string(text.substr(0, n)) + (n < text.size() ? ".." : "") + "\"";
}

// A block size or a length, and a colon: nothing that begins like that is of the only format.
bool is_text_form(std::string_view bytes) {
  if (bytes.substr(0, 4) == "long") bytes.remove_prefix(4);
  const size_t digits = std::min(bytes.find_first_not_of("0123456789"), bytes.size());
  return digits > 0 && digits < bytes.size() && bytes[digits] == ':';
}

}  // namespace

uint8_t ctph_value(char c) noexcept { return kValues[static_cast<unsigned char>(c)]; }

size_t cut_runs(std::string_view part, uint8_t* out, size_t room) noexcept {
  size_t n = 0;
  size_t run = 0;
  for (size_t i = 0; i < part.size(); ++i) {
    run = i > 0 && part[i] == part[i - 1] ? run + 1 : 1;
    if (run <= 3 && n < room) out[n++] = ctph_value(part[i]) & 63;
  }
  return n;
}

std::vector<uint8_t> ctph_values(std::string_view part, bool cut) {
  std::vector<uint8_t> out(part.size());
  if (cut) {
    out.resize(cut_runs(part, out.data(), out.size()));
  } else {
    for (size_t i = 0; i < part.size(); ++i) out[i] = ctph_value(part[i]) & 63;
  }
  return out;
}

std::vector<uint64_t> sorted_grams(const std::vector<uint8_t>& values, uint32_t q) {
  std::vector<uint64_t> grams;
  uint64_t gram = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    gram = (gram << 6 | values[i]) & ((uint64_t{1} << 6 * q) - 1);
    if (i + 1 >= q) grams.push_back(gram);
  }
  std::sort(grams.begin(), grams.end());
  return grams;
}

std::string ctph_to_text(const CtphView& d) {
  std::string out = d.is_long() ? "long" + std::to_string(d.length) + ":" : std::string();
  out += std::to_string(ctph_block_size(d.exponent));
  out += ':';
  out += d.part1;
  out += ':';
  out += d.part2;
  return out;
}

CtphDigest ctph_from_text(std::string_view text) {
  const auto fail = [text](const std::string& why) {
    return Error(Errc::invalid_text, "invalid input syntax for type ctph: " + shown(text), why,
                 "A digest reads blocksize:part1:part2, as ssdeep prints it. To digest a document, use to_ctph(...).");
  };
  const std::string_view digest = text.substr(0, text.find(','));
  std::string_view left = digest;
  const auto next = [&](const char* what) {
    const size_t colon = left.find(':');
    if (colon == std::string_view::npos) throw fail(std::string("There is no colon after the ") + what + ".");
    const std::string_view out = left.substr(0, colon);
    left.remove_prefix(colon + 1);
    return out;
  };

  CtphDigest out;
  uint64_t number = 0;
  bool fits = true;
  if (left.substr(0, 4) == "long") {
    const std::string_view length = next("length").substr(4);
    if (!parse_number(length, &number, &fits)) throw fail("The length " + shown(length) + " is not a number.");
    if (!fits || number <= kCtphLength || number > kMaxCtphLength)
      throw fail("The length " + std::string(length.substr(0, 24)) +
                 " is out of range: that of a long digest is between 65 and 1024.");
    out.length = static_cast<uint32_t>(number);
  }
  const std::string_view size = next("block size");
  if (!parse_number(size, &number, &fits)) throw fail("The block size " + shown(size) + " is not a number.");
  while (out.exponent < kCtphExponents && ctph_block_size(out.exponent) != number) ++out.exponent;
  if (!fits || out.exponent == kCtphExponents) {
    const bool above = !fits || number > ctph_block_size(kCtphExponents - 1);
    throw fail("The block size " + std::string(size.substr(0, 24)) + (size.size() > 24 ? ".." : "") + " is " +
               (above ? "out of range" : "not allowed") +
               ": it must be 3 * 2^i with i = 0..30 (3, 6, 12, 24, .. 3221225472).");
  }
  out.part1 = next("part 1");
  out.part2 = left;
  std::string fault = part_fault(out.part1, "part 1", out.length);
  if (fault.empty()) fault = part_fault(out.part2, "part 2", out.length);
  if (!fault.empty()) throw fail("P" + fault.substr(1) + ".");
  return out;
}

void write_ctph(const CtphView& d, void* out) noexcept {
  uint8_t* to = static_cast<uint8_t*>(out);
  to[0] = kCtphFormat;
  to[1] = static_cast<uint8_t>(d.exponent);
  put16(to + 2, d.length);
  put16(to + 4, d.part1.size());
  put16(to + 6, d.part2.size());
  if (!d.part1.empty()) std::memcpy(to + kCtphHeaderSize, d.part1.data(), d.part1.size());
  if (!d.part2.empty()) std::memcpy(to + kCtphHeaderSize + d.part1.size(), d.part2.data(), d.part2.size());
}

CtphView view_ctph(const void* bytes, size_t size) {
  const auto corrupt = [](const std::string& what, std::string hint = {}) {
    return Error(Errc::corrupt_data, "invalid ctph digest: " + what, {}, std::move(hint));
  };
  if (is_text_form({static_cast<const char*>(bytes), size})) throw corrupt(kTextForm, kTextFormHint);
  if (size < kCtphHeaderSize) throw corrupt(std::to_string(size) + " bytes are too few");
  const uint8_t* from = static_cast<const uint8_t*>(bytes);
  if (from[0] != kCtphFormat)
    throw corrupt(
        "format " + std::to_string(from[0]) + " is not known, this library reads format " + std::to_string(kCtphFormat),
        hint_if_newer(from[0], kCtphFormat));
  CtphView v;
  v.exponent = from[1];
  v.length = get16(from + 2);
  const size_t length1 = get16(from + 4);
  const size_t length2 = get16(from + 6);
  if (v.exponent >= kCtphExponents)
    throw corrupt("the block size is 3 * 2^" + std::to_string(v.exponent) + ", at most 3 * 2^30");
  if (v.length < kCtphLength || v.length > kMaxCtphLength)
    throw corrupt("length is " + std::to_string(v.length) + ", it must be between 64 and 1024");
  if (size != kCtphHeaderSize + length1 + length2)
    throw corrupt(std::to_string(size) + " bytes, " + std::to_string(kCtphHeaderSize + length1 + length2) +
                  " expected");
  const char* characters = static_cast<const char*>(bytes) + kCtphHeaderSize;
  v.part1 = {characters, length1};
  v.part2 = {characters + length1, length2};
  std::string fault = part_fault(v.part1, "part 1", v.length);
  if (fault.empty()) fault = part_fault(v.part2, "part 2", v.length);
  if (!fault.empty()) throw corrupt(fault);
  return v;
}

}  // namespace neardup
