// See minhash_encode.h. Decoders are total: they accept or throw, and what they accept is safe for every operation.
#include "core/signature/minhash_encode.h"

#include <array>
#include <charconv>
#include <cstring>
#include <iterator>

#include "core/base/message_text.h"
#include "core/base/named_values.h"
#include "core/document/shingle.h"
#include "core/signature/weighted_minhash.h"
#include "core/unicode/utf8.h"

namespace neardup {
namespace {

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// The value of each byte, 64 for those outside the alphabet. Comparisons would be guessed wrong: characters follow no
// pattern.
constexpr std::array<uint8_t, 256> kBase64Values = [] {
  std::array<uint8_t, 256> out{};
  out.fill(64);
  for (uint8_t v = 0; v < 64; ++v) out[static_cast<unsigned char>(kBase64[v])] = v;
  return out;
}();

// Kinds in the text form; of shingles k follows.
constexpr NamedValue<MinhashKind> kShingleKinds[] = {{"word", MinhashKind::word},      {"char", MinhashKind::character},
                                                     {"byte", MinhashKind::byte},      {"line", MinhashKind::line},
                                                     {"para", MinhashKind::paragraph}, {"code", MinhashKind::code}};
constexpr size_t kShingleKindLength = 4;
constexpr NamedValue<MinhashKind> kSetKinds[] = {{"text", MinhashKind::text_set},
                                                 {"bigint", MinhashKind::bigint_set},
                                                 {"import", MinhashKind::imported},
                                                 {"weighted", MinhashKind::weighted}};

constexpr NamedValue<MinhashKind> kSetsInWords[] = {{"set of text", MinhashKind::text_set},
                                                    {"set of bigint", MinhashKind::bigint_set},
                                                    {"imported", MinhashKind::imported},
                                                    {"weighted set", MinhashKind::weighted}};
static_assert(std::size(kShingleKinds) + std::size(kSetsInWords) == kNewestMinhashKind);

bool is_shingle_kind(MinhashKind kind) noexcept { return find_name(kShingleKinds, kind, nullptr) != nullptr; }

[[noreturn]] void corrupt(const std::string& what, std::string hint = {}) {
  throw Error(Errc::corrupt_data, "invalid minhash signature: " + what, {}, std::move(hint));
}

void check_is_binary(const void* bytes, size_t size) {
  if (std::string_view(static_cast<const char*>(bytes), size).substr(0, 2) == "mh")
    throw Error(Errc::corrupt_data, std::string("invalid minhash signature: ") + kTextForm, {}, kTextFormHint);
}

// Checks the fields that every form shares.
void check_header(const MinhashHeader& h) {
  if (h.format != kMinhashFormat)
    corrupt("format " + std::to_string(h.format) + " is not known, this library reads format " +
                std::to_string(kMinhashFormat),
            hint_if_newer(h.format, kMinhashFormat));
  if (h.bits != 8 && h.bits != 16 && h.bits != 32) corrupt("bits is " + std::to_string(h.bits));
  if (h.num_perm < kMinNumPerm || h.num_perm > kMaxNumPerm) corrupt("num_perm is " + std::to_string(h.num_perm));
  if (h.flags & ~kMinhashEmpty) corrupt("unknown flags", kNewerHint);
  const auto kind = static_cast<MinhashKind>(h.kind);
  if (is_shingle_kind(kind)) {
    if (h.k < kMinK || h.k > kMaxK) corrupt("k is " + std::to_string(h.k));
  } else if (h.kind < 1 || h.kind > kNewestMinhashKind) {
    corrupt("unknown kind " + std::to_string(h.kind), hint_if_newer(h.kind, kNewestMinhashKind));
  } else if (h.k != 0) {
    corrupt("k is " + std::to_string(h.k) + " for a set");
  }
  if ((kind == MinhashKind::word || kind == MinhashKind::code) != (h.tokenizer != 0))
    corrupt("tokenizer version is " + std::to_string(h.tokenizer));
}

// "import" may hold any values: foreign signatures know nothing of our empty component. In ours, the all-ones value
// stands for an empty bin and occurs only in empty signatures, which have no components.
void check_components(const MinhashView& v) {
  if (v.empty() || static_cast<MinhashKind>(v.header->kind) == MinhashKind::imported || v.bits() == 8) return;
  const uint32_t none = v.bits() == 32 ? kEmptyComponent32 : 65535u;
  for (uint32_t i = 0; i < v.num_perm(); ++i)
    if (component_at(v, i) == none) corrupt("component " + std::to_string(i) + " is empty");
}

template <typename T>
bool parse_number(std::string_view text, T* value) {
  const auto r = std::from_chars(text.data(), text.data() + text.size(), *value);
  // Only the canonical form is read, so that it prints as it was.
  return r.ec == std::errc() && r.ptr == text.data() + text.size() && text == std::to_string(*value);
}

MinhashHeader make_header(const MinhashParams& p, bool empty) noexcept {
  MinhashHeader h{};
  h.format = kMinhashFormat;
  h.kind = static_cast<uint8_t>(p.kind);
  h.k = p.k;
  h.bits = p.bits;
  h.num_perm = p.num_perm;
  h.tokenizer = p.tokenizer;
  h.flags = empty ? kMinhashEmpty : 0;
  h.seed = p.seed;
  return h;
}

// Components to and from bytes of a fixed order, at most 4 bytes each.
void put(uint8_t* out, uint32_t v, uint32_t width, bool big) noexcept {
  for (uint32_t i = 0; i < width; ++i) out[i] = static_cast<uint8_t>(v >> 8 * (big ? width - 1 - i : i));
}
uint32_t get(const uint8_t* in, uint32_t width, bool big) noexcept {
  uint32_t v = 0;
  for (uint32_t i = 0; i < width; ++i) v |= static_cast<uint32_t>(in[i]) << 8 * (big ? width - 1 - i : i);
  return v;
}
void store(void* components, uint32_t i, uint32_t bits, uint32_t v) noexcept {
  if (bits == 32)
    static_cast<uint32_t*>(components)[i] = v;
  else if (bits == 16)
    static_cast<uint16_t*>(components)[i] = static_cast<uint16_t>(v);
  else
    static_cast<uint8_t*>(components)[i] = static_cast<uint8_t>(v);
}

// Header and raw component bytes (of one order) to the stored form.
std::vector<uint8_t> assemble(const MinhashHeader& h, const uint8_t* raw, bool big) {
  const bool empty = (h.flags & kMinhashEmpty) != 0;
  const uint32_t width = h.bits / 8u;
  std::vector<uint8_t> out(sizeof h + (empty ? 0 : size_t{h.num_perm} * width));
  std::memcpy(out.data(), &h, sizeof h);
  if (!empty)
    for (uint32_t i = 0; i < h.num_perm; ++i) store(out.data() + sizeof h, i, h.bits, get(raw + i * width, width, big));
  return out;
}

std::string base64url(const std::vector<uint8_t>& bytes) {
  const size_t n = bytes.size();
  std::string out((4 * n + 2) / 3, '\0');
  char* to = out.data();
  size_t i = 0;
  for (; i + 3 <= n; i += 3, to += 4) {
    const uint32_t three = uint32_t{bytes[i]} << 16 | uint32_t{bytes[i + 1]} << 8 | bytes[i + 2];
    for (unsigned c = 0; c < 4; ++c) to[c] = kBase64[three >> (18 - 6 * c) & 63];
  }
  uint32_t acc = 0;
  unsigned held = 0;
  for (; i < n; ++i) {
    acc = acc << 8 | bytes[i];
    for (held += 8; held >= 6; held -= 6) *to++ = kBase64[acc >> (held - 6) & 63];
  }
  if (held > 0) *to = kBase64[acc << (6 - held) & 63];
  return out;
}

// False on a character outside the alphabet, a wrong length, or spare bits that are not zero.
bool unbase64url(std::string_view text, std::vector<uint8_t>* out) {
  const auto value_at = [text](size_t i) { return uint32_t{kBase64Values[static_cast<unsigned char>(text[i])]}; };
  const size_t fours = text.size() / 4;
  out->resize(3 * fours);
  uint32_t seen = 0;
  for (size_t i = 0; i < fours; ++i) {
    uint32_t four = 0;
    for (size_t c = 0; c < 4; ++c) {
      const uint32_t v = value_at(4 * i + c);
      seen |= v;
      four = four << 6 | v;
    }
    for (size_t b = 0; b < 3; ++b) (*out)[3 * i + b] = static_cast<uint8_t>(four >> (16 - 8 * b));
  }
  if ((seen & 64) != 0) return false;
  uint32_t acc = 0;
  unsigned held = 0;
  for (size_t i = 4 * fours; i < text.size(); ++i) {
    const uint32_t v = value_at(i);
    if (v == 64) return false;
    acc = acc << 6 | v;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out->push_back(static_cast<uint8_t>(acc >> held));
    }
  }
  return held < 6 && (acc & ((1u << held) - 1)) == 0;
}

}  // namespace

