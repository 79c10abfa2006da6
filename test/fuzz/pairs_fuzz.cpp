// Small sets of rows: the pair engine and the clusterer, with any memory limit, against comparing everything.
#include <algorithm>
#include <vector>

#include "core/base/union_find.h"
#include "core/pairs/clusters/cluster.h"
#include "core/pairs/minhash/minhash_pairs.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/minhash_rows.h"
#include "test/fuzz/pair_setting.h"
#include "test/reference/pairs_reference.h"
#include "test/reference/stdio_temp_file.h"

using namespace neardup;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 3000) return 0;
  fuzz::Input in(data, size);
  const uint32_t num_perm = 16 + in.below(150);
  const uint32_t bits = 8u << in.read<uint8_t>() % 3;
  // Mostly high thresholds: those have bands.
  const uint32_t low = in.below(num_perm);
  const uint32_t need = in.read<uint8_t>() % 4 == 0 ? 1 + low : num_perm - low % std::min(num_perm, 48u);
  const size_t limits[] = {0, 64 << 10, size_t{in.read<uint8_t>()} << 10, SIZE_MAX};
  const size_t limit = limits[in.read<uint8_t>() % 4];
  const uint32_t split = in.read<uint8_t>();
  const size_t step = 1 + in.read<uint8_t>();
  fuzz::choose_kernels(in.read<uint8_t>());
  const reference::Rows rows = fuzz::read_rows(in, num_perm, bits, 160);
  const auto expected = reference::pairs(rows, need);

  reference::StdioTempFiles files;
  const EngineOptions options{.memory_limit = limit, .files = limit == SIZE_MAX ? nullptr : &files};
  {
    MinhashPairs engine(num_perm, bits, need, options);
    for (uint32_t i = 0; i < rows.size(); ++i) engine.add(rows.row(i));
    engine.run();
    DEMAND(fuzz::drain(engine, step) == expected);
  }
  {
    MinhashPairs engine(num_perm, bits, need, options);
    reference::Rows a{num_perm, bits, {}}, b{num_perm, bits, {}};
    for (uint32_t i = 0; i < rows.size(); ++i) {
      auto& to = i < split ? a.data : b.data;
      to.insert(to.end(), rows.row(i), rows.row(i) + rows.row_bytes());
    }
    for (uint32_t i = 0; i < a.size(); ++i) engine.add(a.row(i));
    engine.start_set_b();
    for (uint32_t i = 0; i < b.size(); ++i) engine.add(b.row(i));
    engine.run();
    DEMAND(fuzz::drain(engine, step) == reference::pairs_between(a, b, need));
  }
  for (const Linkage linkage : {Linkage::anchor, Linkage::connected}) {
    EngineOptions marked = options;
    marked.identical = Identical::marked;
    Clusterer clusterer(linkage, std::make_unique<MinhashPairs>(num_perm, bits, need, marked));
    for (uint32_t i = 0; i < rows.size(); ++i) clusterer.add_value(MinhashView{nullptr, rows.row(i), 0});
    clusterer.run();
    const auto clusters = linkage == Linkage::anchor ? reference::anchor(rows, need) : reference::connected(rows, need);
    DEMAND(clusterer.representative() == clusters.representative);
    for (uint32_t i = 0; i < rows.size(); ++i)
      DEMAND(clusters.representative[i] == i || clusterer.values()[i] == clusters.matches[i]);
  }
  DEMAND(files.open == 0);
  return 0;
}
