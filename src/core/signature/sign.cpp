// See sign.h.
#include "core/signature/sign.h"

#include <algorithm>

#include "core/unicode/utf8.h"

namespace neardup {
namespace {

constexpr size_t kElementsPerStep = 8192;

// Kinds of documents have the numbers of their units.
Unit kind_unit(MinhashKind kind) noexcept { return static_cast<Unit>(kind); }
static_assert(static_cast<int>(Unit::word) == static_cast<int>(MinhashKind::word) &&
              static_cast<int>(Unit::character) == static_cast<int>(MinhashKind::character) &&
              static_cast<int>(Unit::byte) == static_cast<int>(MinhashKind::byte) &&
              static_cast<int>(Unit::line) == static_cast<int>(MinhashKind::line) &&
              static_cast<int>(Unit::paragraph) == static_cast<int>(MinhashKind::paragraph) &&
              static_cast<int>(Unit::code) == static_cast<int>(MinhashKind::code));

// Version of the rules by which a text becomes units; 0: the rules have none.
uint8_t rules_version(MinhashKind kind) noexcept {
  return kind == MinhashKind::word ? kTokenizerVersion : kind == MinhashKind::code ? kCodeVersion : uint8_t{0};
}

}  // namespace

MinhashParams document_params(Unit unit, int64_t k, int64_t num_perm, int64_t bits, int64_t seed) {
  check_k(k);
  MinhashParams p = set_params(static_cast<MinhashKind>(unit), num_perm, bits, seed);
  p.k = static_cast<uint8_t>(k);
  p.tokenizer = rules_version(p.kind);
  return p;
}

MinhashParams set_params(MinhashKind kind, int64_t num_perm, int64_t bits, int64_t seed) {
  check_num_perm(num_perm);
  check_bits(bits);
  MinhashParams p;
  p.kind = kind;
  p.k = 0;
  p.tokenizer = 0;
  p.bits = static_cast<uint8_t>(bits);
  p.num_perm = static_cast<uint16_t>(num_perm);
  p.seed = seed;
  return p;
}

void check_tokenizer(const MinhashParams& p) {
  const uint8_t known = rules_version(p.kind);
  if (known == 0 || p.tokenizer == known) return;
  throw Error(
      Errc::unsupported,
      "tokenizer " + std::to_string(p.tokenizer) + " is not known, this library has tokenizer " + std::to_string(known),
      {}, "The signature comes from a newer version of neardup: install that one.");
}

bool sign_document(const MinhashParams& p, const uint8_t* text, size_t size, StopCheck* stop, uint32_t* components) {
  check_tokenizer(p);
  ShingleStream stream(kind_unit(p.kind), p.k, text, size, stop);
  DocumentSketch sketch(p.num_perm, static_cast<uint64_t>(p.seed));
  uint64_t batch[ShingleStream::kMaxBatch];
  while (const size_t n = stream.next(batch)) sketch.add(batch, n);
  return sketch.finish(components);
}

bool sign_set(const MinhashParams& p, const uint64_t* elements, size_t n, StopCheck* stop, uint32_t* components) {
  DocumentSketch sketch(p.num_perm, static_cast<uint64_t>(p.seed));
  for (size_t i = 0; i < n; i += kElementsPerStep) {
    sketch.add(elements + i, std::min(kElementsPerStep, n - i));
    if (stop != nullptr) stop->poll();
  }
  return sketch.finish(components);
}

void check_has_unions(const MinhashView& signature) {
  if (signature.bits() == 8)
    throw Error(Errc::invalid_argument, "minhash_union needs signatures of 16 or 32 bits: these have 8",
                "The 8-bit form keeps no order of its values.");
}

std::vector<uint8_t> unite_minhashes(const MinhashView& a, const MinhashView& b) {
  check_comparable(a, b);
  check_has_unions(a);
  const MinhashView& kept = a.empty() ? b : a;
  const auto* bytes = reinterpret_cast<const uint8_t*>(kept.header);
  std::vector<uint8_t> out(bytes, bytes + kept.size);
  if (a.empty() || b.empty()) return out;
  uint8_t* components = out.data() + sizeof(MinhashHeader);
  const auto minimum = [&](auto* to, const auto* other) {
    for (uint32_t i = 0; i < a.num_perm(); ++i) to[i] = std::min(to[i], other[i]);
  };
  if (a.bits() == 32)
    minimum(reinterpret_cast<uint32_t*>(components), static_cast<const uint32_t*>(b.components));
  else
    minimum(reinterpret_cast<uint16_t*>(components), static_cast<const uint16_t*>(b.components));
  return out;
}

}  // namespace neardup
