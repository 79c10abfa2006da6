// Sketches: a document's, fed in batches with repeats, equals the incremental one and the obvious one.
#include <algorithm>
#include <vector>

#include "core/signature/minhash.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/minhash_reference.h"

using namespace neardup;

// num_perm, seed, kernels, how often all is repeated; then batches: a size and as many elements of one byte or eight.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4000) return 0;
  fuzz::Input in(data, size);
  const uint32_t num_perm = kMinNumPerm + in.below(240);
  const uint64_t seed = in.read<uint64_t>();
  fuzz::choose_kernels(in.read<uint8_t>());
  const size_t times = 1 + in.read<uint8_t>() % 40;
  const bool bytes = in.read<uint8_t>() % 2 == 0;
  std::vector<std::vector<uint64_t>> batches;
  while (!in.empty()) {
    std::vector<uint64_t> batch(in.read<uint8_t>());
    for (uint64_t& x : batch) x = bytes ? in.read<uint8_t>() : in.read<uint64_t>();
    batches.push_back(batch);
  }
  std::vector<uint64_t> all;
  DocumentSketch document(num_perm, seed);
  for (size_t t = 0; t < times && all.size() < 40000; ++t) {
    for (const auto& batch : batches) {
      document.add(batch.data(), batch.size());
      all.insert(all.end(), batch.begin(), batch.end());
    }
  }
  std::vector<uint32_t> got(num_perm);
  DEMAND(document.finish(got.data()) != all.empty());

  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  DEMAND(got == reference::minhash32(all, num_perm, seed));

  std::vector<uint32_t> components(num_perm, kEmptyComponent32);
  IncrementalSketch incremental(num_perm, seed, components.data());
  for (const uint64_t x : all) incremental.add(x);
  DEMAND(got == components);

  // The union of two halves, in both ordered forms.
  const size_t half = all.size() / 2;
  const auto a = reference::minhash32({all.begin(), all.begin() + half}, num_perm, seed);
  const auto b = reference::minhash32({all.begin() + half, all.end()}, num_perm, seed);
  for (uint32_t i = 0; i < num_perm; ++i) {
    DEMAND(std::min(a[i], b[i]) == got[i]);
    DEMAND(std::min(component16(a[i], num_perm), component16(b[i], num_perm)) == component16(got[i], num_perm));
  }
  return 0;
}
