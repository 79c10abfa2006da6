// Ctph digests, their score and their edit rate.
#include "core/kinds/kinds_impl.h"
#include "core/signature/ctph_compare.h"

namespace neardup {
namespace {

struct Digest : UsualKind {
  static AnyValue view(const uint8_t* bytes, size_t size) { return view_ctph(bytes, size); }
  static size_t stored_size(const AnyValue& v) noexcept { return ctph_size(v.digest); }
  static void store(const AnyValue& v, uint8_t* out) noexcept { write_ctph(v.digest, out); }

  static std::string to_text(const AnyValue& v) { return ctph_to_text(v.digest); }
  static std::vector<uint8_t> from_text(std::string_view text, const char**) {
    const CtphDigest digest = ctph_from_text(text);
    return stored_form<Digest>(digest_view(digest));
  }
  static std::vector<uint8_t> from_wire(const uint8_t* bytes, size_t size) {
    return stored_form<Digest>(view(bytes, size));
  }

  static bool comparable(const AnyValue& x, const AnyValue& y) noexcept {
    return neardup::comparable(x.digest, y.digest);
  }

  static std::string describe(const AnyValue& v) { return neardup::describe(v.digest); }

  static std::vector<uint8_t> to_wire(const AnyValue& v) { return stored_form<Digest>(v); }
};

double score(const AnyValue& x, const AnyValue& y) { return ctph_score(x.digest, y.digest); }
double edit_rate(const AnyValue& x, const AnyValue& y) { return ctph_edit_rate(x.digest, y.digest); }

double score_closeness(double bound) noexcept { return bound <= 0 ? 0 : 0.5 + bound / 200; }
double rate_closeness(double bound) noexcept { return bound < 0 ? kBeyondReach : 1 - bound; }

double rate_engine_bound(double bound, uint32_t) noexcept { return 1 - bound - kEditRateSlack; }

}  // namespace

constinit const KindInfo kCtphKind = kind_info<Digest>("ctph");

constinit const MeasureInfo kCtphScore = {.measure = Measure::ctph_score,
                                          .kind = Kind::ctph,
                                          .name = "ctph_score",
                                          .function = "ctph_score",
                                          .is_similarity = true,
                                          .mirrored = Measure::ctph_score,
                                          .range = {"score", "from 0 to 100", 0, 100, false},
                                          .closeness = score_closeness,
                                          .usual_closeness = kUsualCloseness,
                                          .value = score};

constinit const MeasureInfo kCtphEditRate = {.measure = Measure::ctph_edit_rate,
                                             .kind = Kind::ctph,
                                             .name = "ctph_edit_rate",
                                             .function = "ctph_edit_rate",
                                             .is_similarity = false,
                                             .mirrored = Measure::ctph_edit_rate,
                                             .range = {"rate", "from 0 to 1", 0, 1, false},
                                             .closeness = rate_closeness,
                                             .usual_closeness = kUsualCloseness,
                                             .value = edit_rate,
                                             .engine_bound = rate_engine_bound};

}  // namespace neardup
