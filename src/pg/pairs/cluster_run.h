// One run of a clusterer over rows that come one by one.
#pragma once

#include "core/pairs/clusters/cluster.h"
#include "pg/base/context.h"
#include "pg/base/guc.h"
#include "pg/pairs/signature.h"

namespace neardup {

// The clusterer is made when the first signature tells the shape; rows before it are counted, and added then.
struct ClusterRun {
  Owned<Clusterer>* clusterer;  // null: no row has a signature so far
  SignatureShape shape;
  Linkage linkage;
  Measure measure = Measure::set_jaccard;  // of sets
  double threshold;
  size_t memory;
  uint64 rows;

  void start(MemoryContext context, const SignatureShape& of) {
    shape = of;
    shape.measure = measure;
    const unsigned threads = search_threads();
    clusterer = make_owned<Clusterer>(context, [&](PgStop* stop, PgTempFiles* files) {
      return make_clusterer(shape, linkage, threshold, {memory, files, stop, threads});
    });
    call_core([&] {
      for (uint64 i = 0; i < rows; ++i) clusterer->object->add_alone();
    });
  }

  // A row that is near nothing.
  void add_alone() {
    if (clusterer != nullptr) call_core([&] { clusterer->object->add_alone(); });
    ++rows;
  }

  // start() comes before.
  void add(const Signature& signature) {
    if (signature.is_empty) return add_alone();
    call_core([&] { clusterer->object->add_value(signature); });
    ++rows;
  }

  void run() {
    call_core([&] { clusterer->object->run(); });
  }
};

}  // namespace neardup
