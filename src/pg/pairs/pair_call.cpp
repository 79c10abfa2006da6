// See pair_call.h.
#include <cfloat>
#include <cmath>

#include "core/signature/margin.h"
#include "core/signature/minhash.h"
#include "core/signature/sign.h"

#include "pg/pairs/copies.h"
#include "pg/base/guc.h"
#include "pg/pairs/pair_call.h"
#include "pg/pairs/pair_groups.h"
#include "pg/base/reserve.h"
#include "pg/values/values.h"
#include "pg/pairs/verify.h"

namespace neardup {
namespace {

// How much wider digests are searched than documents: the rule of thumb of the two-stage search. No theorem: it finds
// three in four pairs of documents (docs/algorithms.md 4).
constexpr double kDigestMargin = 3;

// Least similarity of signatures for documents that are as near as options.verify_threshold says.
double signature_bound(const PairOptions& o, const SignatureShape& shape) {
  if (o.verify == Verify::no || o.own_bound) return o.threshold;
  if (o.verify == Verify::jaccard && shape.type == SignatureType::minhash) {
    uint32_t need = 0;
    call_core([&] {
      need = matches_with_recall(o.verify_threshold, kVerifyRecall, shape.params.num_perm, shape.params.bits);
    });
    return Max(estimate_jaccard(need, shape.params.num_perm, shape.params.bits), DBL_MIN);
  }
  if (o.verify == Verify::edit_rate && shape.type == SignatureType::ctph)
    return Max(1 - kDigestMargin * (1 - o.verify_threshold), DBL_MIN);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("verify => '%s' over %s signatures needs verify_threshold",
                         o.verify == Verify::jaccard ? "jaccard" : "edit_rate", type_name(shape.type)),
                  errdetail("Nothing is known about how far one follows the other: threshold is for the signatures, "
                            "verify_threshold for the documents.")));
  pg_unreachable();
}

// How documents of signatures like these are compared.
DocumentMeasure measure_of(const PairOptions& o, const SignatureShape& shape, const RowSource& source) {
  DocumentMeasure m;
  const bool bytes = source.doc_type == BYTEAOID;
  m.threshold = o.verify_threshold;
  if (o.verify == Verify::edit_rate) {
    m.kind = DocumentMeasure::Kind::edit_rate;
    m.unit = bytes ? Unit::byte : Unit::character;
    return m;
  }
  m.kind = DocumentMeasure::Kind::jaccard;
  m.unit = bytes ? Unit::byte : Unit::word;
  m.k = bytes ? 8 : 3;
  if (shape.type != SignatureType::minhash) return m;
  const MinhashKind kind = shape.params.kind;
  if (kind != MinhashKind::word && kind != MinhashKind::character && kind != MinhashKind::byte)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("verify => 'jaccard' needs signatures of documents: these are of sets"),
                    errhint("Verify sets with jaccard_exact() over the pairs.")));
  if ((kind == MinhashKind::byte) != bytes)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the column \"doc\" of %s is %s, but the signatures are of %s", source.what,
                           bytes ? "bytea" : "text", bytes ? "text" : "bytea")));
  call_core([&] { check_tokenizer(shape.params); });
  m.unit = static_cast<Unit>(kind);
  m.k = shape.params.k;
  return m;
}
static_assert(static_cast<int>(Unit::word) == static_cast<int>(MinhashKind::word) &&
              static_cast<int>(Unit::character) == static_cast<int>(MinhashKind::character) &&
              static_cast<int>(Unit::byte) == static_cast<int>(MinhashKind::byte));

// The first signature tells what all must be like.
void learn_shape(PairCall* call, const RowSource& source) {
  call->shape = source.shape;
  if (call->options.verify != Verify::no) call->measure = measure_of(call->options, call->shape, source);
  call->bound = signature_bound(call->options, call->shape);
}

// Rows between two reports of progress.
constexpr uint64 kRowsTold = 1024;

struct Reading {
  PairCall* call;
  Side* side;
};

// A row that the engine does not take: from the first one on, engine rows and query rows differ.
void leave_out(Side* side) {
  if (side->row_of != nullptr) return;
  reserve(side->source.context, &side->row_of, &side->capacity, side->engine_rows + 1);
  for (uint64 r = 0; r < side->engine_rows; ++r) side->row_of[r] = static_cast<uint32>(r);
}

