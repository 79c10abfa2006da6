// Simhashes, and their Hamming distance.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kinds/kinds_impl.h"
#include "core/signature/simhash.h"

namespace neardup {
namespace {

constexpr size_t kBytes = sizeof(uint64_t);

void check_size(size_t size) {
  if (size != kBytes) refuse_bytes("a simhash has 8 bytes, not " + std::to_string(size));
}

AnyValue view(const uint8_t* bytes, size_t size) {
  check_size(size);
  uint64_t v;
  std::memcpy(&v, bytes, kBytes);
  return AnyValue(v);
}
size_t stored_size(const AnyValue&) noexcept { return kBytes; }
void store(const AnyValue& v, uint8_t* out) noexcept { std::memcpy(out, &v.simhash, kBytes); }

std::vector<uint8_t> stored(uint64_t simhash) {
  std::vector<uint8_t> out(kBytes);
  store(AnyValue(simhash), out.data());
  return out;
}

std::string to_text(const AnyValue& v) { return simhash_to_text(v.simhash); }
std::vector<uint8_t> from_text(std::string_view text, const char**) { return stored(simhash_from_text(text)); }

std::vector<uint8_t> to_wire(const AnyValue& v) {
  std::vector<uint8_t> out(kBytes);
  store_big_endian(v.simhash, out.data());
  return out;
}
std::vector<uint8_t> from_wire(const uint8_t* bytes, size_t size) {
  check_size(size);
  return stored(load_big_endian<uint64_t>(bytes));
}

double hamming(const AnyValue& x, const AnyValue& y) { return hamming_distance(x.simhash, y.simhash); }

// Unrelated values differ in some 32 bits, near duplicates in 10 at most.
double hamming_closeness(double bound) noexcept { return bound < 0 ? kBeyondReach : 1 - bound / 20; }

double hamming_engine_bound(double bound, uint32_t) noexcept { return 1 - std::floor(bound) / kSimhashBits; }

bool comparable(const AnyValue&, const AnyValue&) noexcept { return true; }

}  // namespace

constinit const KindInfo kSimhashKind = {.name = "simhash",
                                         .forms = {.view = view,
                                                   .stored_size = stored_size,
                                                   .store = store,
                                                   .to_text = to_text,
                                                   .from_text = from_text,
                                                   .to_wire = to_wire,
                                                   .from_wire = from_wire},
                                         .comparable = comparable,
                                         .describe = nullptr,
                                         .is_empty = is_never_empty};

constinit const MeasureInfo kHamming = {.measure = Measure::hamming,
                                        .kind = Kind::simhash,
                                        .name = "hamming",
                                        .function = "hamming",
                                        .is_similarity = false,
                                        .mirrored = Measure::hamming,
                                        .range = {"distance", "from 0 to 64", 0, kSimhashBits, false},
                                        .index_bound = 10,
                                        .closeness = hamming_closeness,
                                        .usual_closeness = kUsualCloseness,
                                        .value = hamming,
                                        .engine_bound = hamming_engine_bound};

}  // namespace neardup
