// `neardup load`: the table that it fills.
#include <stdexcept>

#include "cli/base/job.h"
#include "cli/base/table.h"
#include "cli/load/load.h"

namespace neardup::cli {
namespace {

constexpr TableColumn kDocumentColumns[] = {{"path", "text"},
                                            {"size", "bigint"},
                                            {"mtime", "timestamp with time zone"},
                                            {"content_hash", "bigint"},
                                            {"body", "text"}};

bool create(Connection& db, const LoadOptions& options) {
  const std::string sql = "CREATE TABLE " + options.quoted_table +
                          " (id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                          " path pg_catalog.text NOT NULL UNIQUE, size pg_catalog.int8 NOT NULL,"
                          " mtime pg_catalog.timestamptz NOT NULL, content_hash pg_catalog.int8 NOT NULL,"
                          " body pg_catalog.text NOT NULL)";
  try {
    db.query(sql);
  } catch (const DatabaseError& error) {
    // Another loader was faster: duplicate_table, duplicate_object (its row type), or a unique index of the catalogs,
    // by the moment in which it committed.
    if (!error.connection_lost() && table_exists(db, options.quoted_table)) return false;
    throw;
  }
  db.query("COMMENT ON TABLE " + options.quoted_table + " IS 'files loaded by neardup load'");
  db.query("COMMENT ON COLUMN " + options.quoted_table +
           ".size IS 'bytes on disk (packed, if the file is packed); of a record: its bytes in the file'");
  db.query("COMMENT ON COLUMN " + options.quoted_table + ".content_hash IS 'XXH3_64 of the bytes of body, seed 0'");
  return true;
}

}  // namespace

bool prepare_table(Connection& db, LoadOptions& options) {
  const bool created = !table_exists(db, options.quoted_table) && create(db, options);
  options.quoted_table = qualified_table(db, options.quoted_table);
  const Params table = Params().text(options.quoted_table);
  Result kind = db.query(
      "SELECT relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p']::pg_catalog.\"char\"[]) FROM pg_catalog.pg_class"
      " WHERE oid OPERATOR(pg_catalog.=) $1::pg_catalog.regclass",
      table);
  if (PQntuples(kind.get()) != 1 || !get_bool(kind, 0, 0)) {
    throw std::runtime_error(options.quoted_table + " is not a table");
  }
  check_columns(db, options.quoted_table, kDocumentColumns);
  Result unique = db.query(
      "SELECT EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a"
      "   ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0]"
      " WHERE i.indrelid OPERATOR(pg_catalog.=) $1::pg_catalog.regclass AND i.indisunique AND i.indisvalid"
      "   AND i.indnkeyatts OPERATOR(pg_catalog.=) 1 AND i.indpred IS NULL"
      "   AND a.attname OPERATOR(pg_catalog.=) 'path')",
      table);
  if (!get_bool(unique, 0, 0)) {
    throw std::runtime_error("column path of table " + options.quoted_table + " has no unique index; ALTER TABLE " +
                             options.quoted_table + " ADD UNIQUE (path)");
  }
  return created;
}

void find_decoder(Connection& db, LoadOptions& options) {
  // The function is looked up in the extension: one that search_path finds may belong to any role.
  const std::optional<Extension> extension = find_extension(db, "neardup_decode");
  options.decode_function = extension && extension->has_function ? extension->schema + "neardup_decode" : "";
  if (options.encoding.empty()) return;
  if (options.decode_function.empty()) {
    throw DatabaseError("--encoding needs the function neardup_decode(bytea, text), which this database does not have",
                        "42883", false,
                        "CREATE EXTENSION neardup; or ALTER EXTENSION neardup UPDATE; where its version is older.");
  }
  if (options.encoding == "detect") return;
  // a name that the server does not know is said once, not for every file
  db.query("SELECT d.body FROM " + options.decode_function + "($1, $2) d", Params().bytea("").text(options.encoding));
}

}  // namespace neardup::cli
