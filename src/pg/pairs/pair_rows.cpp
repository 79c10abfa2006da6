#include "pg/pairs/pair_rows.h"

#include "pg/base/guc.h"
#include "pg/base/reserve.h"
#include "pg/pairs/repeated_rows.h"
#include "pg/values/values.h"

namespace neardup {
namespace {

void demand_alike(const RowSource& a, const RowSource& b) {
  const SourceColumns& x = a.columns;
  const SourceColumns& y = b.columns;
  if (x.signature != y.signature)
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("%s returns signatures of type %s, %s of type %s", a.what,
                                                        info(x.signature).name, b.what, info(y.signature).name)));
  if ((x.within == kColumnAbsent) != (y.within == kColumnAbsent) || x.within_type != y.within_type ||
      x.at_type != y.at_type)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s and %s must have the same columns within and at, of the same types", a.what, b.what)));
  // Each set is in its own order, and a group is looked for by walking through both.
  if (x.within_collation != y.within_collation)
    ereport(ERROR, (errcode(ERRCODE_COLLATION_MISMATCH),
                    errmsg("the columns \"within\" of %s and %s must be of one collation", a.what, b.what),
                    errhint("Name it in both queries: ... COLLATE \"C\" AS within.")));
  if (x.doc_type != y.doc_type)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the columns \"doc\" of %s and %s must be of one type", a.what, b.what)));
}

// True if query_b is to be read first: the rows that are read first are kept, and most of a large second set need not
// be.
bool kept_is_b(const PairRows& rows) {
  const RowSource& a = rows.a.source;
  if (a.columns.signature != Kind::minhash || a.columns.grouped()) return false;
  return estimated_rows(rows.b.source) < estimated_rows(a) / 2;
}

void open_sources(PairRows* rows, const PairQueries& queries) {
  SourceWants wants = source_wants(rows->options);
  wants.ordered = !queries.by_id;
  open_source(&rows->a.source, queries.what, queries.query, queries.id_type, queries.types, wants);
  check_measure(rows->options, queries.what, rows->a.source.columns);
  if (!rows->two_sets) return;
  open_source(&rows->b.source, "query_b", queries.query_b, queries.id_type, queries.types, wants);
  demand_alike(rows->a.source, rows->b.source);
}

// The first signature tells what all must be like.
void learn_shape(PairRows* rows, const RowSource& source) {
  rows->shape = source.shape;
  rows->shape.measure = rows->options.measure;
  if (rows->options.verify != Verify::no) rows->measure = document_measure(rows->options, rows->shape, source);
  rows->bound = signature_bound(rows->options, rows->shape);
}

Owned<PairSearch>* make_engine(const PairRows* rows) {
  const unsigned threads = search_threads();
  return make_owned<PairSearch>(rows->context, [&](PgStop* stop, PgTempFiles* files) {
    return make_pair_search(rows->shape, rows->bound,
                            {.memory_limit = engine_memory(),
                             .files = files,
                             .stop = stop,
                             .threads = threads,
                             .identical = rows->options.identical,
                             .swapped = rows->swapped});
  });
}

// A row that the engine does not take: from the first one on, engine rows and query rows differ.
void leave_out(PairSide* side) {
  if (side->row_of != nullptr) return;
  reserve(side->source.context, &side->row_of, &side->capacity, side->engine_rows + 1);
  for (uint64 r = 0; r < side->engine_rows; ++r) side->row_of[r] = static_cast<uint32>(r);
}

void add_to_engine(PairRows* rows, PairSide* side, uint64 number, const Signature& signature) {
  if (rows->engine == nullptr) rows->engine = make_engine(rows);
  if (side->row_of != nullptr) {
    reserve(side->source.context, &side->row_of, &side->capacity, side->engine_rows + 1);
    side->row_of[side->engine_rows] = static_cast<uint32>(number);
  }
  ++side->engine_rows;
  call_core([&] { rows->engine->object->add_value(signature); });
}

