// create_lexicon(): the words of a query's documents in a table, for I-Match.
#include "pg/base/held_names.h"
#include "pg/base/open_table.h"
#include "pg/sql/new_table.h"

namespace {

using namespace neardup;

// A lexicon is one table, of that very name.
constexpr int kMostNameBytes = NAMEDATALEN - 1;

Sql create_table(const QualifiedName& lexicon) {
  return sql(
      "CREATE TABLE {lexicon} "
      "(term text COLLATE \"C\" NOT NULL, document_frequency bigint NOT NULL, idf float8 NOT NULL)",
      {{"lexicon", lexicon}});
}

// $1: the query of a user, which runs with his search_path. So nothing is named without its schema.
Sql count_terms(const QualifiedName& lexicon, const Identifier& internal) {
  return sql(
      "WITH part AS MATERIALIZED (SELECT * FROM {internal}.neardup_term_counts($1)), "
      "all_of_them AS (SELECT p.documents::pg_catalog.float8 AS n FROM part p WHERE p.term IS NULL), "
      "counted AS (SELECT p.term, pg_catalog.sum(p.documents)::pg_catalog.int8 AS documents FROM part p "
      "WHERE p.term IS NOT NULL GROUP BY p.term) "
      "INSERT INTO {lexicon} SELECT c.term, c.documents, "
      "pg_catalog.ln(a.n OPERATOR(pg_catalog./) c.documents::pg_catalog.float8) FROM counted c, all_of_them a",
      {{"lexicon", lexicon}, {"internal", internal}});
}

Sql add_key(const QualifiedName& lexicon) {
  return sql("ALTER TABLE {lexicon} ADD PRIMARY KEY (term)", {{"lexicon", lexicon}});
}

Sql number_of_documents(const QualifiedName& lexicon) {
  return sql("SELECT round(document_frequency::float8 * exp(idf))::int8 FROM {lexicon} LIMIT 1",
             {{"lexicon", lexicon}});
}

Sql set_comment(const QualifiedName& lexicon, int64 documents) {
  return sql(
      "COMMENT ON TABLE {lexicon} IS {comment}",
      {{"lexicon", lexicon}, {"comment", Literal(psprintf("lexicon of " INT64_FORMAT " documents", documents))}});
}

bool exists(const QualifiedName& lexicon) { return OidIsValid(relation_named(cstring_to_text(lexicon.text()))); }

// Where another session makes it meanwhile, it exists.
void make_table(const QualifiedName& lexicon) {
  const CatalogPath path = CatalogPath::begin();
  for (bool made = false; !made;) {
    if (exists(lexicon))
      ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("relation %s exists already", lexicon.text()),
                      errhint("Drop it, or choose another name.")));
    made = made_first({lexicon}, [&] { run_statement(create_table(lexicon)); });
  }
  made_here(cstring_to_text(lexicon.text()));
  path.end();
}

void finish(const QualifiedName& lexicon) {
  const CatalogPath path = CatalogPath::begin();
  run_statement(add_key(lexicon));
  run_statement(set_comment(lexicon, one_int64(number_of_documents(lexicon))));
  path.end();
}

}  // namespace

// create_lexicon(name text, query text) -> bigint: how many terms it has
SQL_FUNCTION(neardup_create_lexicon) {
  const NewName name =
      new_name(PG_ARGISNULL(0) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(0)), "a lexicon", kMostNameBytes);
  if (PG_ARGISNULL(1))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name and query must not be NULL")));
  SPI_connect();
  const QualifiedName lexicon(name.schema, name.name);
  make_table(lexicon);
  const Identifier internal = internal_schema(fcinfo->flinfo->fn_oid);
  const uint64 terms = run_statement(count_terms(lexicon, internal), {value(TEXTOID, PG_GETARG_DATUM(1))});
  if (terms == 0)
    ereport(ERROR, (errcode(ERRCODE_NO_DATA_FOUND), errmsg("query returned no document that holds a word")));
  finish(lexicon);
  SPI_finish();
  PG_RETURN_INT64(static_cast<int64>(terms));
}
