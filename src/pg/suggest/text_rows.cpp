#include "pg/suggest/text_rows.h"

#include "pg/sql/run_statement.h"

extern "C" {
#include "access/transam.h"
#include "access/xact.h"
}

namespace neardup {
namespace {

// A statement of which PostgreSQL has said that it is one, and whole.
class Subquery : public SqlPiece {
 public:
  explicit Subquery(const char* statement) : SqlPiece(psprintf("(%s\n)", statement)) {}
};

// It sees what has happened up to now, as a statement of a VOLATILE function does. Of a function that says it reads
// only, PostgreSQL opens no cursor over what does more.
Portal open_cursor(const char* statement) {
  SPIParseOpenOptions options = {};
  options.cursorOptions = CURSOR_OPT_FAST_PLAN | CURSOR_OPT_NO_SCROLL;
  options.read_only = true;
  CommandCounterIncrement();
  PushActiveSnapshot(GetTransactionSnapshot());
  Portal portal = SPI_cursor_parse_open(nullptr, statement, &options);
  PopActiveSnapshot();
  return portal;
}

// The text of the only statement of a portal, without what follows its semicolon.
const char* only_statement(const char* query, Portal portal) {
  const PlannedStmt* planned = linitial_node(PlannedStmt, portal->stmts);
  const char* begin = query + Max(planned->stmt_location, 0);
  return planned->stmt_len > 0 ? pnstrdup(begin, static_cast<Size>(planned->stmt_len)) : begin;
}

// Opens the query as it stands, and closes it: so a second statement in it is seen for what it is.
const char* checked_statement(const char* query, const char* name) {
  const char* statement = nullptr;
  ErrorData* error = run_undoing([&] {
    Portal portal = open_cursor(query);
    statement = only_statement(query, portal);
    SPI_cursor_close(portal);
  });
  if (error == nullptr) return statement;
  if (error->sqlerrcode != ERRCODE_INVALID_CURSOR_DEFINITION && error->sqlerrcode != ERRCODE_FEATURE_NOT_SUPPORTED)
    ReThrowError(error);
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("%s must be one SELECT, VALUES or TABLE statement that only reads", name),
                  errdetail("PostgreSQL says: %s.", error->message)));
  pg_unreachable();
}

// Each column's text, cut, and the oid of its type. Types that came later than PostgreSQL's own may have a cast to
// text, of whoever owns them: their output is taken.
Sql reading_sql(const char* statement, const WantedColumns& wanted, const Identifier& internal) {
  SqlList columns;
  SqlList names;
  for (int i = 1; i <= wanted.count; ++i) {
    const Identifier name(psprintf("neardup %d", i));
    names.add(name);
    columns.add(
        sql("{internal}.neardup_first_characters("
            "CASE WHEN pg_catalog.pg_typeof({name})::pg_catalog.oid OPERATOR(pg_catalog.<) {later}::pg_catalog.oid"
            " THEN {name}::pg_catalog.text"
            " WHEN {name} IS NOT NULL THEN pg_catalog.format('%s', {name}) END, {most}), "
            "pg_catalog.pg_typeof({name})::pg_catalog.oid",
            {{"internal", internal},
             {"name", name},
             {"later", Literal::number(static_cast<int64>(FirstNormalObjectId))},
             {"most", Literal::number(static_cast<int64>(kMostCharacters + 1))}}));
  }
  return sql(R"(SELECT {columns} FROM {query} "neardup query"({names}))",
             {{"columns", columns.all()}, {"query", Subquery(statement)}, {"names", names.all()}});
}

}  // namespace

TextRows TextRows::open(const char* query, const WantedColumns& wanted, const Identifier& internal) {
  const Sql statement = reading_sql(checked_statement(query, wanted.query), wanted, internal);
  Portal portal = nullptr;
  ErrorData* error = run_undoing([&] { portal = open_cursor(statement.text()); });
  if (error == nullptr) return TextRows(portal);
  if (error->sqlerrcode == ERRCODE_INVALID_COLUMN_REFERENCE)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s must return %s columns: %s", wanted.query, wanted.count_word, wanted.names),
                    errdetail("PostgreSQL says: %s.", error->message)));
  ReThrowError(error);
  pg_unreachable();
}

bool TextRows::next() {
  CHECK_FOR_INTERRUPTS();
  SPI_freetuptable(SPI_tuptable);
  SPI_cursor_fetch(portal_, true, 1);
  return SPI_processed > 0;
}

void TextRows::close() {
  SPI_freetuptable(SPI_tuptable);
  SPI_cursor_close(portal_);
}

const text* TextRows::value(int column) const {
  bool is_null;
  const Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2 * column + 1, &is_null);
  return is_null ? nullptr : DatumGetTextPP(value);
}

Oid TextRows::type(int column) const {
  bool is_null;
  return DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2 * column + 2, &is_null));
}

}  // namespace neardup
