// all_clusters(): near-duplicate clusters of a query's rows.
#include <cmath>
#include <limits>

#include "core/base/named_values.h"
#include "core/pairs/clusters/cluster.h"
#include "core/pairs/pair_links.h"
#include "pg/base/context.h"
#include "pg/base/reserve.h"
#include "pg/base/result_row.h"
#include "pg/pairs/cluster_run.h"
#include "pg/pairs/repeated_rows.h"
#include "pg/pairs/pair_result.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// Rows between two checks for interrupts, where each takes little, and where it is returned.
constexpr uint64 kRowsScanned = 65536;
constexpr uint64 kRowsReturned = 4096;

constexpr NamedValue<Linkage> kLinkages[] = {{"anchor", Linkage::anchor}, {"connected", Linkage::connected}};

Linkage parse_linkage(const text* argument) {
  const char* name = text_to_cstring(argument);
  const std::optional<Linkage> linkage = value_named(kLinkages, name);
  if (!linkage)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown linkage \"%s\"", name),
                    errhint("Linkages are %s.", list_names(kLinkages, "'", "and").text)));
  return *linkage;
}

// The clusters of a query's rows, by row.
struct RowClusters {
  MemoryContext context;
  Stages stages;
  IdStore* ids;
  NullRows nulls;          // of all rows
  SetSizes sizes;          // where they have sets
  uint32* representative;  // the row itself where it is kept
  double* similarity;      // to it; NaN: not known
};

// Every row its own, until something is found.
void make_results(RowClusters* c, const PairOptions& options) {
  const Size n = Max(c->nulls.rows, static_cast<uint64>(1));
  c->representative = static_cast<uint32*>(MemoryContextAllocHuge(c->context, n * sizeof(uint32)));
  c->similarity = static_cast<double*>(MemoryContextAllocHuge(c->context, n * sizeof(double)));
  for (uint64 i = 0; i < c->nulls.rows; ++i) {
    if (i % kRowsScanned == 0) CHECK_FOR_INTERRUPTS();
    c->representative[i] = static_cast<uint32>(i);
    c->similarity[i] = options.measure == Measure::set_overlap ? c->sizes.at(i) : 1;
  }
}

// Copies what the clusterer found; numbers[i] is the row that it had as its i-th, null: the same.
void keep_clusters(RowClusters* c, const ClusterRun& run, const uint32* numbers) {
  const Clusterer* found = run.clusterer->object;
  const uint32* representative = found->representative().data();
  const uint32* values = found->values().data();
  for (uint64 i = 0; i < run.rows; ++i) {
    if (i % kRowsScanned == 0) CHECK_FOR_INTERRUPTS();
    const uint64 r = representative[i];
    if (r == i) continue;
    const uint64 row = numbers == nullptr ? i : numbers[i];
    c->representative[row] = numbers == nullptr ? static_cast<uint32>(r) : numbers[r];
    c->similarity[row] = pair_similarity(run.shape, values[i], c->sizes.at(c->representative[row]), c->sizes.at(row));
  }
}

// ---- By their signatures alone ----

// Rows as they come: into one clusterer, or sorted by group.
struct ClusterReading {
  RowClusters* clusters;
  ClusterRun run;
  RowSource source;
  RowSort sort;
  MemoryContext group_context;
  uint32* numbers;  // of the group's rows
  uint64 capacity;
};

void add_cluster_row(ClusterReading* reading, const SourceRow& row) {
  ClusterRun* run = &reading->run;
  RowClusters* c = reading->clusters;
  const uint64 number = c->nulls.rows;
  c->nulls.add(row.is_null);
  if (reading->source.columns.signature == Kind::set) c->sizes.add(c->context, row.set_size());
  if (number % kRowsBetweenReports == 0) report_rows_read(number);
  if (reading->source.columns.grouped()) {
    if (!row.alone) sort_row(&reading->sort, reading->source, number, row);
    return;
  }
  if (run->clusterer == nullptr && reading->source.shape.known) run->start(c->context, reading->source.shape);
  if (row.alone) {
    run->add_alone();
  } else {
    run->add(row.signature);
  }
}

