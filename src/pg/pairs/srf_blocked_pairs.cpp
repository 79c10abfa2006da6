// blocked_pairs() and oversized_blocks(): rows of queries that agree in a key, and the values that too many rows share.
#include "core/pairs/blocked_pairs.h"
#include "pg/base/context.h"
#include "pg/base/progress.h"
#include "pg/base/result_row.h"
#include "pg/pairs/row_source.h"
#include "pg/values/arrays.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

constexpr int kMaxKeys = static_cast<int>(kMaxBlockKeys);
// Oversized blocks that the NOTICE of blocked_pairs() names, and that oversized_blocks() lists.
constexpr size_t kNamed = 5;
constexpr size_t kListed = 100000;
// Bytes of a value that are shown, in the NOTICE and in the list.
constexpr int kNamedBytes = 60;
constexpr int kListedBytes = 1000;
constexpr size_t kBlockedBatch = 4096;
constexpr size_t kRowsChecked = 4096;

// The hashing of a key column. Integers of any width are one type, text and varchar are.
struct KeyColumn {
  enum class Kind : uint8 { number, bytes, other };
  Kind kind;
  bool may_be_empty;  // a value of no characters or bytes is no key
  int16 length;
  Oid column_type;
  Oid type;
  Oid collation;
  FmgrInfo hash;  // of other
  FmgrInfo output;
};

struct BlockSide {
  RowSource source;
  KeyColumn* keys;
  int nkeys;
  uint32* rank;
};

// Where a function has its arguments; -1: it has none.
struct Arguments {
  int query_b;
  int max_block;
  int id;
};

struct BlockCall {
  Searching function;
  int32 max_block;
  size_t listed;
  bool two_sets;
  BlockSide a;
  BlockSide b;
  Owned<BlockedPairs>* engine;
  Stages stages;
  uint64 rows;
};

Oid alike_type(Oid type) {
  type = getBaseType(type);
  return type == INT2OID || type == INT4OID ? INT8OID : type == VARCHAROID ? TEXTOID : type;
}

void open_key(KeyColumn* key, const char* what, int number, Form_pg_attribute column, MemoryContext context) {
  key->column_type = getBaseType(column->atttypid);
  key->type = alike_type(column->atttypid);
  key->collation = column->attcollation;
  key->length = get_typlen(key->type);
  const bool exact = !OidIsValid(key->collation) || get_collation_isdeterministic(key->collation);
  char category;
  bool preferred;
  get_type_category_preferred(key->type, &category, &preferred);
  key->may_be_empty = key->length == -1 && (category == TYPCATEGORY_STRING || key->type == BYTEAOID);
  key->kind = key->type == INT8OID                                       ? KeyColumn::Kind::number
              : (key->type == TEXTOID && exact) || key->type == BYTEAOID ? KeyColumn::Kind::bytes
                                                                         : KeyColumn::Kind::other;
  if (key->kind == KeyColumn::Kind::other) {
    const TypeCacheEntry* type = lookup_type_cache(key->type, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
    if (!OidIsValid(type->hash_extended_proc_finfo.fn_oid))
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                      errmsg("key %d of %s cannot be hashed: it is %s", number, what, format_type_be(column->atttypid)),
                      errhint("Cast it to text.")));
    fmgr_info_copy(&key->hash, const_cast<FmgrInfo*>(&type->hash_extended_proc_finfo), context);
  }
  Oid output;
  bool varlena;
  getTypeOutputInfo(key->column_type, &output, &varlena);
  fmgr_info_cxt(output, &key->output, context);
}

void open_side(BlockSide* side, const char* what, text* query, Oid id_type) {
  SourceWants wants = {};
  wants.keys = true;
  open_source(&side->source, what, query, id_type, SignatureTypes{}, wants);
  const TupleDesc desc = result_columns(side->source);
  side->nkeys = desc->natts - kFirstKeyColumn;
  if (side->nkeys > kMaxKeys)
    ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
                    errmsg("%s returns %d keys, more than %d", what, side->nkeys, kMaxKeys)));
  side->keys = static_cast<KeyColumn*>(palloc0(static_cast<Size>(side->nkeys) * sizeof(KeyColumn)));
  for (int k = 0; k < side->nkeys; ++k)
    open_key(&side->keys[k], what, k + 1, TupleDescAttr(desc, kFirstKeyColumn + k), side->source.context);
}

