#include "pg/sql/run_statement.h"

extern "C" {
#include "access/xact.h"
#include "utils/resowner.h"
}

namespace neardup {

namespace {

constexpr size_t kMaxValues = 20;
constexpr int kRowsPerFetch = 1000;

// As SPI takes them.
struct Parameters {
  Parameters(const Sql& statement, std::initializer_list<SqlValue> values) {
    if (values.size() > kMaxValues) elog(ERROR, "too many parameters: %s", statement.text());
    for (const SqlValue& v : values) {
      types[n] = v.type;
      datums[n] = v.datum;
      nulls[n] = v.is_null ? 'n' : ' ';
      ++n;
    }
  }

  int n = 0;
  Oid types[kMaxValues] = {};
  Datum datums[kMaxValues] = {};
  char nulls[kMaxValues] = {};
};

// The rows are in SPI_tuptable, SPI_processed of them. SPI would leave its own memory context as the current one.
void execute(const Sql& statement, std::initializer_list<SqlValue> values) {
  Parameters p(statement, values);
  MemoryContext context = CurrentMemoryContext;
  const int result = SPI_execute_with_args(statement.text(), p.n, p.types, p.datums, p.nulls, false, 0);
  MemoryContextSwitchTo(context);
  if (result < 0) elog(ERROR, "%s: %s", SPI_result_code_string(result), statement.text());
}

}  // namespace

SqlValue value(const char* v) {
  if (v == nullptr) return {TEXTOID, 0, true};
  return {TEXTOID, CStringGetTextDatum(v), false};
}

uint64 run_statement(const Sql& statement, std::initializer_list<SqlValue> values) {
  execute(statement, values);
  const uint64 rows = SPI_processed;
  SPI_freetuptable(SPI_tuptable);
  return rows;
}

Datum one_value(const Sql& query, std::initializer_list<SqlValue> values, bool* is_null) {
  execute(query, values);
  if (SPI_processed != 1 || SPI_tuptable->tupdesc->natts != 1) elog(ERROR, "not one value: %s", query.text());
  bool null;
  const Datum found = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);
  if (null && is_null == nullptr) elog(ERROR, "NULL: %s", query.text());
  if (is_null != nullptr) *is_null = null;
  const Form_pg_attribute column = TupleDescAttr(SPI_tuptable->tupdesc, 0);
  const Datum copy = null ? 0 : datumCopy(found, column->attbyval, column->attlen);
  SPI_freetuptable(SPI_tuptable);
  return copy;
}

// Reads by a cursor, so that the rows need not fit in memory.
void for_each_row(const Sql& query, std::initializer_list<SqlValue> values,
                  void (*on_row)(void* arg, HeapTuple tuple, TupleDesc desc), void* arg) {
  Parameters parameters(query, values);
  MemoryContext context = CurrentMemoryContext;
  Portal portal = SPI_cursor_open_with_args(nullptr, query.text(), parameters.n, parameters.types, parameters.datums,
                                            parameters.nulls, false, 0);
  uint64 rows;
  do {
    SPI_cursor_fetch(portal, true, kRowsPerFetch);
    MemoryContextSwitchTo(context);
    SPITupleTable* table = SPI_tuptable;
    rows = SPI_processed;
    for (uint64 i = 0; i < rows; ++i) on_row(arg, table->vals[i], table->tupdesc);
    SPI_freetuptable(table);
  } while (rows > 0);
  SPI_cursor_close(portal);
  MemoryContextSwitchTo(context);
}

void put_columns(ReturnSetInfo* rows, HeapTuple tuple, TupleDesc desc) {
  Datum values[MaxHeapAttributeNumber];
  bool nulls[MaxHeapAttributeNumber];
  for (int i = 0; i < rows->setDesc->natts; ++i) values[i] = SPI_getbinval(tuple, desc, i + 1, &nulls[i]);
  tuplestore_putvalues(rows->setResult, rows->setDesc, values, nulls);
}

ErrorData* run_undoing(void (*f)(void*), void* arg) {
  MemoryContext context = CurrentMemoryContext;
  ResourceOwner owner = CurrentResourceOwner;
  ErrorData* volatile error = nullptr;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  PG_TRY();
  {
    f(arg);
    ReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    error = CopyErrorData();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
  if (error != nullptr && error->sqlerrcode == ERRCODE_QUERY_CANCELED) ReThrowError(error);
  return error;
}

}  // namespace neardup
