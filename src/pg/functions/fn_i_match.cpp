// I-Match: words of the documents of a query with their counts, fingerprints under a lexicon.
#include <string>

#include "core/signature/i_match.h"
#include "pg/base/context.h"
#include "pg/base/held_names.h"
#include "pg/base/open_table.h"
#include "pg/base/result_row.h"
#include "pg/query/read_query.h"
#include "pg/values/arrays.h"
#include "pg/values/folded_text.h"

extern "C" {
#include "access/xact.h"
#include "utils/rls.h"
#include "utils/uuid.h"
}

namespace {

using namespace neardup;

// ---- Lexicons ----

// All that decides which rows a query of the lexicon would see. Two calls with equal ones see the same.
struct Sight {
  TransactionId xmin;
  TransactionId xmax;
  uint32 running;
  int32 running_subtransactions;
  uint64 completed;  // transactions that had ended when the snapshot was made
  CommandId command;
  SubTransactionId subtransaction;
  TimestampTz transaction;  // when it began
  Oid user;
};

Sight sight_now() {
  if (!ActiveSnapshotSet()) elog(ERROR, "a lexicon cannot be read without a snapshot");
  const Snapshot s = GetActiveSnapshot();
  Sight out;
  memset(&out, 0, sizeof out);  // compared by bytes
  out.xmin = s->xmin;
  out.xmax = s->xmax;
  out.running = s->xcnt;
  out.running_subtransactions = s->subxcnt;
  out.completed = s->snapXactCompletionCount;
  out.command = s->curcid;
  out.subtransaction = GetCurrentSubTransactionId();
  out.transaction = GetCurrentTransactionStartTimestamp();
  out.user = GetUserId();
  return out;
}

// The last lexicon that a call site used, in fn_extra. A statement reads it once. Where the call site lives longer, as
// an expression of PL/pgSQL does, `sight` tells whether it is still what a query would see.
struct LexiconCache {
  MemoryContext context;  // of the lexicon; null: none
  Owned<Lexicon>* lexicon;
  Oid relation;
  double low;
  double high;
  Sight sight;
};

// The columns of a lexicon.
enum LexiconColumn { kTerm, kFrequency, kIdf, kLexiconColumns };
constexpr const char* kColumnNames[kLexiconColumns] = {"term", "document_frequency", "idf"};
constexpr Oid kColumnTypes[kLexiconColumns] = {TEXTOID, INT8OID, FLOAT8OID};

// True if reading the relation runs code of its owner.
bool runs_code(Relation relation) {
  const char kind = relation->rd_rel->relkind;
  if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW) return true;
  return check_enable_rls(RelationGetRelid(relation), InvalidOid, true) == RLS_ENABLED;
}

// The lexicon, open and locked. Refuses what is no table or view with the columns of a lexicon.
Relation open_lexicon(Oid oid) {
  const OpenTable opened = open_readable(oid);
  if (opened.refusal == Refusal::missing)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("lexicon with OID %u does not exist", oid)));
  if (opened.refusal == Refusal::privilege)
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for lexicon %s", get_rel_name(oid))));
  if (opened.refusal != Refusal::none)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot access temporary tables of other sessions")));
  const char* name = qualified_name(opened.relation);
  if (runs_code(opened.relation) && !has_trusted_owner(opened.relation))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("lexicon %s of another role is no plain table without row security", name),
                    errdetail("What its owner has put in it would run with your rights.")));
  for (int i = 0; i < kLexiconColumns; ++i) {
    const AttrNumber number = get_attnum(oid, kColumnNames[i]);
    const Oid type = number > 0 ? getBaseType(get_atttype(oid, number)) : InvalidOid;
    if (type == kColumnTypes[i]) continue;
    ereport(ERROR, (errcode(number > 0 ? ERRCODE_DATATYPE_MISMATCH : ERRCODE_UNDEFINED_COLUMN),
                    number > 0 ? errmsg("%s is no lexicon: its column \"%s\" is %s, not %s", name, kColumnNames[i],
                                        format_type_be(get_atttype(oid, number)), format_type_be(kColumnTypes[i]))
                               : errmsg("%s is no lexicon: it has no column \"%s\"", name, kColumnNames[i]),
                    errdetail("A lexicon has the columns term text, document_frequency bigint, idf double precision."),
                    errhint("create_lexicon() makes one.")));
  }
  return opened.relation;
}

constexpr int kTermsPerFetch = 2000;

struct LexiconRow {
  Utf8 term;
  const char* shown;
  size_t shown_size;
  int64 frequency;
  double idf;
};