void demand_alike(const BlockSide& a, const BlockSide& b) {
  if (a.nkeys != b.nkeys)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("%s and %s must have the same number of keys: %d and %d",
                                                               a.source.what, b.source.what, a.nkeys, b.nkeys)));
  for (int k = 0; k < a.nkeys; ++k) {
    const KeyColumn& x = a.keys[k];
    const KeyColumn& y = b.keys[k];
    if (x.type != y.type)
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("key %d is %s in %s, but %s in %s", k + 1, format_type_be(x.column_type), a.source.what,
                             format_type_be(y.column_type), b.source.what),
                      errhint("Cast one of them.")));
    // Where one of two collations takes different characters for equal, so must the other.
    if (x.kind != y.kind || (x.kind == KeyColumn::Kind::other && x.collation != y.collation))
      ereport(ERROR, (errcode(ERRCODE_COLLATION_MISMATCH),
                      errmsg("key %d has different collations in %s and %s", k + 1, a.source.what, b.source.what)));
  }
}

// The hash of a value that is not NULL; false where it is no key.
bool hash_key(KeyColumn* key, Datum value, uint64* hash) {
  if (key->kind == KeyColumn::Kind::number) {
    const int64 number = key->column_type == INT2OID   ? DatumGetInt16(value)
                         : key->column_type == INT4OID ? DatumGetInt32(value)
                                                       : DatumGetInt64(value);
    *hash = block_hash(static_cast<uint64>(number));
    return true;
  }
  if (key->length == -1) {
    struct varlena* data = PG_DETOAST_DATUM_PACKED(value);
    value = PointerGetDatum(data);
    if (key->may_be_empty) {
      const int size = static_cast<int>(VARSIZE_ANY_EXHDR(data));
      const int real = key->type == BPCHAROID ? bpchartruelen(VARDATA_ANY(data), size) : size;
      if (real == 0) return false;
    }
    if (key->kind == KeyColumn::Kind::bytes) {
      *hash = block_hash(VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data));
      return true;
    }
  }
  *hash = DatumGetUInt64(FunctionCall2Coll(&key->hash, key->collation, value, Int64GetDatum(0)));
  return true;
}

// The hash of key k of a row; false where it has none.
bool hash_key(BlockSide* side, const KeyRow& row, int k, uint64* hash) {
  const int column = kFirstKeyColumn + k;
  return !row.nulls[column] && hash_key(&side->keys[k], row.columns[column], hash);
}

void add_row(BlockCall* call, BlockSide* side, const KeyRow& row) {
  if (call->rows++ % kRowsBetweenReports == 0) report_rows_read(call->rows);
  uint64 hashes[kMaxKeys];
  uint64 present = 0;
  for (int k = 0; k < side->nkeys; ++k)
    if (hash_key(side, row, k, &hashes[k])) present |= static_cast<uint64>(1) << k;
  call_core([&] { call->engine->object->add(hashes, present); });
}

void read_side(BlockCall* call, BlockSide* side) {
  read_key_rows(&side->source, [&](const KeyRow& row) {
    add_row(call, side, row);
    return true;
  });
  if (side->source.ids != nullptr) side->rank = rank_rows(&side->source);
}

// Opens and reads the queries. id_type InvalidOid: ids are not kept.
void begin_blocks(FunctionCallInfo fcinfo, BlockCall* call, const Arguments& at, Oid id_type) {
  text* query = DatumGetTextPP(argument(fcinfo, 0, "query"));
  call->two_sets = at.query_b != -1 && !PG_ARGISNULL(at.query_b);
  call->max_block = DatumGetInt32(argument(fcinfo, at.max_block, "max_block"));
  if (call->max_block < 1 || call->max_block > static_cast<int32>(kMaxBlockRows))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("max_block must be 1 to %u: %d", kMaxBlockRows, call->max_block)));
  begin_stages(&call->stages);
  begin_progress(call->function);
  open_side(&call->a, "query", query, id_type);
  if (call->two_sets) {
    open_side(&call->b, "query_b", PG_GETARG_TEXT_PP(at.query_b), id_type);
    demand_alike(call->a, call->b);
  }
  call->engine = make_owned<BlockedPairs>(CurrentMemoryContext, [&](PgStop* stop, PgTempFiles* files) {
    return new BlockedPairs(static_cast<uint32>(call->a.nkeys),
                            {engine_memory(), files, stop, static_cast<uint32>(call->max_block), call->listed});
  });
  read_side(call, &call->a);
  if (call->two_sets) {
    call_core([&] { call->engine->object->start_set_b(); });
    read_side(call, &call->b);
  }
  end_stage(&call->stages, "rows read");
  report_phase(Phase::searching);
}