// The group of the row at hand.
void cluster_group(ClusterReading* reading, SortedRows* rows) {
  ClusterRun* run = &reading->run;
  const Datum within = keep_group(rows);
  run->rows = 0;
  run->start(reading->group_context, reading->source.shape);
  do {
    reserve(reading->clusters->context, &reading->numbers, &reading->capacity, run->rows + 1);
    reading->numbers[run->rows] = current_number(rows);
    Signature signature;
    read_signature(rows, &signature);
    run->add(signature);
  } while (advance(rows) && group_order(rows, within) == 0);
  if (run->rows > 1) {
    run->run();
    keep_clusters(reading->clusters, *run, reading->numbers);
  }
  destroy_owned(run->clusterer);
  MemoryContextReset(reading->group_context);
}

void cluster_groups(ClusterReading* reading) {
  reading->run.memory /= 2;
  reading->group_context = AllocSetContextCreate(reading->clusters->context, "neardup group", ALLOCSET_DEFAULT_SIZES);
  finish_sort(&reading->sort);
  SortedRows rows;
  open_sorted(&rows, reading->source, &reading->sort);
  advance(&rows);
  while (!rows.at_end) {
    cluster_group(reading, &rows);
    CHECK_FOR_INTERRUPTS();
  }
  close_sorted(&rows);
}

void cluster_rows(RowClusters* c, const PairOptions& options, Linkage linkage, const PairQueries& queries) {
  auto* reading = static_cast<ClusterReading*>(palloc0(sizeof(ClusterReading)));
  reading->clusters = c;
  begin_progress(options.function);
  ClusterRun* run = &reading->run;
  run->linkage = linkage;
  run->measure = options.measure;
  run->threshold = options.threshold;
  run->memory = engine_memory();
  RowSource* source = &reading->source;
  SourceWants wants = source_wants(options);
  wants.ordered = true;
  open_source(source, queries.what, queries.query, queries.id_type, queries.types, wants);
  check_measure(options, queries.what, source->columns);
  if (source->columns.grouped()) begin_sort(&reading->sort, *source);
  read_rows(source, [&](const SourceRow& row) { add_cluster_row(reading, row); });
  check_unique(source);
  c->ids = source->ids;
  make_results(c, options);
  end_stage(&c->stages, "rows read");
  report_phase(Phase::searching);
  const char* story = nullptr;
  if (source->columns.grouped()) {
    cluster_groups(reading);
  } else if (run->clusterer != nullptr) {
    run->run();
    keep_clusters(c, *run, nullptr);
    story = search_story(run->clusterer->object->stats());
    destroy_owned(run->clusterer);
  }
  end_stage(&c->stages, "clusters found", story);
  report_phase(Phase::returning);
}

// ---- By all pairs, where these have more to fulfil than their signatures tell ----

// Every pair into links; similarity[b]: of the latest pair that they took for row b.
template <typename Links>
void link_pairs(PairResult* result, Links* links, double* similarity) {
  for_each_pair(
      result, [&](const RowPair& pair) { return links->wants(pair); },
      [&](const RowPair& pair, double of_pair) {
        if (links->add(pair)) similarity[pair.b] = of_pair;
      });
}

// The links of all pairs, which live in the context of the clusters; their similarities are in c.
const LinkedRows* linked_rows(RowClusters* c, PairResult* result, Linkage linkage) {
  const uint32 rows = static_cast<uint32>(c->nulls.rows);
  if (linkage == Linkage::anchor) {
    auto* links = make_owned<AnchorLinks>(c->context, [&](PgStop*, PgTempFiles*) { return new AnchorLinks(rows); });
    link_pairs(result, links->object, c->similarity);
    return &links->object->rows();
  }
  auto* links = make_owned<ComponentLinks>(c->context, [&](PgStop*, PgTempFiles*) { return new ComponentLinks(rows); });
  link_pairs(result, links->object, c->similarity);
  return &links->object->finish();
}