MinhashView view_minhash(const void* bytes, size_t size) {
  check_is_binary(bytes, size);
  if (size < sizeof(MinhashHeader)) corrupt(std::to_string(size) + " bytes are too few");
  const auto* h = static_cast<const MinhashHeader*>(bytes);
  check_header(*h);
  const bool empty = (h->flags & kMinhashEmpty) != 0;
  const MinhashView v{h, empty ? nullptr : h + 1, size};
  const size_t expected = sizeof *h + (empty ? 0 : v.components_size());
  if (size != expected) corrupt(std::to_string(size) + " bytes, " + std::to_string(expected) + " expected");
  return v;
}

MinhashParams header_params(const MinhashHeader& h) noexcept {
  return {static_cast<MinhashKind>(h.kind), h.k, h.bits, h.tokenizer, h.num_perm, h.seed};
}

size_t minhash_size(const MinhashParams& p, bool empty) noexcept {
  return sizeof(MinhashHeader) + (empty ? 0 : size_t{p.num_perm} * p.bits / 8);
}

void write_minhash(const MinhashParams& p, const uint32_t* components, void* out) noexcept {
  const MinhashHeader h = make_header(p, components == nullptr);
  std::memcpy(out, &h, sizeof h);
  if (components == nullptr) return;
  void* to = static_cast<uint8_t*>(out) + sizeof h;
  for (uint32_t i = 0; i < p.num_perm; ++i) {
    const uint32_t v = components[i];
    store(to, i, p.bits,
          p.bits == 32                      ? v
          : p.bits == 8                     ? component8(v)
          : p.kind == MinhashKind::weighted ? weighted_component16(v)
                                            : component16(v, p.num_perm));
  }
}