uint64 rows_so_far(const PairRows& rows) {
  const IdStore* ids_b = rows.b.source.ids;
  return rows.a.source.ids->count + (ids_b == nullptr ? 0 : ids_b->count);
}

void add_pair_row(PairRows* rows, PairSide* side, const SourceRow& row) {
  const uint64 number = side->source.ids->count - 1;
  if (number % kRowsBetweenReports == 0) report_rows_read(rows_so_far(*rows));
  if (rows->nulls != nullptr) rows->nulls->add(row.is_null);
  if (side->source.shape.known && !rows->shape.known) learn_shape(rows, side->source);
  if (side->docs != nullptr) add_id(side->docs, row.doc);
  if (side->source.columns.signature == Kind::set) side->sizes.add(rows->context, row.set_size());
  const bool alone = row.alone || (rows->copies != nullptr && note_copy(rows->copies, *side, number, row));
  const bool grouped = side->source.columns.grouped();
  if (alone && !grouped) leave_out(side);
  if (!alone && !grouped) add_to_engine(rows, side, number, row.signature);
  if (!alone && grouped) sort_row(&side->sort, side->source, number, row);
}

void invert_ranks(const PairRows& rows, PairSide* side) {
  const uint64 n = side->source.ids->count;
  side->row_of_rank = static_cast<uint32*>(MemoryContextAllocHuge(rows.context, n * sizeof(uint32)));
  for (uint64 row = 0; row < n; ++row) side->row_of_rank[side->rank[row]] = static_cast<uint32>(row);
}

void read_side(PairRows* rows, PairSide* side, bool by_id) {
  const SourceColumns& columns = side->source.columns;
  if (columns.doc != kColumnAbsent)
    side->docs = make_ids(rows->context, columns.doc_type, InvalidOid, ids_memory() / 2);
  if (columns.grouped()) begin_sort(&side->sort, side->source);
  read_rows(&side->source, [&](const SourceRow& row) { add_pair_row(rows, side, row); });
  if (by_id) {
    side->rank = rank_rows(&side->source);
  } else {
    check_unique(&side->source);
  }
  if (side->docs != nullptr && side->rank != nullptr) invert_ranks(*rows, side);
  if (side->rank != nullptr) side->sizes.rename(rows->context, side->rank);
}

void read_two_sides(PairRows* rows, bool by_id) {
  PairSide* first = rows->swapped ? &rows->b : &rows->a;
  PairSide* second = rows->swapped ? &rows->a : &rows->b;
  read_side(rows, first, by_id);
  const bool any = rows->engine != nullptr;
  if (any) call_core([&] { rows->engine->object->start_set_b(); });
  // Without a signature in one of them there is no pair; the other is read all the same, so that its errors are seen.
  second->source.shape = first->source.shape;
  read_side(rows, second, by_id);
  if (!any && rows->engine != nullptr) {
    destroy_owned(rows->engine);
    rows->engine = nullptr;
  }
}

}  // namespace

PairQueries query_argument(FunctionCallInfo fcinfo, int n, const char* name) {
  PairQueries queries = {};
  queries.what = name;
  queries.query = DatumGetTextPP(argument(fcinfo, n, name));
  return queries;
}

void read_pair_rows(PairRows* rows, const PairQueries& queries) {
  rows->context = CurrentMemoryContext;
  rows->two_sets = queries.query_b != nullptr;
  begin_stages(&rows->stages);
  begin_progress(rows->options.function);
  open_sources(rows, queries);
  if (rows->two_sets) {
    rows->swapped = kept_is_b(*rows);
    read_two_sides(rows, queries.by_id);
  } else {
    read_side(rows, &rows->a, queries.by_id);
  }
  end_stage(&rows->stages, "rows read");
}

void free_pair_rows(PairRows* rows) {
  if (rows->engine != nullptr) destroy_owned(rows->engine);
  for (PairSide* side : {&rows->a, &rows->b})
    if (side->docs != nullptr) free_ids(side->docs);
}

}  // namespace neardup