// Reads the rows as the caller may see them: privileges and row-level security are the query's.
void read_lexicon(Relation relation, Lexicon* lexicon) {
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  const char* name = held_name(RelationGetRelid(relation), StatementKind::query);
  SPIPlanPtr plan = prepare_query(psprintf("SELECT term, document_frequency, idf FROM %s", name), 0);
  Portal portal = SPI_cursor_open(nullptr, plan, nullptr, nullptr, true);
  auto* rows = static_cast<LexiconRow*>(palloc(sizeof(LexiconRow) * kTermsPerFetch));
  MemoryContext texts = AllocSetContextCreate(CurrentMemoryContext, "neardup terms", ALLOCSET_DEFAULT_SIZES);
  for (;;) {
    SPI_cursor_fetch(portal, true, kTermsPerFetch);
    const uint64 n = SPI_processed;
    if (n == 0) break;
    MemoryContext old = MemoryContextSwitchTo(texts);
    for (uint64 i = 0; i < n; ++i) {
      Datum values[kLexiconColumns];
      for (int c = 0; c < kLexiconColumns; ++c) {
        bool is_null;
        values[c] = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, c + 1, &is_null);
        if (is_null)
          ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                          errmsg("column \"%s\" of lexicon %s holds NULL", kColumnNames[c], name)));
      }
      const text* term = DatumGetTextPP(values[kTerm]);
      rows[i] = {folded_of_server(term), VARDATA_ANY(term), static_cast<size_t>(VARSIZE_ANY_EXHDR(term)),
                 DatumGetInt64(values[kFrequency]), DatumGetFloat8(values[kIdf])};
    }
    MemoryContextSwitchTo(old);
    call_core([=] {
      for (uint64 i = 0; i < n; ++i)
        lexicon->add(rows[i].term.view(), rows[i].frequency, rows[i].idf, {rows[i].shown, rows[i].shown_size});
    });
    MemoryContextReset(texts);
    SPI_freetuptable(SPI_tuptable);
  }
  SPI_cursor_close(portal);
  SPI_finish();
  release_name(RelationGetRelid(relation));
}

void name_lexicon(void* arg) { errcontext("lexicon %s", static_cast<const char*>(arg)); }

const Lexicon* lexicon_arg(FunctionCallInfo fcinfo, int lexicon_at, int low_at) {
  const Oid relation = PG_GETARG_OID(lexicon_at);
  const double low = PG_GETARG_FLOAT8(low_at);
  const double high = PG_GETARG_FLOAT8(low_at + 1);
  FmgrInfo* flinfo = fcinfo->flinfo;
  auto* cache = static_cast<LexiconCache*>(flinfo->fn_extra);
  if (cache == nullptr)
    flinfo->fn_extra = cache =
        static_cast<LexiconCache*>(MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(LexiconCache)));
  const Sight sight = sight_now();
  if (cache->lexicon != nullptr && cache->relation == relation && cache->low == low && cache->high == high &&
      memcmp(&cache->sight, &sight, sizeof sight) == 0)
    return cache->lexicon->object;
  cache->lexicon = nullptr;
  if (cache->context != nullptr) MemoryContextDelete(cache->context);
  cache->context = nullptr;

  call_core([=] { check_idf_range(low, high); });
  Relation table = open_lexicon(relation);
  const char* name = qualified_name(table);
  const double memory = static_cast<double>(work_mem) * 1024 * hash_mem_multiplier;
  const size_t limit = memory < static_cast<double>(SIZE_MAX / 2) ? static_cast<size_t>(memory) : SIZE_MAX / 2;
  cache->context = AllocSetContextCreate(flinfo->fn_mcxt, "neardup lexicon", ALLOCSET_SMALL_SIZES);
  Owned<Lexicon>* lexicon =
      make_owned<Lexicon>(cache->context, [=](PgStop*, PgTempFiles*) { return new Lexicon(low, high, limit); });
  ErrorContextCallback context = {error_context_stack, name_lexicon, const_cast<char*>(name)};
  error_context_stack = &context;
  read_lexicon(table, lexicon->object);
  relation_close(table, NoLock);
  call_core([=] { lexicon->object->finish(); });
  error_context_stack = context.previous;
  cache->relation = relation;
  cache->low = low;
  cache->high = high;
  cache->sight = sight;
  cache->lexicon = lexicon;
  return lexicon->object;
}

// ---- Counting ----

struct Counting {
  Owned<TermCounts>* counts;
  int column;
  MemoryContext each;  // for one row
  ReturnSetInfo* rows;
};

