// What the database keeps of files of records: three columns of the table of documents, and a table of the files.
#include "cli/record_table.h"

#include <stdexcept>

namespace neardup::cli {
namespace {

constexpr std::string_view kSuffix = "_files";
constexpr std::size_t kLongestName = 63;

// The quoted name of the table of files.
std::string name_of_files(const std::string& quoted_table) {
  std::string name = quoted_table;
  name.insert(name.size() - 1, kSuffix);
  return name;
}

// Without schema and quotes.
std::size_t length_of_name(const std::string& quoted) {
  std::size_t length = 0;
  for (std::size_t i = quoted.size() - 1; i-- > 0;) {
    if (quoted[i] == '"' && (i == 0 || quoted[i - 1] != '"')) break;
    if (quoted[i] == '"') --i;
    ++length;
  }
  return length;
}

bool exists(Connection& db, const std::string& quoted) {
  return get_bool(db.query("SELECT pg_catalog.to_regclass($1) IS NOT NULL", Params().text(quoted)), 0, 0);
}

struct Column {
  const char* name;
  const char* type;
};
constexpr Column kRecordColumns[] = {
    {"record_id", "text"}, {"at", "timestamp with time zone"}, {"attributes", "jsonb"}};
constexpr Column kFileColumns[] = {{"path", "text"},
                                   {"size", "bigint"},
                                   {"mtime", "timestamp with time zone"},
                                   {"records", "bigint"},
                                   {"options", "text"}};

// Why the table does not have the columns; empty where it does.
template <std::size_t N>
std::string column_problem(Connection& db, const std::string& table, const Column (&columns)[N]) {
  for (const Column& column : columns) {
    const Result found = db.query(
        "SELECT pg_catalog.format_type(atttypid, NULL) FROM pg_catalog.pg_attribute"
        " WHERE attrelid = $1::pg_catalog.regclass AND attname = $2 AND attnum > 0 AND NOT attisdropped",
        Params().text(table).text(column.name));
    const std::string there = PQntuples(found.get()) == 0 ? "missing" : std::string(get_text(found, 0, 0));
    if (there != column.type)
      return "column " + std::string(column.name) + " of table " + table + " is " + there + ", not " + column.type +
             "; name a new table";
  }
  return {};
}

template <std::size_t N>
void check_columns(Connection& db, const std::string& table, const Column (&columns)[N]) {
  const std::string problem = column_problem(db, table, columns);
  if (!problem.empty()) throw std::runtime_error(problem);
}

}  // namespace

RecordTable::RecordTable(Connection& db, std::string quoted_table)
    : db_(db), table_(std::move(quoted_table)), files_(name_of_files(table_)) {
  // a table of that name may be anyone's, which is of no interest while there are no records
  files_there_ = length_of_name(files_) <= kLongestName && exists(db_, files_) &&
                 column_problem(db_, table_, kRecordColumns).empty() &&
                 column_problem(db_, files_, kFileColumns).empty();
}

std::unordered_map<std::string, RecordFile> RecordTable::look_up(const std::vector<std::string_view>& paths) {
  std::unordered_map<std::string, RecordFile> known;
  if (!files_there_ || paths.empty()) return known;
  const Result rows = db_.query("SELECT f.path, f.size, f.mtime, f.records, f.options FROM " + files_ +
                                    " f WHERE f.path OPERATOR(pg_catalog.=) ANY ($1) AND (f.records "
                                    "OPERATOR(pg_catalog.=) 0 OR EXISTS (SELECT FROM " +
                                    table_ +
                                    " t WHERE t.path OPERATOR(pg_catalog.=) (f.path OPERATOR(pg_catalog.||) '#' "
                                    "OPERATOR(pg_catalog.||) f.records::text)))",
                                Params().text_array(paths));
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    std::string path(get_text(rows, i, 0));
    known[path] = {path, get_int8(rows, i, 1), get_int8(rows, i, 2), get_int8(rows, i, 3),
                   std::string(get_text(rows, i, 4))};
  }
  return known;
}

void RecordTable::prepare() {
  if (prepared_) return;
  if (length_of_name(files_) > kLongestName)
    throw std::runtime_error("the name of table " + table_ + " is too long for files of records: the table " + files_ +
                             " stands beside it");
  const Result missing = db_.query(
      "SELECT pg_catalog.count(*) < 3 FROM pg_catalog.pg_attribute WHERE attrelid = $1::pg_catalog.regclass"
      " AND attname IN ('record_id', 'at', 'attributes') AND attnum > 0 AND NOT attisdropped",
      Params().text(table_));
  if (get_bool(missing, 0, 0))
    db_.query("ALTER TABLE " + table_ +
              " ADD COLUMN IF NOT EXISTS record_id text, ADD COLUMN IF NOT EXISTS at timestamptz,"
              " ADD COLUMN IF NOT EXISTS attributes jsonb");
  check_columns(db_, table_, kRecordColumns);
  if (!files_there_ && !exists(db_, files_)) {
    try {
      db_.query("CREATE TABLE " + files_ +
                " (path text PRIMARY KEY, size bigint NOT NULL, mtime timestamptz NOT NULL, records bigint NOT NULL,"
                " options text NOT NULL)");
      db_.query("COMMENT ON TABLE " + files_ + " IS 'files of records that neardup load has read to their end'");
    } catch (const DatabaseError& error) {
      if (error.connection_lost() || !exists(db_, files_)) throw;  // another loader was faster
    }
  }
  check_columns(db_, files_, kFileColumns);
  files_there_ = prepared_ = true;
}

void RecordTable::note(const RecordFile& file) {
  db_.query("INSERT INTO " + files_ +
                " AS f VALUES ($1, $2, '2000-01-01 00:00:00+00'::timestamptz + $3 * interval '1 microsecond', $4, $5)"
                " ON CONFLICT (path) DO UPDATE SET size = EXCLUDED.size, mtime = EXCLUDED.mtime,"
                " records = EXCLUDED.records, options = EXCLUDED.options",
            Params().text(file.path).int8(file.size).int8(file.mtime).int8(file.records).text(file.options));
}

}  // namespace neardup::cli
