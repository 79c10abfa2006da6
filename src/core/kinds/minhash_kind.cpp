// Minhashes, and the Jaccard similarity that they estimate.
#include <cstring>

#include "core/kinds/kinds_impl.h"
#include "core/signature/minhash.h"

namespace neardup {
namespace {

struct Minhash : UsualKind {
  static AnyValue view(const uint8_t* bytes, size_t size) { return view_minhash(bytes, size); }
  static size_t stored_size(const AnyValue& v) noexcept { return v.signature.size; }
  static void store(const AnyValue& v, uint8_t* out) noexcept {
    std::memcpy(out, v.signature.header, v.signature.size);
  }
  static std::string to_text(const AnyValue& v) { return minhash_to_text(v.signature); }
  static std::vector<uint8_t> from_text(std::string_view text, const char**) { return minhash_from_text(text); }
  static std::vector<uint8_t> to_wire(const AnyValue& v) { return minhash_to_wire(v.signature); }

  static bool comparable(const AnyValue& x, const AnyValue& y) noexcept {
    return neardup::comparable(*x.signature.header, *y.signature.header);
  }

  static std::string describe(const AnyValue& v) { return neardup::describe(header_params(*v.signature.header)); }
  static bool is_empty(const AnyValue& v) noexcept { return v.signature.empty(); }

  static constexpr auto from_wire = minhash_from_wire;
};

double jaccard(const AnyValue& x, const AnyValue& y) { return estimate_jaccard(x.signature, y.signature); }

}  // namespace

constinit const KindInfo kMinhashKind = kind_info<Minhash>("minhash");

constinit const MeasureInfo kJaccard = {.measure = Measure::jaccard,
                                        .kind = Kind::minhash,
                                        .name = "jaccard",
                                        .function = "jaccard",
                                        .is_similarity = true,
                                        .mirrored = Measure::jaccard,
                                        .range = kShareRange,
                                        .closeness = same_bound,
                                        .usual_closeness = 0.8,
                                        .value = jaccard,
                                        .engine_bound = same_engine_bound};

}  // namespace neardup