void add_to_engine(PairCall* call, Side* side, uint64 number, const SourceRow& row, bool alone) {
  if (alone) {
    leave_out(side);
    return;
  }
  if (call->engine == nullptr) {
    const unsigned threads = search_threads();
    call->engine = make_owned<PairSearch>(call->context, [&](PgStop* stop, PgTempFiles* files) {
      return make_pair_search(call->shape, call->bound,
                              {.memory_limit = engine_memory(), .files = files, .stop = stop, .threads = threads,
                               .identical = call->options.identical, .swapped = call->swapped});
    });
  }
  if (side->row_of != nullptr) {
    reserve(side->source.context, &side->row_of, &side->capacity, side->engine_rows + 1);
    side->row_of[side->engine_rows] = static_cast<uint32>(number);
  }
  ++side->engine_rows;
  call_core([&] { add_row(call->engine->object, row.signature); });
}

void on_row(void* arg, const SourceRow& row) {
  auto* reading = static_cast<Reading*>(arg);
  PairCall* call = reading->call;
  Side* side = reading->side;
  const uint64 number = side->source.ids->count - 1;
  if (number % kRowsTold == 0) {
    const IdStore* ids_b = call->b.source.ids;
    tell_rows_read(call->a.source.ids->count + (ids_b == nullptr ? 0 : ids_b->count));
  }
  if (call->on_null != nullptr) call->on_null(call->on_null_arg, row.is_null);
  if (side->source.shape.known && !call->shape.known) learn_shape(call, side->source);
  if (side->docs != nullptr) add_id(side->docs, row.doc);
  const bool alone = row.alone || (call->copies != nullptr && note_copy(call->copies, side, number, row));
  if (side->sort == nullptr) {
    add_to_engine(call, side, number, row, alone);
  } else if (!alone) {
    sort_row(side, number, row);
  }
}

void read_side(PairCall* call, Side* side) {
  if (side->source.columns.doc != -1)
    side->docs = make_ids(call->context, side->source.doc_type, InvalidOid, ids_memory() / 2);
  if (is_grouped(*side)) begin_sort(side);
  Reading reading = {call, side};
  read_rows(&side->source, on_row, &reading);
  if (!call->by_id) {
    check_unique(&side->source);
  } else {
    side->rank = rank_rows(&side->source);
  }
  if (side->docs != nullptr && side->rank != nullptr) {
    const uint64 n = side->source.ids->count;
    side->row_of_rank = static_cast<uint32*>(MemoryContextAllocHuge(call->context, n * sizeof(uint32)));
    for (uint64 row = 0; row < n; ++row) side->row_of_rank[side->rank[row]] = static_cast<uint32>(row);
  }
}

// Engine row -> what pairs are told by; null when that is the identity.
const uint32* engine_rank(Side* side) {
  if (side->row_of == nullptr) return side->rank;
  if (side->rank != nullptr)
    for (uint64 r = 0; r < side->engine_rows; ++r) side->row_of[r] = side->rank[side->row_of[r]];
  return side->row_of;
}

void demand_alike(const PairCall* call) {
  const RowSource& a = call->a.source;
  const RowSource& b = call->b.source;
  if (a.type != b.type)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s returns signatures of type %s, %s of type %s", a.what, type_name(a.type), b.what,
                           type_name(b.type))));
  if ((a.columns.within == -1) != (b.columns.within == -1) || a.within_type != b.within_type ||
      a.at_type != b.at_type)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s and %s must have the same columns within and at, of the same types", a.what, b.what)));
  // Each set is in its own order, and a group is looked for by walking through both.
  if (a.within_collation != b.within_collation)
    ereport(ERROR, (errcode(ERRCODE_COLLATION_MISMATCH),
                    errmsg("the columns \"within\" of %s and %s must be of one collation", a.what, b.what),
                    errhint("Name it in both queries: ... COLLATE \"C\" AS within.")));
  if (a.doc_type != b.doc_type)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the columns \"doc\" of %s and %s must be of one type", a.what, b.what)));
}