void end_blocks(BlockCall* call) {
  end_progress();
  destroy_owned(call->engine);
}

// Values of oversized blocks, found by reading the (first) query again: only hashes were kept.
struct Naming {
  BlockSide side;
  text** values;  // by block; null where the query no longer returns it
  HTAB* wanted;
  uint64 keys;  // a bit for each key that has such a block
  size_t left;
  int most_bytes;
};

struct WantedBlock {
  struct {
    uint64 hash;
    uint64 key;
  } key;
  size_t block;
};

// The value of key k of a row as it is shown.
text* shown_key(Naming* naming, const KeyRow& row, int k) {
  const char* value = OutputFunctionCall(&naming->side.keys[k].output, row.columns[kFirstKeyColumn + k]);
  const int size = static_cast<int>(strlen(value));
  const int shown = pg_mbcliplen(value, size, naming->most_bytes);
  MemoryContext old = MemoryContextSwitchTo(naming->side.source.context);
  text* out = cstring_to_text(shown < size ? psprintf("%.*s..", shown, value) : value);
  MemoryContextSwitchTo(old);
  return out;
}

// Names the blocks that a row is in.
void name_row(Naming* naming, const KeyRow& row) {
  for (int k = 0; k < naming->side.nkeys; ++k) {
    uint64 hash;
    if ((naming->keys >> k & 1) == 0 || !hash_key(&naming->side, row, k, &hash)) continue;
    WantedBlock block = {{hash, static_cast<uint64>(k)}, 0};
    const auto* found = static_cast<WantedBlock*>(hash_search(naming->wanted, &block.key, HASH_FIND, nullptr));
    if (found == nullptr || naming->values[found->block] != nullptr) continue;
    naming->values[found->block] = shown_key(naming, row, k);
    --naming->left;
  }
}

