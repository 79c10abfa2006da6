// See record_table.h.
#include "cli/load/record_table.h"

#include <charconv>
#include <stdexcept>

#include "cli/base/table.h"

namespace neardup::cli {
namespace {

constexpr std::string_view kSuffix = "_files";
constexpr std::size_t kNameBytes = 63;

// The quoted name of the table of files.
std::string name_of_files(const std::string& quoted_table) {
  std::string name = quoted_table;
  name.insert(name.size() - 1, kSuffix);
  return name;
}

// The bytes of the table's name without schema and quotes.
std::size_t length_of_name(const std::string& quoted) {
  std::size_t length = 0;
  for (std::size_t i = quoted.size() - 1; i-- > 0;) {
    if (quoted[i] == '"' && (i == 0 || quoted[i - 1] != '"')) break;
    if (quoted[i] == '"') --i;
    ++length;
  }
  return length;
}

// Why the table of files is not to be used; empty where it is. One of another role may have triggers and policies,
// which would run with our rights.
std::string owner_problem(Connection& db, const std::string& table, const std::string& files) {
  const Result found = db.query(
      "SELECT f.relkind OPERATOR(pg_catalog.=) 'r', pg_catalog.pg_has_role(f.relowner, t.relowner, 'MEMBER') OR "
      "o.rolsuper"
      "  OR o.rolname OPERATOR(pg_catalog.=) CURRENT_USER, pg_catalog.quote_ident(o.rolname)"
      " FROM pg_catalog.pg_class f JOIN pg_catalog.pg_roles o ON o.oid OPERATOR(pg_catalog.=) f.relowner,"
      " pg_catalog.pg_class t WHERE f.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1)"
      " AND t.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($2)",
      Params().text(files).text(table));
  if (PQntuples(found.get()) == 0) return "table " + files + " has just been dropped";
  if (!get_bool(found, 0, 0)) return files + " is not an ordinary table; name a new table";
  if (get_bool(found, 0, 1)) return {};
  return "table " + files + " belongs to " + std::string(get_text(found, 0, 2)) +
         ", who is neither you nor a member of the owner of " + table + "; name a new table, or give it to that owner";
}

constexpr TableColumn kRecordColumns[] = {
    {"record_id", "text"}, {"at", "timestamp with time zone"}, {"attributes", "jsonb"}};
constexpr TableColumn kFileColumns[] = {{"path", "text"},
                                        {"size", "bigint"},
                                        {"mtime", "timestamp with time zone"},
                                        {"records", "bigint"},
                                        {"options", "text"}};

// Makes a statement again that meets another loader's.
template <class Call>
void repeated(Call call) {
  for (int attempt = 0;; ++attempt) {
    try {
      call();
      return;
    } catch (const DatabaseError& error) {
      if (error.connection_lost() || !error.in_class("40") || attempt >= kRaces) throw;
    }
  }
}

}  // namespace

RecordTable::RecordTable(Connection& db, std::string quoted_table)
    : db_(db), table_(std::move(quoted_table)), files_(name_of_files(table_)) {
  // a table of that name may be anyone's, which is of no interest while there are no records
  files_there_ = length_of_name(files_) <= kNameBytes && table_exists(db_, files_) &&
                 owner_problem(db_, table_, files_).empty() && column_problem(db_, table_, kRecordColumns).empty() &&
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
                                    "OPERATOR(pg_catalog.||) f.records::pg_catalog.text)))",
                                Params().text_array(paths));
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    std::string path(get_text(rows, i, 0));
    known[path] = {path, get_int8(rows, i, 1), get_int8(rows, i, 2), get_int8(rows, i, 3),
                   std::string(get_text(rows, i, 4))};
  }
  return known;
}

void RecordTable::check_owner() {
  const std::string problem = owner_problem(db_, table_, files_);
  if (!problem.empty()) throw std::runtime_error(problem);
}

