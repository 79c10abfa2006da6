// Simhashes, and their Hamming distance.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kinds/kinds_impl.h"
#include "core/kinds/query_bytes.h"
#include "core/signature/simhash.h"

namespace neardup {
namespace {

constexpr size_t kSimhashBytes = sizeof(uint64_t);

struct Simhash : UsualKind {
  static void check_size(size_t size) {
    if (size != kSimhashBytes) refuse_bytes("a simhash has 8 bytes, not " + std::to_string(size));
  }

  static AnyValue view(const uint8_t* bytes, size_t size) {
    check_size(size);
    uint64_t v;
    std::memcpy(&v, bytes, kSimhashBytes);
    return AnyValue(v);
  }
  static size_t stored_size(const AnyValue&) noexcept { return kSimhashBytes; }
  static void store(const AnyValue& v, uint8_t* out) noexcept { std::memcpy(out, &v.simhash, kSimhashBytes); }

  static std::string to_text(const AnyValue& v) { return simhash_to_text(v.simhash); }
  static std::vector<uint8_t> from_text(std::string_view text, const char**) {
    return stored_form<Simhash>(AnyValue(simhash_from_text(text)));
  }

  static std::vector<uint8_t> to_wire(const AnyValue& v) {
    std::vector<uint8_t> out(kSimhashBytes);
    store_big_endian(v.simhash, out.data());
    return out;
  }
  static std::vector<uint8_t> from_wire(const uint8_t* bytes, size_t size) {
    check_size(size);
    return stored_form<Simhash>(AnyValue(load_big_endian<uint64_t>(bytes)));
  }
};

double hamming(const AnyValue& x, const AnyValue& y) { return hamming_distance(x.simhash, y.simhash); }

// Unrelated values differ in some 32 bits, near duplicates in 10 at most.
double hamming_closeness(double bound) noexcept { return bound < 0 ? kBeyondReach : 1 - bound / 20; }

double hamming_engine_bound(double bound, uint32_t) noexcept { return 1 - std::floor(bound) / kSimhashBits; }

}  // namespace

constinit const KindInfo kSimhashKind = kind_info<Simhash>("simhash");

constinit const MeasureInfo kHamming = {.measure = Measure::hamming,
                                        .kind = Kind::simhash,
                                        .name = "hamming",
                                        .function = "hamming",
                                        .is_similarity = false,
                                        .mirrored = Measure::hamming,
                                        .range = {"distance", "from 0 to 64", 0, kSimhashBits, false},
                                        .closeness = hamming_closeness,
                                        .usual_closeness = kUsualCloseness,
                                        .value = hamming,
                                        .engine_bound = hamming_engine_bound};

}  // namespace neardup