text** name_blocks(FunctionCallInfo fcinfo, const OversizedBlock* blocks, size_t count, int most_bytes) {
  Naming naming = {};
  naming.values = static_cast<text**>(palloc0(Max(count, static_cast<size_t>(1)) * sizeof(text*)));
  naming.left = count;
  naming.most_bytes = most_bytes;
  if (count == 0) return naming.values;
  open_side(&naming.side, "query", DatumGetTextPP(PG_GETARG_DATUM(0)), InvalidOid);
  HASHCTL control = {};
  control.keysize = sizeof(WantedBlock::key);
  control.entrysize = sizeof(WantedBlock);
  control.hcxt = CurrentMemoryContext;
  naming.wanted =
      hash_create("neardup blocks", static_cast<long>(count), &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  for (size_t i = 0; i < count; ++i) {
    WantedBlock block = {{blocks[i].hash, blocks[i].key}, 0};
    bool found;
    static_cast<WantedBlock*>(hash_search(naming.wanted, &block.key, HASH_ENTER, &found))->block = i;
    naming.keys |= static_cast<uint64>(1) << blocks[i].key;
  }
  read_key_rows(&naming.side.source, [&](const KeyRow& row) {
    name_row(&naming, row);
    return naming.left > 0;
  });
  hash_destroy(naming.wanted);
  return naming.values;
}

// A copy that outlives the engine.
OversizedBlock* copy_oversized(BlockCall* call, size_t* count) {
  const OversizedBlock* blocks = nullptr;
  call_core([&] {
    blocks = call->engine->object->oversized().data();
    *count = call->engine->object->oversized().size();
  });
  auto* copy = static_cast<OversizedBlock*>(palloc(Max(*count, static_cast<size_t>(1)) * sizeof(OversizedBlock)));
  if (*count > 0) memcpy(copy, blocks, *count * sizeof(OversizedBlock));
  return copy;
}

void return_oversized(FunctionCallInfo fcinfo, const BlockCall& call, const BlockStats& stats,
                      const OversizedBlock* blocks, size_t count) {
  // Naming them reads the query once more.
  if (stats.oversized == 0 || !message_level_is_interesting(NOTICE)) return;
  text** values = name_blocks(fcinfo, blocks, count, kNamedBytes);
  StringInfoData list;
  initStringInfo(&list);
  for (size_t i = 0; i < count; ++i) {
    appendStringInfo(&list, "%skey %u = ", i == 0 ? "" : "; ", blocks[i].key + 1);
    if (values[i] == nullptr) {
      appendStringInfoString(&list, "?");
    } else {
      appendStringInfo(&list, "\"%s\"", text_to_cstring(values[i]));
    }
    appendStringInfo(&list, ": " UINT64_FORMAT, blocks[i].rows_a);
    if (call.two_sets) appendStringInfo(&list, " and " UINT64_FORMAT, blocks[i].rows_b);
    appendStringInfoString(&list, " rows");
  }
  ereport(NOTICE, (errmsg_plural(UINT64_FORMAT " value that more than %d rows share made no pairs",
                                 UINT64_FORMAT " values that more than %d rows share made no pairs", stats.oversized,
                                 stats.oversized, call.max_block),
                   errdetail("%s: %s.", stats.oversized > count ? "The largest" : "Left out", list.data),
                   errhint("oversized_blocks() lists them. Make the key finer, or raise max_block.")));
}

// int[] of the keys in a mask; few masks are there, and each array is made once.
struct KeyArrays {
  static constexpr uint32 kArraySlots = 251;
  uint64 mask[kArraySlots];
  Datum array[kArraySlots];
};

Datum key_array(KeyArrays* arrays, uint64 mask, MemoryContext context) {
  const uint32 slot = static_cast<uint32>(mask % KeyArrays::kArraySlots);
  if (arrays->mask[slot] == mask) return arrays->array[slot];
  Datum keys[kMaxKeys];
  int n = 0;
  for (int k = 0; k < kMaxKeys; ++k)
    if (mask >> k & 1) keys[n++] = Int32GetDatum(k + 1);
  MemoryContext old = MemoryContextSwitchTo(context);
  if (arrays->mask[slot] != 0) pfree(DatumGetPointer(arrays->array[slot]));
  arrays->array[slot] = array_datum(keys, static_cast<size_t>(n), INT4OID);
  arrays->mask[slot] = mask;
  MemoryContextSwitchTo(old);
  return arrays->array[slot];
}

void put_pairs(ReturnSetInfo* rows, BlockCall* call) {
  enum Column { kIdA, kIdB, kKeys, kColumns };
  IdStore* ids_a = call->a.source.ids;
  IdStore* ids_b = call->two_sets ? call->b.source.ids : ids_a;
  MemoryContext context = CurrentMemoryContext;
  MemoryContext copies = AllocSetContextCreate(context, "neardup pair", ALLOCSET_SMALL_SIZES);
  auto* batch = static_cast<BlockedPair*>(palloc(kBlockedBatch * sizeof(BlockedPair)));
  auto* arrays = static_cast<KeyArrays*>(palloc0(sizeof(KeyArrays)));
  uint64 returned = 0;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    size_t n = 0;
    call_core([&] { n = call->engine->object->next(batch, kBlockedBatch); });
    if (n == 0) break;
    for (size_t i = 0; i < n; ++i) {
      ResultRow<Column> row;
      row.set(kIdA, ids_a == ids_b ? kept_id(ids_a, batch[i].a, copies) : id_at(ids_a, batch[i].a));
      row.set(kIdB, id_at(ids_b, batch[i].b));
      row.set(kKeys, key_array(arrays, batch[i].keys, context));
      row.put(rows);
    }
    report_pairs(returned += n);
  }
  end_stage(&call->stages, "pairs returned", psprintf(UINT64_FORMAT " pairs", returned));
}