void keep_links(RowClusters* c, const LinkedRows& found) {
  for (uint64 i = 0; i < c->nulls.rows; ++i) {
    const uint32 r = found.representative[i];
    if (r == i) continue;
    c->representative[i] = r;
    if (found.value[i] == kNotNear) c->similarity[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

void cluster_by_pairs(RowClusters* c, const PairOptions& options, Linkage linkage, const PairQueries& queries) {
  PairRows rows = {};
  rows.options = options;
  rows.nulls = &c->nulls;
  if (options.verify != Verify::no) rows.copies = make_copies(c->context);
  read_pair_rows(&rows, queries);
  PairResult result = search_pairs(&rows);
  c->ids = rows.a.source.ids;
  c->sizes = rows.a.sizes;
  make_results(c, options);
  keep_links(c, *linked_rows(c, &result, linkage));
  if (rows.copies != nullptr) join_copies(rows.copies, &result, c->representative, c->similarity);
  end_pairs(&result);
  report_phase(Phase::returning);
}

// ---- The result ----

// The number of rows in each cluster, by its representative.
uint32* cluster_sizes(const RowClusters& c) {
  const uint64 rows = c.nulls.rows;
  auto* size_of = static_cast<uint32*>(MemoryContextAllocExtended(
      c.context, Max(rows, static_cast<uint64>(1)) * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  for (uint64 i = 0; i < rows; ++i) {
    if (i % kRowsScanned == 0) CHECK_FOR_INTERRUPTS();
    ++size_of[c.representative[i]];
  }
  return size_of;
}

void put_clusters(ReturnSetInfo* out, RowClusters* c) {
  enum Column { kId, kCluster, kRepresentative, kSimilarity, kClusterSize, kSurvivor, kColumns };
  const uint32* size_of = cluster_sizes(*c);
  MemoryContext copies = AllocSetContextCreate(c->context, "neardup cluster row", ALLOCSET_SMALL_SIZES);
  for (uint64 i = 0; i < c->nulls.rows; ++i) {
    const uint64 r = c->representative[i];
    const Datum id = r == i ? id_at(c->ids, i) : kept_id(c->ids, i, copies);
    ResultRow<Column> row;
    row.set(kId, id);
    if (!c->nulls.has(i)) {
      row.set(kCluster, Int64GetDatum(static_cast<int64>(r) + 1));
      row.set(kRepresentative, r == i ? id : id_at(c->ids, r));
      if (!std::isnan(c->similarity[i])) row.set(kSimilarity, Float8GetDatum(c->similarity[i]));
      row.set(kClusterSize, Int64GetDatum(static_cast<int64>(size_of[r])));
    }
    row.set(kSurvivor, BoolGetDatum(r == i));
    row.put(out);
    if (i % kRowsReturned == 0) CHECK_FOR_INTERRUPTS();
  }
  end_stage(&c->stages, "rows returned");
  end_progress();
  free_ids(c->ids);
}

// The later row of a pair joins the earlier one under anchor linkage; a chain links the two whichever contains the
// other.
Measure containment_by(Linkage linkage) {
  return linkage == Linkage::anchor ? Measure::query_in_set : Measure::overlap_coefficient;
}

Datum return_clusters(FunctionCallInfo fcinfo, bool witness) {
  enum Argument { kThreshold = 1, kLinkage, kVerify, kMeasure = kVerify + 3 };
  PairQueries queries = query_argument(fcinfo, witness, "query");
  PairOptions options = read_pair_options(fcinfo, witness + kThreshold, Searching::all_clusters);
  const Linkage linkage = parse_linkage(DatumGetTextPP(argument(fcinfo, witness + kLinkage, "linkage")));
  read_measure(fcinfo, witness + kMeasure, containment_by(linkage), &options);
  read_options(fcinfo, witness + kVerify, &options);
  ReturnSetInfo* out = begin_rows(fcinfo);

  SPI_connect();
  RowClusters clusters = {};
  clusters.context = clusters.nulls.context = CurrentMemoryContext;
  begin_stages(&clusters.stages);
  queries.id_type = wanted_id_type(fcinfo, witness);
  queries.types = function_signature_types(fcinfo);
  if (options.verify != Verify::no || options.apart != nullptr) {
    cluster_by_pairs(&clusters, options, linkage, queries);
  } else {
    cluster_rows(&clusters, options, linkage, queries);
  }
  put_clusters(out, &clusters);
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // namespace

// all_clusters([id anyelement,] query text, threshold float8, linkage text, verify text, verify_threshold float8,
//   at_most_apart interval, measure text)
SQL_FUNCTION(neardup_all_clusters_by_measure) { return return_clusters(fcinfo, PG_NARGS() == 8); }
