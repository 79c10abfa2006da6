// neardup_without_windows(): a document without the windows that a job keeps.
#include "core/passages/stored_windows.h"
#include "pg/base/context.h"
#include "pg/base/open_table.h"
#include "pg/values/arrays.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

constexpr const char* kWindowsColumn = "windows";

struct Cutting {
  WindowSet set;
  WindowCutter cutter;

  Cutting(const StoredShape& shape, size_t memory, PgTempFiles* files, PgStop* stop)
      : set(memory, files, stop), cutter(shape, &set, stop) {}
};

// The windows of a table that a call site has read, for the next rows.
struct Loaded {
  Oid table;
  StoredShape shape;
  Owned<Cutting>* cutting;
};

[[noreturn]] void refuse_row(Relation table, const char* why) {
  ereport(ERROR,
          (errcode(ERRCODE_DATA_EXCEPTION), errmsg("the passages in table %s %s", qualified_name(table), why),
           errhint("They were changed by hand. CALL refresh_duplicates(.., rebuild => true) makes them again.")));
  pg_unreachable();
}

Relation open_windows(Oid oid) {
  const OpenTable opened = open_readable(oid);
  if (opened.refusal == Refusal::missing)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("the table of passages with OID %u does not exist", oid)));
  Relation table = opened.relation;
  if (opened.refusal == Refusal::privilege || (table != nullptr && !may_read_all(table)))
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for table %s", get_rel_name(oid))));
  const AttrNumber windows = get_attnum(oid, kWindowsColumn);
  if (table == nullptr || table->rd_rel->relkind != RELKIND_RELATION || windows <= 0 ||
      get_atttype(oid, windows) != INT8ARRAYOID)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("%s is no table of passages that a job has made", qualified_name(oid))));
  return table;
}

// The numbers of a row, palloc'd.
uint64_t* read_numbers(Relation table, Datum windows, size_t* n) {
  const Elements all = array_elements(DatumGetArrayTypeP(windows));
  if (all.count < 1 || static_cast<size_t>(all.count) > WindowSet::kMaxBlockNumbers)
    refuse_row(table, psprintf("have a row of %d windows", all.count));
  auto* numbers = static_cast<uint64_t*>(palloc(static_cast<size_t>(all.count) * sizeof(uint64_t)));
  for (int i = 0; i < all.count; ++i) {
    if (all.nulls[i]) refuse_row(table, "have a window that is NULL");
    numbers[i] = static_cast<uint64_t>(DatumGetInt64(all.values[i]));
    if (i > 0 && DatumGetInt64(all.values[i]) <= DatumGetInt64(all.values[i - 1]))
      refuse_row(table, "do not ascend in a row");
  }
  *n = static_cast<size_t>(all.count);
  return numbers;
}

// In the order of bigint negative numbers come first: they are the greatest here.
void add_block(WindowSet* set, uint64_t* numbers, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    while (end < n && (numbers[end] >> 63) == (numbers[i] >> 63)) ++end;
    set->add(numbers + i, end - i);
    i = end;
  }
}

Owned<Cutting>* load(Oid oid, const StoredShape& shape, MemoryContext context) {
  Owned<Cutting>* cutting = make_owned<Cutting>(context, [&](PgStop* stop, PgTempFiles* files) {
    return new Cutting(shape, static_cast<size_t>(work_mem) * 1024, files, stop);
  });
  Relation table = open_windows(oid);
  const AttrNumber windows = get_attnum(oid, kWindowsColumn);
  MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "neardup passages", ALLOCSET_DEFAULT_SIZES);
  scan_table(table, nullptr, [&](HeapTuple row) {
    CHECK_FOR_INTERRUPTS();
    MemoryContext old = MemoryContextSwitchTo(each);
    bool is_null;
    const Datum block = heap_getattr(row, windows, RelationGetDescr(table), &is_null);
    if (is_null) refuse_row(table, "have a row that is NULL");
    size_t n;
    uint64_t* numbers = read_numbers(table, block, &n);
    call_core([&] { add_block(&cutting->object->set, numbers, n); });
    MemoryContextSwitchTo(old);
    MemoryContextReset(each);
    return true;
  });
  MemoryContextDelete(each);
  relation_close(table, NoLock);
  call_core([&] { cutting->object->set.finish(); });
  return cutting;
}

bool is_same(const StoredShape& a, const StoredShape& b) {
  return a.unit == b.unit && a.units == b.units && a.key == b.key;
}

// A call site reads a table once for a statement.
Cutting* need_cutting(FunctionCallInfo fcinfo, Oid table, const StoredShape& shape) {
  auto* loaded = static_cast<Loaded*>(fcinfo->flinfo->fn_extra);
  if (loaded != nullptr && loaded->table == table && is_same(loaded->shape, shape)) return loaded->cutting->object;
  MemoryContext context = fcinfo->flinfo->fn_mcxt;
  if (loaded == nullptr) {
    loaded = static_cast<Loaded*>(MemoryContextAllocZero(context, sizeof(Loaded)));
    fcinfo->flinfo->fn_extra = loaded;
  } else if (loaded->cutting != nullptr) {
    destroy_owned(loaded->cutting);
    loaded->cutting = nullptr;
  }
  loaded->table = InvalidOid;
  loaded->cutting = load(table, shape, context);
  loaded->table = table;
  loaded->shape = shape;
  return loaded->cutting->object;
}

}  // namespace

// neardup_without_windows(document text, passages regclass, min_units int, unit text, key bigint, team bigint) -> text
SQL_FUNCTION(neardup_without_windows) {
  const Utf8 document = to_utf8(PG_GETARG_TEXT_PP(0));
  const Oid table = PG_GETARG_OID(1);
  const int32 units = PG_GETARG_INT32(2);
  const Unit unit = unit_arg(fcinfo, 3);
  call_core([&] { check_window_units(unit, units, "min_units"); });
  const StoredShape shape{unit, static_cast<uint32_t>(units), static_cast<uint64_t>(PG_GETARG_INT64(4))};
  const auto group = static_cast<uint64_t>(PG_GETARG_INT64(5));
  Cutting* cutting = need_cutting(fcinfo, table, shape);
  auto* left =
      static_cast<char*>(MemoryContextAllocHuge(CurrentMemoryContext, Max(document.size, static_cast<size_t>(1))));
  size_t size = 0;
  call_core([&] {
    const std::string out = cutting->cutter.cut(group, document.data, document.size);
    size = out.copy(left, out.size());
  });
  return text_datum_of_utf8(left, size);
}
