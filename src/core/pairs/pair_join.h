// The interface by which engines of pairs may offload the join of their rows: another device, such as a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace neardup {

struct Workspace;

// A part of a digest as it is joined. Lists of one block size, 4 * exponent + kind: part 1 of set A, of set B; part 2
// of digests of set A, of set B, with the exponent below.
struct CtphPart {
  const char* text;
  uint32_t row;
  uint16_t length;  // 1..1024
  uint16_t list;
};
enum CtphListKind : uint32_t { kPart1OfA, kPart1OfB, kPart2OfA, kPart2OfB, kCtphListKinds };

// The rows that are joined. Rows and their signatures are distinct; those of set A come first; n_a = n with one set.
// Nothing that is pointed to changes meanwhile.
struct MinhashJob {
  const void* const* rows;  // num_perm * bits / 8 bytes each
  uint32_t n_a, n;
  bool two_sets;
  uint32_t num_perm, bits, need;  // as MinhashPairs has them
};
struct SimhashJob {
  const uint64_t* values;
  uint32_t n_a, n;
  bool two_sets;
  uint32_t most;  // greatest distance
};
struct CtphJob {
  const CtphPart* parts;  // by list, then length
  uint32_t n;
  bool two_sets;
  const uint16_t* most;  // by sum of lengths, 0..2 * kCtphMaxPart: the greatest distance of a near pair
};

class PairJoin {
 public:
  // Positions in the arrays above (with CtphJob the rows of the parts), and the value of the pair as the engine has it.
  // With two sets x is of A.
  using Found = std::function<void(uint32_t x, uint32_t y, uint32_t value)>;

  virtual ~PairJoin() = default;

  // Each finds all pairs, calls found once for each, and returns true. Or calls nothing and returns false: then
  // the engine does it itself. Throws what the poller throws, and Error{device} where only the device will do.
  // cost: nanoseconds that the engine would need, estimated; a lower bound.
  virtual bool join(const MinhashJob& job, double cost, Workspace& ws, const Found& found) = 0;
  virtual bool join(const SimhashJob& job, double cost, Workspace& ws, const Found& found) = 0;
  virtual bool join(const CtphJob& job, double cost, Workspace& ws, const Found& found) = 0;

  // Asked for rows that do not fit in memory, which no other device joins. Throws where only the device will do.
  virtual void refuse_large() = 0;
};

}  // namespace neardup