uint32_t component_at(const MinhashView& v, uint32_t i) noexcept {
  if (v.empty()) return v.bits() == 32 ? kEmptyComponent32 : (1u << v.bits()) - 1;
  switch (v.bits()) {
    case 32:
      return static_cast<const uint32_t*>(v.components)[i];
    case 16:
      return static_cast<const uint16_t*>(v.components)[i];
    default:
      return static_cast<const uint8_t*>(v.components)[i];
  }
}

bool comparable(const MinhashHeader& a, const MinhashHeader& b) noexcept {
  // Everything before the flags, which are the eighth byte.
  uint64_t x;
  uint64_t y;
  std::memcpy(&x, &a, 8);
  std::memcpy(&y, &b, 8);
  constexpr uint64_t flags = 0xffULL << 56;
  return ((x ^ y) & ~flags) == 0 && a.seed == b.seed;
}

void check_comparable(const MinhashView& a, const MinhashView& b) {
  if (comparable(*a.header, *b.header)) return;
  throw Error(Errc::incomparable, "cannot compare signatures made differently",
              "left: " + describe(header_params(*a.header)) + "; right: " + describe(header_params(*b.header)),
              "Use minhash_like(document, column).");
}

std::string kind_text(const MinhashParams& p) {
  if (const char* unit = find_name(kShingleKinds, p.kind, nullptr)) return unit + std::to_string(p.k);
  return find_name(kSetKinds, p.kind);
}

