#include "pg/suggest/sample.h"

#include "pg/base/progress.h"
#include "pg/base/reserve.h"
#include "pg/sql/run_statement.h"
#include "pg/suggest/text_rows.h"
#include "pg/values/characters.h"
#include "pg/values/values.h"

extern "C" {
#include "utils/varlena.h"
}

namespace neardup {
namespace {

constexpr uint32 kMostDocuments = 10000;
constexpr uint64 kEnoughSampleBytes = 20'000'000;
constexpr int kMostEmptyRows = 10000;
constexpr uint64 kMostLabels = 100'000;

constexpr WantedColumns kSampleColumns = {"query", 2, "two", "id, document"};
constexpr WantedColumns kLabelColumns = {"labels", 3, "three", "id_a, id_b, is_duplicate"};

// As it is written where pg_catalog is all that is in the search_path.
const char* name_of_type(Oid type) {
  const CatalogPath path = CatalogPath::begin();
  const char* name = format_type_be(type);
  path.end();
  return name;
}

std::string_view kept(const text* value) { return copy_bytes(bytea_bytes(value), CurrentMemoryContext).view(); }

void demand_text(Oid type) {
  const Oid base = getBaseType(type);
  if (base == TEXTOID || base == VARCHAROID || base == BPCHAROID) return;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("the second column of query must be a document of type text: it is %s", name_of_type(type)),
                  hint_at_text(base)));
}

bool is_full(const Sample& sample) {
  return sample.count == kMostDocuments || sample.bytes > kEnoughSampleBytes || sample.empty_rows > kMostEmptyRows;
}

void add_row(Sample* sample, const TextRows& rows) {
  demand_text(rows.type(1));
  const text* id = rows.value(0);
  if (id == nullptr)
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("query returns a row whose id is NULL")));
  const text* document = rows.value(1);
  const int size = document == nullptr ? 0 : static_cast<int>(VARSIZE_ANY_EXHDR(document));
  if (size == 0) {
    ++sample->empty_rows;
    return;
  }
  const int looked_at = bytes_of_characters(VARDATA_ANY(document), size, kMostCharacters);
  const Utf8 utf8 = copy_bytes(to_utf8(VARDATA_ANY(document), static_cast<size_t>(looked_at)), CurrentMemoryContext);
  sample->ids[sample->count] = kept(id);
  sample->documents[sample->count++] = {utf8.data, utf8.size};
  sample->bytes += static_cast<uint64>(looked_at);
  sample->cut += looked_at < size;
}

int compare_ids(const void* x, const void* y, void*) {
  const auto* a = static_cast<const std::string_view*>(x);
  const auto* b = static_cast<const std::string_view*>(y);
  return varstr_cmp(a->data(), static_cast<int>(a->size()), b->data(), static_cast<int>(b->size()),
                    DEFAULT_COLLATION_OID);
}

void demand_different_ids(const Sample& sample) {
  auto* sorted = static_cast<std::string_view*>(palloc(sample.count * sizeof(std::string_view)));
  memcpy(static_cast<void*>(sorted), sample.ids, sample.count * sizeof(std::string_view));
  sort_interruptible(sorted, sample.count, sizeof(std::string_view), compare_ids, nullptr);
  for (uint32 i = 1; i < sample.count; ++i)
    if (sorted[i] == sorted[i - 1])
      ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION), errmsg("query returns the id %.*s more than once",
                                                                static_cast<int>(sorted[i].size()), sorted[i].data())));
  pfree(sorted);
}

Label read_label(const TextRows& rows, uint64 before) {
  if (rows.type(2) != BOOLOID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the third column of labels must be boolean: it is %s", name_of_type(rows.type(2)))));
  const text* a = rows.value(0);
  const text* b = rows.value(1);
  const text* duplicate = rows.value(2);
  if (a == nullptr || b == nullptr || duplicate == nullptr)
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("labels returns a row with NULL")));
  const Label label = {kept(a), kept(b), bytea_bytes(duplicate).view() == "true"};
  if (label.a == label.b)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("labels pairs the id %.*s with itself", static_cast<int>(label.a.size()), label.a.data())));
  if (before == kMostLabels)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("labels returns more than " UINT64_FORMAT " rows", kMostLabels)));
  return label;
}

}  // namespace

Sample read_sample(const char* query, const Identifier& internal) {
  Sample sample = {};
  sample.documents = static_cast<Document*>(palloc(kMostDocuments * sizeof(Document)));
  sample.ids = static_cast<std::string_view*>(palloc(kMostDocuments * sizeof(std::string_view)));
  TextRows rows = TextRows::open(query, kSampleColumns, internal);
  while (rows.next()) {
    sample.more = is_full(sample);
    if (sample.more) break;
    add_row(&sample, rows);
    report_rows_read(sample.count);
  }
  rows.close();
  if (sample.count == 0)
    ereport(ERROR, (errcode(ERRCODE_NO_DATA_FOUND), errmsg("query returns no document"),
                    sample.empty_rows > 0 ? errdetail("Rows whose document is NULL or empty: %d.", sample.empty_rows)
                                          : errdetail("It returns no row.")));
  demand_different_ids(sample);
  return sample;
}

Labels read_labels(const char* query, const Identifier& internal) {
  Labels read = {};
  TextRows rows = TextRows::open(query, kLabelColumns, internal);
  while (rows.next()) {
    const Label label = read_label(rows, read.count);
    reserve(CurrentMemoryContext, &read.labels, &read.capacity, read.count + 1);
    read.labels[read.count++] = label;
  }
  rows.close();
  return read;
}

}  // namespace neardup
