// See stored_keys.h.
#include "pg/lsh/store/stored_keys.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/base/message_text.h"
#include "pg/base/open_table.h"
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/lsh_columns.h"

extern "C" {
#include "optimizer/plancat.h"
}

namespace neardup {

uint64_t stored_key(uint64_t key, bool final) {
  if (final) return key;
  const uint64_t cut = mix64(key) >> (64 - kKeyBits);
  return cut == kRosterKey ? 1 : cut;
}

StoredKeys unsorted_keys(Relation index, const IndexedRow& row, const LshConfig* config) {
  if (!row.has_keys()) return {nullptr, 0};
  KeysRequest request{};
  request.value = row.value;
  request.config = config;
  call_family(index, kProcKeys, &request);
  if (request.nkeys > kMaxKeysPerRow)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a row of index \"%s\" has %u keys, at most %u are possible", RelationGetRelationName(index),
                           request.nkeys, kMaxKeysPerRow)));
  for (uint32_t i = 0; i < request.nkeys; ++i) {
    const uint64_t key = stored_key(request.keys[i], request.final);
    if (key == kRosterKey || key > kMaxKey)
      elog(ERROR, "the operator class of index \"%s\" gave an impossible key", RelationGetRelationName(index));
    request.keys[i] = salted_key(key, row.salt);
  }
  return {request.keys, request.nkeys};
}

StoredKeys stored_keys(Relation index, const IndexedRow& row, const LshConfig* config) {
  StoredKeys stored = unsorted_keys(index, row, config);
  std::sort(stored.keys, stored.keys + stored.n);
  stored.n = static_cast<uint32_t>(std::unique(stored.keys, stored.keys + stored.n) - stored.keys);
  return stored;
}

void check_options(Relation index) {
  LshConfig config{};
  BindRequest request{};
  request.config = &config;
  request.options = option_values(index);
  request.options_only = true;
  request.typmod = TupleDescAttr(RelationGetDescr(index), value_column(index))->atttypmod;
  request.can_raise = true;
  call_family(index, kProcBind, &request);
}

namespace {

double table_rows(Relation index) {
  Relation heap = table_open(index->rd_index->indrelid, NoLock);
  BlockNumber pages;
  double rows;
  double all_visible;
  estimate_rel_size(heap, nullptr, &pages, &rows, &all_visible);
  table_close(heap, NoLock);
  return rows;
}

}  // namespace

void bind_config(Relation index, Datum value, LshConfig* config) {
  BindRequest request{};
  request.value = value;
  request.config = config;
  request.options = option_values(index);
  request.rows = table_rows(index);
  request.can_raise = true;
  call_family(index, kProcBind, &request);
  if (config->nbands > kMaxPendingKeys)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("index \"%s\" would need %u keys a row, at most %u are possible",
                           RelationGetRelationName(index), config->nbands, kMaxPendingKeys)));
  // ALTER INDEX may have set it since the index was built, if no row has bound it yet.
  if ((config->flags & kMetaExclusion) != 0 && config->recall < 1)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("an exclusion constraint needs an index that finds every row"),
                    errdetail("The parameters of index \"%s\" give it a recall of %s.", RelationGetRelationName(index),
                              shown(config->recall).text)));
  config->flags |= kMetaBound;
}

void check_value(Relation index, Datum value, LshConfig* config) {
  if (value_matches(index, value, config)) return;
  BindRequest request{};
  request.value = value;
  request.config = config;
  Relation table = table_open(index->rd_index->indrelid, NoLock);
  request.shows_index = may_read_all(table);
  table_close(table, NoLock);
  request.can_raise = true;
  call_family(index, kProcBind, &request);
}

}  // namespace neardup