// Whether query_b is to be read first: what is read first is kept, and much of a large second set need not be.
bool kept_is_b(const PairCall* call) {
  if (call->a.source.type != SignatureType::minhash || is_grouped(call->a)) return false;
  return estimated_rows(call->b.source) < estimated_rows(call->a.source) / 2;
}

void read_sides(PairCall* call, Side* first, Side* second) {
  read_side(call, first);
  const bool any = call->engine != nullptr;
  if (any) call_core([&] { call->engine->object->start_set_b(); });
  // Without a signature in one of them there is no pair; the other is read all the same, so that its errors are seen.
  second->source.shape = first->source.shape;
  read_side(call, second);
  if (!any && call->engine != nullptr) {
    destroy_owned(call->engine);
    call->engine = nullptr;
  }
}

void search(PairCall* call) {
  if (is_grouped(call->a)) {
    search_groups(call);
    return;
  }
  if (call->engine == nullptr) {
    end_stage(&call->stages, "pairs found");
    return;
  }
  const uint32* rank_a = engine_rank(&call->a);
  const uint32* rank_b = call->two_sets ? engine_rank(&call->b) : nullptr;
  if (call->swapped) std::swap(rank_a, rank_b);
  call_core([&] { call->engine->object->run(rank_a, rank_b); });
  const SearchStats& s = call->engine->object->stats();
  call->left_out = s.left_out;
  const char* set_aside = s.set_aside == 0 ? "" : psprintf(" (" UINT64_FORMAT " set aside by their keys)", s.set_aside);
  end_stage(&call->stages, "pairs found",
            psprintf(UINT64_FORMAT " distinct of " UINT64_FORMAT " signatures%s, %s, " UINT64_FORMAT
                     " found, %zu MB in memory, " UINT64_FORMAT " MB on disk",
                     s.distinct, s.rows, set_aside,
                     s.elsewhere ? "on the GPU"
                                 : psprintf(UINT64_FORMAT " pairs looked at, " UINT64_FORMAT " compared", s.looked, s.compared),
                     s.found, s.peak_bytes >> 20, s.spilled_bytes >> 20));
}

constexpr size_t kBatch = 4096;

// Of n pairs those that are still wanted, moved to the front; returns how many.
size_t wanted_pairs(const PairCall* call, RowPair* pairs, size_t n) {
  if (call->wants == nullptr) return n;
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i)
    if (call->wants(call->wants_arg, pairs[i])) pairs[kept++] = pairs[i];
  return kept;
}

// The next pairs as the search gives them; 0 at the end.
size_t found_pairs(PairCall* call, RowPair* out, size_t max) {
  size_t n = 0;
  call_core([&] {
    if (call->engine != nullptr) n = call->engine->object->next(out, max);
    if (call->pairs != nullptr) n = call->pairs->object->next(out, max);
  });
  return n;
}

}  // namespace

Identical parse_identical(Datum value) {
  const text* name = DatumGetTextPP(value);
  const char* data = VARDATA_ANY(name);
  const size_t size = VARSIZE_ANY_EXHDR(name);
  if (size == 3 && memcmp(data, "all", 3) == 0) return Identical::all;
  if (size == 4 && memcmp(data, "star", 4) == 0) return Identical::star;
  if (size == 4 && memcmp(data, "none", 4) == 0) return Identical::none;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("identical must be 'all', 'star' or 'none': \"%s\"", text_to_cstring(name))));
  pg_unreachable();
}

void read_options(FunctionCallInfo fcinfo, int first, PairOptions* options) {
  check_threshold(options->threshold);
  options->verify_threshold = options->threshold;
  if (!PG_ARGISNULL(first)) {
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(first));
    if (strcmp(name, "jaccard") == 0) {
      options->verify = Verify::jaccard;
    } else if (strcmp(name, "edit_rate") == 0) {
      options->verify = Verify::edit_rate;
    } else {
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("verify must be 'jaccard' or 'edit_rate': \"%s\"", name)));
    }
  }
  if (!PG_ARGISNULL(first + 1)) {
    if (options->verify == Verify::no)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("verify_threshold is given without verify")));
    options->own_bound = true;
    options->verify_threshold = PG_GETARG_FLOAT8(first + 1);
    if (!(options->verify_threshold > 0 && options->verify_threshold <= 1))
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("verify_threshold must be above 0 and at most 1: %s", shown(options->verify_threshold).text),
                      errdetail("It is the least similarity: 1 - edit rate where edit rates are verified.")));
  }
  if (PG_ARGISNULL(first + 2)) return;
  options->apart = PG_GETARG_INTERVAL_P(first + 2);
  Interval zero = {};
  if (DatumGetBool(DirectFunctionCall2(interval_lt, IntervalPGetDatum(const_cast<Interval*>(options->apart)),
                                       IntervalPGetDatum(&zero))))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("at_most_apart must not be negative: %s",
                           DatumGetCString(DirectFunctionCall1(
                               interval_out, IntervalPGetDatum(const_cast<Interval*>(options->apart)))))));
  if (options->identical == Identical::star || options->identical == Identical::none)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("with at_most_apart, identical must be 'all'"),
                    errdetail("One of many equal rows cannot stand for the others where times differ.")));
}