Datum blocked_pairs(FunctionCallInfo fcinfo, const Arguments& at) {
  const Oid id_type = at.id == -1 ? INT8OID : get_fn_expr_argtype(fcinfo->flinfo, at.id);
  if (at.id != -1 && !PG_ARGISNULL(at.id))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("id names the type of the ids and must be NULL"),
                    errhint("Write id => NULL::text, or max_block => for a number.")));
  if (!OidIsValid(id_type)) elog(ERROR, "could not determine the type of the ids");
  BlockCall call = {};
  call.function = Searching::blocked_pairs;
  call.listed = kNamed;
  ReturnSetInfo* rows = begin_rows(fcinfo);
  SPI_connect();
  begin_blocks(fcinfo, &call, at, id_type);
  call_core([&] { call.engine->object->run(call.a.rank, call.b.rank); });
  BlockStats stats;
  call_core([&] { stats = call.engine->object->stats(); });
  end_stage(&call.stages, "pairs found",
            psprintf(UINT64_FORMAT " keys of " UINT64_FORMAT " rows, " UINT64_FORMAT " blocks with " UINT64_FORMAT
                                   " pairs, %zu MB in memory, " UINT64_FORMAT " MB on disk",
                     stats.entries, stats.rows, stats.blocks, stats.emitted, stats.peak_bytes >> 20,
                     stats.spilled_bytes >> 20));
  report_phase(Phase::returning);
  put_pairs(rows, &call);
  size_t count = 0;
  OversizedBlock* blocks = copy_oversized(&call, &count);
  end_blocks(&call);
  free_ids(call.a.source.ids);
  if (call.two_sets) free_ids(call.b.source.ids);
  return_oversized(fcinfo, call, stats, blocks, count);
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // namespace

// blocked_pairs(query text, query_b text, max_block int)
SQL_FUNCTION(neardup_blocked_pairs) { return blocked_pairs(fcinfo, {1, 2, -1}); }

// blocked_pairs(query text, id anyelement, max_block int)
SQL_FUNCTION(neardup_blocked_pairs_within) { return blocked_pairs(fcinfo, {-1, 2, 1}); }

// blocked_pairs(query text, query_b text, id anyelement, max_block int)
SQL_FUNCTION(neardup_blocked_pairs_between) { return blocked_pairs(fcinfo, {1, 3, 2}); }

// oversized_blocks(query text, query_b text, max_block int)
SQL_FUNCTION(neardup_oversized_blocks) {
  BlockCall call = {};
  call.function = Searching::oversized_blocks;
  call.listed = kListed;
  ReturnSetInfo* rows = begin_rows(fcinfo);
  SPI_connect();
  begin_blocks(fcinfo, &call, {1, 2, -1}, InvalidOid);
  call_core([&] { call.engine->object->count(); });
  BlockStats stats;
  call_core([&] { stats = call.engine->object->stats(); });
  size_t count = 0;
  const OversizedBlock* blocks = copy_oversized(&call, &count);
  end_blocks(&call);
  text** names = name_blocks(fcinfo, blocks, count, kListedBytes);
  enum Column { kKey, kValue, kRowsOfA, kRowsOfB, kColumns };
  for (size_t i = 0; i < count; ++i) {
    ResultRow<Column> row;
    row.set(kKey, Int32GetDatum(static_cast<int32>(blocks[i].key + 1)));
    if (names[i] != nullptr) row.set(kValue, PointerGetDatum(names[i]));
    row.set(kRowsOfA, Int64GetDatum(static_cast<int64>(blocks[i].rows_a)));
    if (call.two_sets) row.set(kRowsOfB, Int64GetDatum(static_cast<int64>(blocks[i].rows_b)));
    row.put(rows);
    if (i % kRowsChecked == 0) CHECK_FOR_INTERRUPTS();
  }
  if (stats.oversized > count)
    ereport(NOTICE,
            (errmsg("the %zu largest of " UINT64_FORMAT " oversized blocks are listed", count, stats.oversized)));
  SPI_finish();
  return static_cast<Datum>(0);
}