// term null: of all documents, how many they are.
void put(const Counting* c, const text* term, int64 count) {
  enum Column { kTerm, kDocuments, kColumns };
  ResultRow<Column> row;
  if (term != nullptr) row.set(kTerm, PointerGetDatum(term));
  row.set(kDocuments, Int64GetDatum(count));
  row.put(c->rows);
}

void hand_over(const Counting* c) {
  TermCounts* counts = c->counts->object;
  const size_t n = counts->size();
  for (size_t i = 0; i < n; ++i) {
    const auto word = counts->word(i);
    // A word that the database's encoding cannot write is no term of the lexicon.
    size_t size;
    if (const char* term = server_text_of_folded(word.data(), word.size(), &size))
      put(c, cstring_to_text_with_len(term, static_cast<int>(size)), counts->count(i));
    if (i % 1024 == 1023) {
      CHECK_FOR_INTERRUPTS();
      MemoryContextReset(c->each);
    }
  }
  MemoryContextReset(c->each);
  call_core([=] { counts->clear(); });
}

void add_row(const Counting* c, TupleTableSlot* slot) {
  CHECK_FOR_INTERRUPTS();
  bool is_null;
  const Datum value = slot_getattr(slot, c->column, &is_null);
  if (is_null) return;
  MemoryContext old = MemoryContextSwitchTo(c->each);
  const Utf8 doc = to_utf8(DatumGetTextPP(value));
  TermCounts* counts = c->counts->object;
  PgStop* stop = c->counts->stop;
  bool full = false;
  call_core([=, &full] {
    counts->add_document(doc.data, doc.size, stop);
    full = counts->full();
  });
  MemoryContextReset(c->each);
  if (full) hand_over(c);
  MemoryContextSwitchTo(old);
}

Datum uuid_datum(const uint8_t* bytes) {
  auto* uuid = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
  memcpy(uuid->data, bytes, UUID_LEN);
  return UUIDPGetDatum(uuid);
}

}  // namespace

SQL_FUNCTION(neardup_term_counts) {
  Counting c = {};
  c.rows = begin_rows(fcinfo);
  const char* query = text_to_cstring(PG_GETARG_TEXT_PP(0));
  const size_t memory = static_cast<size_t>(maintenance_work_mem) * 1024 / 2;
  c.counts =
      make_owned<TermCounts>(CurrentMemoryContext, [=](PgStop*, PgTempFiles*) { return new TermCounts(memory); });
  c.each = AllocSetContextCreate(CurrentMemoryContext, "neardup document", ALLOCSET_DEFAULT_SIZES);
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  SPIPlanPtr plan = prepare_documents(query, &c.column, nullptr);
  for_each_row(plan, [&](TupleTableSlot* slot) {
    add_row(&c, slot);
    return true;
  });
  SPI_finish();
  MemoryContext old = MemoryContextSwitchTo(c.each);
  hand_over(&c);
  put(&c, nullptr, static_cast<int64>(c.counts->object->documents()));
  MemoryContextSwitchTo(old);
  destroy_owned(c.counts);
  return 0;
}

SQL_FUNCTION(i_match) {
  const Lexicon* lexicon = lexicon_arg(fcinfo, 1, 2);
  const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
  uint8_t hash[UUID_LEN];
  bool any = false;
  call_core([&] {
    PgStop stop;
    const std::vector<uint64_t> terms = terms_in(*lexicon, doc.data, doc.size, &stop);
    any = !terms.empty();
    if (any) memcpy(hash, i_match_fingerprint(terms).data(), UUID_LEN);
  });
  if (!any) PG_RETURN_NULL();
  return uuid_datum(hash);
}

SQL_FUNCTION(i_match_bag) {
  const int variants = PG_GETARG_INT32(2);
  const double share = PG_GETARG_FLOAT8(5);
  call_core([=] {
    check_variants(variants);
    check_share(share);
  });
  const Lexicon* lexicon = lexicon_arg(fcinfo, 1, 3);
  const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
  uint8_t hashes[(kMaxVariants + 1) * UUID_LEN];
  int count = 0;
  call_core([&] {
    PgStop stop;
    const std::vector<uint64_t> terms = terms_in(*lexicon, doc.data, doc.size, &stop);
    for (const Fingerprint& f : i_match_fingerprints(terms, variants, share))
      memcpy(hashes + UUID_LEN * count++, f.data(), UUID_LEN);
  });
  if (count == 0) PG_RETURN_NULL();
  return array_datum(static_cast<size_t>(count), UUIDOID,
                     [&](size_t i) { return UUIDPGetDatum(reinterpret_cast<pg_uuid_t*>(hashes + UUID_LEN * i)); });
}