SourceWants wants_of(const PairOptions& options) {
  SourceWants wants = {};
  wants.no_doc = options.verify == Verify::no ? "but verify is not given" : nullptr;
  wants.apart = options.apart;
  return wants;
}

void begin_pairs(PairCall* call, const char* what, text* query, text* query_b, Oid id_type, const SignatureTypes& types,
                 bool by_id) {
  call->context = CurrentMemoryContext;
  call->two_sets = query_b != nullptr;
  call->by_id = by_id;
  begin_stages(&call->stages);
  begin_progress(call->function);
  SourceWants wants = wants_of(call->options);
  wants.ordered = !by_id;
  open_source(&call->a.source, what, query, id_type, types, wants);
  if (!call->two_sets) {
    read_side(call, &call->a);
  } else {
    open_source(&call->b.source, "query_b", query_b, id_type, types, wants);
    demand_alike(call);
    call->swapped = kept_is_b(call);
    read_sides(call, call->swapped ? &call->b : &call->a, call->swapped ? &call->a : &call->b);
  }
  end_stage(&call->stages, "rows read");
  tell_phase(Phase::searching);
  search(call);
  tell_phase(call->options.verify == Verify::no ? Phase::returning : Phase::verifying);
  call->batch = static_cast<RowPair*>(palloc(kBatch * sizeof(RowPair)));
  call->similarity = static_cast<double*>(palloc(kBatch * sizeof(double)));
}

bool next_pair(PairCall* call, RowPair* pair, double* similarity) {
  while (call->batch_at == call->batch_size) {
    CHECK_FOR_INTERRUPTS();
    call->batch_at = 0;
    tell_pairs(call->pairs_told += call->batch_size);
    call->batch_size = found_pairs(call, call->batch, kBatch);
    if (call->batch_size == 0) return false;
    if (call->options.verify == Verify::no) {
      for (size_t i = 0; i < call->batch_size; ++i)
        call->similarity[i] = similarity_of(call->shape, call->batch[i].value & ~kEqualRows);
    } else {
      const size_t wanted = wanted_pairs(call, call->batch, call->batch_size);
      call->verified += wanted;
      call->batch_size = verify_pairs(call, call->batch, call->similarity, wanted);
    }
  }
  *pair = call->batch[call->batch_at];
  *similarity = call->similarity[call->batch_at];
  ++call->batch_at;
  return true;
}

void end_pairs(PairCall* call) {
  const bool verified = call->options.verify != Verify::no;
  end_stage(&call->stages, "pairs returned",
            verified ? psprintf(UINT64_FORMAT " pairs of documents compared", call->verified) : nullptr);
  if (call->function != Searching::all_clusters) end_progress();  // whose rows are still to be returned
  end_verifying(call);
  if (call->engine != nullptr) destroy_owned(call->engine);
  if (call->pairs != nullptr) destroy_owned(call->pairs);
  for (Side* side : {&call->a, &call->b})
    if (side->docs != nullptr) free_ids(side->docs);
  // A star of one set shows all its rows.
  const bool star = !call->two_sets && call->options.identical == Identical::star;
  if (call->left_out > 0 && !star && call->options.identical != Identical::marked)
    ereport(NOTICE, (errmsg("identical => '%s' left out " UINT64_FORMAT " rows or pairs with equal signatures",
                            call->options.identical == Identical::star ? "star" : "none", call->left_out)));
}

}  // namespace neardup
