// all_pairs(), pairs_between() and cluster_bridges(): near pairs of a query's rows.
#include <vector>

#include "core/pairs/pair_links.h"
#include "pg/base/result_row.h"
#include "pg/pairs/pair_result.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// Rows of the result between two checks for interrupts.
constexpr uint64 kRowsChecked = 4096;

// Where pairs go as rows. ids that lie in a file are read one at a time.
struct PairOutput {
  ReturnSetInfo* rows;
  IdStore* ids_a;
  IdStore* ids_b;
  MemoryContext copies;
};

PairOutput pair_output(ReturnSetInfo* rows, const PairRows& read) {
  return {rows, read.a.source.ids, read.second().source.ids,
          AllocSetContextCreate(CurrentMemoryContext, "neardup pair", ALLOCSET_SMALL_SIZES)};
}

void put_pair(const PairOutput& out, const RowPair& pair, double similarity) {
  enum Column { kIdA, kIdB, kSimilarity, kColumns };
  const bool one_store = out.ids_a == out.ids_b;
  ResultRow<Column> row;
  row.set(kIdA, one_store ? kept_id(out.ids_a, pair.a, out.copies) : id_at(out.ids_a, pair.a));
  row.set(kIdB, id_at(out.ids_b, pair.b));
  row.set(kSimilarity, Float8GetDatum(similarity));
  row.put(out.rows);
}

// Connects to SPI and reads the rows of the queries; witness: argument 0 has the type of the ids.
void read_queries(FunctionCallInfo fcinfo, PairQueries queries, bool witness, PairRows* rows) {
  SPI_connect();
  queries.id_type = wanted_id_type(fcinfo, witness);
  queries.types = function_signature_types(fcinfo);
  queries.by_id = true;
  read_pair_rows(rows, queries);
}

// All pairs as the function's rows.
Datum return_pairs(FunctionCallInfo fcinfo, const PairQueries& queries, const PairOptions& options, bool witness) {
  ReturnSetInfo* out_rows = begin_rows(fcinfo);
  PairRows rows = {};
  rows.options = options;
  read_queries(fcinfo, queries, witness, &rows);
  PairResult result = search_pairs(&rows);
  const PairOutput out = pair_output(out_rows, rows);
  for_each_pair(&result, [&](const RowPair& pair, double similarity) { put_pair(out, pair, similarity); });
  end_pairs(&result);
  free_ids(out.ids_a);
  if (rows.two_sets) free_ids(out.ids_b);
  SPI_finish();
  return static_cast<Datum>(0);
}

// Argument `identical` of a function, and those after it.
void complete_pair_options(FunctionCallInfo fcinfo, int first, PairOptions* options) {
  enum Argument { kIdentical, kVerify, kMeasure = kVerify + 3 };
  options->identical = parse_identical(argument(fcinfo, first + kIdentical, "identical"));
  read_measure(fcinfo, first + kMeasure, Measure::set_in_query, options);
  read_options(fcinfo, first + kVerify, options);
}

Datum return_all_pairs(FunctionCallInfo fcinfo, bool witness) {
  const PairQueries queries = query_argument(fcinfo, witness, "query");
  PairOptions options = read_pair_options(fcinfo, witness + 1, Searching::all_pairs);
  complete_pair_options(fcinfo, witness + 2, &options);
  return return_pairs(fcinfo, queries, options, witness);
}

Datum return_pairs_between(FunctionCallInfo fcinfo, bool witness) {
  PairQueries queries = query_argument(fcinfo, witness, "query_a");
  queries.query_b = DatumGetTextPP(argument(fcinfo, witness + 1, "query_b"));
  PairOptions options = read_pair_options(fcinfo, witness + 2, Searching::pairs_between);
  complete_pair_options(fcinfo, witness + 3, &options);
  return return_pairs(fcinfo, queries, options, witness);
}

// Pairs go to the finder as the places where their similarities are kept.
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

Owned<Bridges>* find_bridges(PairResult* result, uint64 rows) {
  Owned<Bridges>* bridges = make_owned<Bridges>(
      CurrentMemoryContext, [&](PgStop*, PgTempFiles*) { return new Bridges(static_cast<uint32>(rows)); });
  Bridges* b = bridges->object;
  for_each_pair(
      result, [&](const RowPair& pair) { return b->finder.wants(pair); },
      [&](const RowPair& pair, double similarity) { call_core([&] { b->add(pair, similarity); }); });
  call_core([&] { b->found = b->finder.finish(bridges->stop); });
  return bridges;
}

// The bridges of connected clusters as the function's rows.
Datum return_cluster_bridges(FunctionCallInfo fcinfo, bool witness) {
  enum Argument { kVerify = 2, kMeasure = kVerify + 3 };
  PairQueries queries = query_argument(fcinfo, witness, "query");
  PairOptions options = read_pair_options(fcinfo, witness + 1, Searching::cluster_bridges);
  read_measure(fcinfo, witness + kMeasure, Measure::overlap_coefficient, &options);
  read_options(fcinfo, witness + kVerify, &options);
  // Verified or told apart by time, equal signatures may be of documents that are not near.
  options.identical = options.verify == Verify::no && options.apart == nullptr ? Identical::marked : Identical::all;

  ReturnSetInfo* out_rows = begin_rows(fcinfo);
  PairRows rows = {};
  rows.options = options;
  read_queries(fcinfo, queries, witness, &rows);
  PairResult result = search_pairs(&rows);
  const PairOutput out = pair_output(out_rows, rows);
  Owned<Bridges>* bridges = find_bridges(&result, out.ids_a->count);
  uint64 told = 0;
  for (const RowPair& pair : bridges->object->found) {
    if (told++ % kRowsChecked == 0) CHECK_FOR_INTERRUPTS();
    put_pair(out, pair, bridges->object->similarity[pair.value]);
  }
  destroy_owned(bridges);
  end_pairs(&result);
  free_ids(out.ids_a);
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // namespace

// all_pairs([id anyelement,] query text, threshold float8, identical text, verify text, verify_threshold float8,
//   at_most_apart interval, measure text)
SQL_FUNCTION(neardup_all_pairs_by_measure) { return return_all_pairs(fcinfo, PG_NARGS() == 8); }

// pairs_between([id anyelement,] query_a text, query_b text, threshold float8, identical text, ...)
SQL_FUNCTION(neardup_pairs_between_by_measure) { return return_pairs_between(fcinfo, PG_NARGS() == 9); }

// cluster_bridges([id anyelement,] query text, threshold float8, verify text, ...)
SQL_FUNCTION(neardup_cluster_bridges_by_measure) { return return_cluster_bridges(fcinfo, PG_NARGS() == 7); }