std::string describe(const MinhashParams& p) {
  std::string what = is_shingle_kind(p.kind) ? unit_name(static_cast<Unit>(p.kind)) + (" " + std::to_string(p.k))
                                             : find_name(kSetsInWords, p.kind);
  what += ", " + std::to_string(p.num_perm) + "x" + std::to_string(p.bits) + ", seed " + std::to_string(p.seed);
  if (p.tokenizer > 1) what += ", tokenizer " + std::to_string(p.tokenizer);
  return what;
}

std::string minhash_to_text(const MinhashView& v) {
  const MinhashParams p = header_params(*v.header);
  std::string out = "mh" + std::to_string(v.header->format) + ":" + kind_text(p) + ":" + std::to_string(p.num_perm) +
                    "x" + std::to_string(p.bits) + ":s" + std::to_string(p.seed) + ":t" + std::to_string(p.tokenizer) +
                    ":";
  if (v.empty()) return out + "empty";
  const uint32_t width = p.bits / 8u;
  std::vector<uint8_t> raw(v.components_size());
  for (uint32_t i = 0; i < p.num_perm; ++i) put(raw.data() + i * width, component_at(v, i), width, false);
  return out + base64url(raw);
}

namespace {

// A text form, of which errors say what is wrong.
class MinhashText {
 public:
  explicit MinhashText(std::string_view text) : text_(text) {}

  std::vector<uint8_t> decode() {
    split();
    check_format();
    MinhashHeader h{};
    h.format = kMinhashFormat;
    read_kind(&h);
    read_parameters(&h);
    checked([&] { check_header(h); });
    const std::vector<uint8_t> raw = components(h);
    std::vector<uint8_t> out = assemble(h, raw.data(), false);
    checked([&] { check_components(view_minhash(out.data(), out.size())); });
    return out;
  }

 private:
  static constexpr size_t kTextParts = 6;

  Error fail(const std::string& why, const std::string& hint = {}) const {
    return Error(Errc::invalid_text, "invalid input syntax for type minhash: \"" + excerpt(text_) + "\"", why,
                 hint.empty() ? "To sign a document, use to_minhash(...)." : hint);
  }
  template <class Check>
  void checked(Check check) const {
    try {
      check();
    } catch (const Error& e) {
      throw fail(e.what(), e.hint());
    }
  }

  // Splits at colons; the last part has all that is left.
  void split() {
    size_t at = 0;
    while (num_parts_ < kTextParts) {
      const size_t colon = num_parts_ + 1 == kTextParts ? std::string_view::npos : text_.find(':', at);
      part_[num_parts_++] = text_.substr(at, colon == std::string_view::npos ? colon : colon - at);
      if (colon == std::string_view::npos) break;
      at = colon + 1;
    }
  }

  void check_format() const {
    uint8_t format = 0;
    if (part_[0].substr(0, 2) != "mh" || !parse_number(part_[0].substr(2), &format))
      throw fail("A signature starts with \"mh1:\".");
    if (format != kMinhashFormat)
      throw fail("Format " + std::to_string(format) + " is not known; this library reads format 1.",
                 hint_if_newer(format, kMinhashFormat));
    if (num_parts_ != kTextParts)
      throw fail("A signature has six parts separated by colons: mh1:word3:128x32:s0:t1:...");
  }

  void read_kind(MinhashHeader* h) const {
    const std::string_view kind = part_[1];
    auto known = value_named(kSetKinds, kind);
    if (!known) {
      known = value_named(kShingleKinds, kind.substr(0, kShingleKindLength));
      if (!known || !parse_number(kind.substr(kShingleKindLength), &h->k))
        throw fail(
            "The second part must be wordK, charK, byteK, lineK, paraK, codeK, text, bigint, import or weighted.");
    }
    h->kind = static_cast<uint8_t>(*known);
  }

