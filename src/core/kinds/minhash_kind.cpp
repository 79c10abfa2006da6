// Minhashes, and the Jaccard similarity that they estimate.
#include <cstring>

#include "core/kinds/kinds_impl.h"
#include "core/signature/minhash.h"

namespace neardup {
namespace {

AnyValue view(const uint8_t* bytes, size_t size) { return view_minhash(bytes, size); }
size_t stored_size(const AnyValue& v) noexcept { return v.signature.size; }
void store(const AnyValue& v, uint8_t* out) noexcept { std::memcpy(out, v.signature.header, v.signature.size); }
std::string to_text(const AnyValue& v) { return minhash_to_text(v.signature); }
std::vector<uint8_t> from_text(std::string_view text, const char**) { return minhash_from_text(text); }
std::vector<uint8_t> to_wire(const AnyValue& v) { return minhash_to_wire(v.signature); }

double jaccard(const AnyValue& x, const AnyValue& y) { return estimate_jaccard(x.signature, y.signature); }

bool comparable(const AnyValue& x, const AnyValue& y) noexcept {
  return neardup::comparable(*x.signature.header, *y.signature.header);
}

std::string describe(const AnyValue& v) { return neardup::describe(params_of(*v.signature.header)); }
bool is_empty(const AnyValue& v) noexcept { return v.signature.empty(); }

}  // namespace

constinit const KindInfo kMinhashKind = {.name = "minhash",
                                         .forms = {.view = view,
                                                   .stored_size = stored_size,
                                                   .store = store,
                                                   .to_text = to_text,
                                                   .from_text = from_text,
                                                   .to_wire = to_wire,
                                                   .from_wire = minhash_from_wire},
                                         .comparable = comparable,
                                         .describe = describe,
                                         .is_empty = is_empty};

constinit const MeasureInfo kJaccard = {.measure = Measure::jaccard,
                                        .kind = Kind::minhash,
                                        .name = "jaccard",
                                        .function = "jaccard",
                                        .is_similarity = true,
                                        .mirrored = Measure::jaccard,
                                        .range = kShareRange,
                                        .index_bound = 0.5,
                                        .closeness = same_bound,
                                        .usual_closeness = 0.8,
                                        .value = jaccard,
                                        .engine_bound = same_engine_bound};

}  // namespace neardup