void RecordTable::prepare() {
  if (prepared_) return;
  if (length_of_name(files_) > kNameBytes)
    throw std::runtime_error("the name of table " + table_ + " is too long for files of records: the table " + files_ +
                             " stands beside it");
  const bool there = table_exists(db_, files_);
  if (there) check_owner();
  const Result missing = db_.query(
      "SELECT pg_catalog.count(*) OPERATOR(pg_catalog.<) 3 FROM pg_catalog.pg_attribute"
      " WHERE attrelid OPERATOR(pg_catalog.=) $1::pg_catalog.regclass"
      " AND attname OPERATOR(pg_catalog.=) ANY (ARRAY['record_id', 'at', 'attributes'])"
      " AND attnum OPERATOR(pg_catalog.>) 0 AND NOT attisdropped",
      Params().text(table_));
  if (get_bool(missing, 0, 0))
    db_.query("ALTER TABLE " + table_ +
              " ADD COLUMN IF NOT EXISTS record_id pg_catalog.text, ADD COLUMN IF NOT EXISTS at pg_catalog.timestamptz,"
              " ADD COLUMN IF NOT EXISTS attributes pg_catalog.jsonb");
  check_columns(db_, table_, kRecordColumns);
  if (!there) {
    try {
      db_.query("CREATE TABLE " + files_ +
                " (path pg_catalog.text PRIMARY KEY, size pg_catalog.int8 NOT NULL,"
                " mtime pg_catalog.timestamptz NOT NULL, records pg_catalog.int8 NOT NULL,"
                " options pg_catalog.text NOT NULL)");
      db_.query("COMMENT ON TABLE " + files_ +
                " IS 'files of records that neardup load has read; size -1: not to their end'");
    } catch (const DatabaseError& error) {
      if (error.connection_lost() || !table_exists(db_, files_)) throw;  // another loader was faster
    }
    check_owner();
  }
  check_columns(db_, files_, kFileColumns);
  files_there_ = prepared_ = true;
}

std::string RecordTable::note(const RecordFile& file) {
  const std::string sql = "INSERT INTO " + files_ +
                          " AS f (path, size, mtime, records, options) VALUES ($1, $2, $3, $4, $5)"
                          " ON CONFLICT (path) DO UPDATE SET size = EXCLUDED.size, mtime = EXCLUDED.mtime,"
                          " records = EXCLUDED.records, options = EXCLUDED.options";
  try {
    repeated([&] {
      db_.query(sql,
                Params().text(file.path).int8(file.size).timestamptz(file.mtime).int8(file.records).text(file.options));
    });
  } catch (const DatabaseError& error) {
    if (error.connection_lost() || !(error.in_class("22") || error.in_class("54"))) throw;
    return error.what();
  }
  return {};
}

void RecordTable::forget(const std::string& path) {
  repeated(
      [&] { db_.query("DELETE FROM " + files_ + " f WHERE f.path OPERATOR(pg_catalog.=) $1", Params().text(path)); });
}

bool RecordTable::has_record(std::string_view path) {
  const std::size_t mark = path.rfind('#');
  if (!files_there_ || mark == std::string_view::npos) return false;
  std::int64_t number = 0;
  const char* const end = path.data() + path.size();
  const auto [rest, error] = std::from_chars(path.data() + mark + 1, end, number);
  if (error != std::errc() || rest != end || number < 1 || path[mark + 1] == '0') return false;
  const Result found = db_.query("SELECT EXISTS (SELECT FROM " + files_ +
                                     " f WHERE f.path OPERATOR(pg_catalog.=) $1"
                                     " AND (f.size OPERATOR(pg_catalog.=) $3 OR f.records OPERATOR(pg_catalog.>=) $4))"
                                     " AND EXISTS (SELECT FROM " +
                                     table_ + " t WHERE t.path OPERATOR(pg_catalog.=) $2)",
                                 Params().text(path.substr(0, mark)).text(path).int8(kUnfinished).int8(number));
  return get_bool(found, 0, 0);
}

}  // namespace neardup::cli