  void read_parameters(MinhashHeader* h) const {
    const size_t x = part_[2].find('x');
    if (x == std::string_view::npos || !parse_number(part_[2].substr(0, x), &h->num_perm) ||
        !parse_number(part_[2].substr(x + 1), &h->bits))
      throw fail("The third part must be num_perm x bits, as 128x32.");
    int64_t seed = 0;  // not in place: the header is packed
    if (part_[3].substr(0, 1) != "s" || !parse_number(part_[3].substr(1), &seed))
      throw fail("The fourth part must be s and the seed.");
    h->seed = seed;
    if (part_[4].substr(0, 1) != "t" || !parse_number(part_[4].substr(1), &h->tokenizer))
      throw fail("The fifth part must be t and the tokenizer version.");
    if (part_[5] == "empty") h->flags = kMinhashEmpty;
  }

  std::vector<uint8_t> components(const MinhashHeader& h) const {
    std::vector<uint8_t> raw;
    if (h.flags != 0) return raw;
    if (!unbase64url(part_[5], &raw)) throw fail("The last part is not base64url.");
    const size_t expected = size_t{h.num_perm} * h.bits / 8;
    if (raw.size() != expected)
      throw fail("The last part holds " + std::to_string(raw.size()) + " bytes, " + std::to_string(expected) +
                 " expected.");
    return raw;
  }

  std::string_view text_;
  std::string_view part_[kTextParts];
  size_t num_parts_ = 0;
};

}  // namespace

std::vector<uint8_t> minhash_from_text(std::string_view text) { return MinhashText(text).decode(); }

namespace {

// Components in network order, of a width that the compiler knows: one swap of bytes for each.
template <class T>
void put_components(const MinhashView& v, uint8_t* out) noexcept {
  const T* components = static_cast<const T*>(v.components);
  for (uint32_t i = 0; i < v.num_perm(); ++i) put(out + i * sizeof(T), components[i], sizeof(T), true);
}

}  // namespace

std::vector<uint8_t> minhash_to_wire(const MinhashView& v) {
  const MinhashHeader& h = *v.header;
  std::vector<uint8_t> out(v.size);
  out[0] = h.format;
  out[1] = h.kind;
  out[2] = h.k;
  out[3] = h.bits;
  put(out.data() + 4, h.num_perm, 2, true);
  out[6] = h.tokenizer;
  out[7] = h.flags;
  const uint64_t seed = static_cast<uint64_t>(h.seed);
  put(out.data() + 8, static_cast<uint32_t>(seed >> 32), 4, true);
  put(out.data() + 12, static_cast<uint32_t>(seed), 4, true);
  if (v.empty()) return out;
  uint8_t* const components = out.data() + sizeof h;
  if (h.bits == 32) put_components<uint32_t>(v, components);
  if (h.bits == 16) put_components<uint16_t>(v, components);
  if (h.bits == 8) put_components<uint8_t>(v, components);
  return out;
}

std::vector<uint8_t> minhash_from_wire(const uint8_t* bytes, size_t size) {
  check_is_binary(bytes, size);
  if (size < sizeof(MinhashHeader)) corrupt(std::to_string(size) + " bytes are too few");
  MinhashHeader h{};
  h.format = bytes[0];
  h.kind = bytes[1];
  h.k = bytes[2];
  h.bits = bytes[3];
  h.num_perm = static_cast<uint16_t>(get(bytes + 4, 2, true));
  h.tokenizer = bytes[6];
  h.flags = bytes[7];
  h.seed = static_cast<int64_t>(static_cast<uint64_t>(get(bytes + 8, 4, true)) << 32 | get(bytes + 12, 4, true));
  check_header(h);
  const size_t expected = sizeof h + ((h.flags & kMinhashEmpty) ? 0 : size_t{h.num_perm} * h.bits / 8);
  if (size != expected) corrupt(std::to_string(size) + " bytes, " + std::to_string(expected) + " expected");
  std::vector<uint8_t> out = assemble(h, bytes + sizeof h, true);
  check_components(view_minhash(out.data(), out.size()));
  return out;
}

}  // namespace neardup
