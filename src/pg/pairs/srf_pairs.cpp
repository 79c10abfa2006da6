// all_pairs(), pairs_between() and cluster_bridges(): verified pairs of a query's rows.
#include <vector>

#include "core/pairs/pair_links.h"

#include "pg/pairs/pair_call.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// A row of the result. ids that lie in a file are read one at a time.
struct PairRows {
  ReturnSetInfo* rsinfo;
  IdStore* ids_a;
  IdStore* ids_b;
  MemoryContext copies;
};

PairRows make_rows(FunctionCallInfo fcinfo, IdStore* ids_a, IdStore* ids_b) {
  return {reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), ids_a, ids_b,
          AllocSetContextCreate(CurrentMemoryContext, "neardup pair", ALLOCSET_SMALL_SIZES)};
}

void put_pair(PairRows* rows, const RowPair& pair, double similarity) {
  const bool one_store = rows->ids_a == rows->ids_b;
  const Datum a = one_store ? kept_id(rows->ids_a, pair.a, rows->copies) : id_at(rows->ids_a, pair.a);
  Datum values[3] = {a, id_at(rows->ids_b, pair.b), Float8GetDatum(similarity)};
  bool nulls[3] = {};
  tuplestore_putvalues(rows->rsinfo->setResult, rows->rsinfo->setDesc, values, nulls);
}

void put_all(FunctionCallInfo fcinfo, PairCall* call) {
  IdStore* ids_a = call->a.source.ids;
  IdStore* ids_b = call->two_sets ? call->b.source.ids : ids_a;
  PairRows rows = make_rows(fcinfo, ids_a, ids_b);
  RowPair pair;
  double similarity;
  while (next_pair(call, &pair, &similarity)) put_pair(&rows, pair, similarity);
  end_pairs(call);
  free_ids(ids_a);
  if (call->two_sets) free_ids(ids_b);
}

// Pairs are told to the finder by where their similarity is kept.
struct Bridges {
  explicit Bridges(uint32 rows) : finder(rows) {}

  void add(const RowPair& p, double s) {
    const uint32_t at = static_cast<uint32_t>(similarity.size());
    if (at >= kEqualRows) throw Error(Errc::too_large, "more than 2147483648 pairs");
    if (finder.add({p.a, p.b, at | (p.value & kEqualRows)})) similarity.push_back(s);
  }

  BridgeFinder finder;
  std::vector<double> similarity;
  std::vector<RowPair> found;
};

}  // namespace

extern "C" {

// all_pairs([id anyelement,] query text, threshold float8, identical text, verify text, verify_threshold float8,
//   at_most_apart interval)
PG_FUNCTION_INFO_V1(neardup_all_pairs);
Datum neardup_all_pairs(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 7;
  text* query = DatumGetTextPP(argument(fcinfo, witness, "query"));
  PairCall call = {};
  call.function = Searching::all_pairs;
  call.options.threshold = DatumGetFloat8(argument(fcinfo, witness + 1, "threshold"));
  call.options.identical = parse_identical(argument(fcinfo, witness + 2, "identical"));
  read_options(fcinfo, witness + 3, &call.options);
  InitMaterializedSRF(fcinfo, 0);
  SPI_connect();
  begin_pairs(&call, "query", query, nullptr, id_type_of(fcinfo, witness), signature_types_of(fcinfo), true);
  put_all(fcinfo, &call);
  SPI_finish();
  return static_cast<Datum>(0);
}

// pairs_between([id anyelement,] query_a text, query_b text, threshold float8, identical text, ...)
PG_FUNCTION_INFO_V1(neardup_pairs_between);
Datum neardup_pairs_between(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 8;
  text* query_a = DatumGetTextPP(argument(fcinfo, witness, "query_a"));
  text* query_b = DatumGetTextPP(argument(fcinfo, witness + 1, "query_b"));
  PairCall call = {};
  call.function = Searching::pairs_between;
  call.options.threshold = DatumGetFloat8(argument(fcinfo, witness + 2, "threshold"));
  call.options.identical = parse_identical(argument(fcinfo, witness + 3, "identical"));
  read_options(fcinfo, witness + 4, &call.options);
  InitMaterializedSRF(fcinfo, 0);
  SPI_connect();
  begin_pairs(&call, "query_a", query_a, query_b, id_type_of(fcinfo, witness), signature_types_of(fcinfo), true);
  put_all(fcinfo, &call);
  SPI_finish();
  return static_cast<Datum>(0);
}

// cluster_bridges([id anyelement,] query text, threshold float8, verify text, ...)
PG_FUNCTION_INFO_V1(neardup_cluster_bridges);
Datum neardup_cluster_bridges(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 6;
  text* query = DatumGetTextPP(argument(fcinfo, witness, "query"));
  PairCall call = {};
  call.function = Searching::cluster_bridges;
  call.options.threshold = DatumGetFloat8(argument(fcinfo, witness + 1, "threshold"));
  read_options(fcinfo, witness + 2, &call.options);
  // Verified or told apart by time, equal signatures may be of documents that are not near.
  call.options.identical =
      call.options.verify == Verify::no && call.options.apart == nullptr ? Identical::marked : Identical::all;
  InitMaterializedSRF(fcinfo, 0);
  SPI_connect();
  begin_pairs(&call, "query", query, nullptr, id_type_of(fcinfo, witness), signature_types_of(fcinfo), true);
  IdStore* ids = call.a.source.ids;
  Owned<Bridges>* bridges = make_owned<Bridges>(CurrentMemoryContext, [&](PgStop*, PgTempFiles*) {
    return new Bridges(static_cast<uint32>(ids->count));
  });
  call.wants = [](void* arg, const RowPair& pair) { return static_cast<BridgeFinder*>(arg)->wants(pair); };
  call.wants_arg = &bridges->object->finder;
  RowPair pair;
  double similarity;
  while (next_pair(&call, &pair, &similarity)) call_core([&] { bridges->object->add(pair, similarity); });
  call_core([&] { bridges->object->found = bridges->object->finder.finish(bridges->stop); });
  PairRows rows = make_rows(fcinfo, ids, ids);
  uint64 told = 0;
  for (const RowPair& p : bridges->object->found) {
    if (told++ % 4096 == 0) CHECK_FOR_INTERRUPTS();
    put_pair(&rows, p, bridges->object->similarity[p.value]);
  }
  destroy_owned(bridges);
  end_pairs(&call);
  free_ids(ids);
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // extern "C"
