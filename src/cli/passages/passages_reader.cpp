// `neardup passages`: what is read from the server, by one statement from one snapshot.
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <strings.h>
#include <utility>

#include "cli/base/interrupt.h"
#include "cli/base/job.h"
#include "cli/passages/passages.h"
#include "cli/report/report_reader.h"

namespace neardup::cli {
namespace {

constexpr const char* kFirstWords[] = {"select", "table", "values", "with"};  // of queries

constexpr int kTextOfPassage = 2000;     // characters
constexpr int kMostUnitsOfShingle = 64;  // that shingle_hashes() takes
constexpr int kTextOfId = 200;

// What a row of the statement is.
enum Kind { kDocuments, kCharacters, kDocument, kPassage, kDocumentOfPassage };

struct Source {
  std::string query;  // of columns id, body and perhaps within
  bool within = false;
  PageAbout about;
};

Source source_of_job(Connection& db, const std::string& name) {
  const Job job = find_job(db, name);
  ReportReader reader(db, job);  // begins the transaction
  if (!reader.no_documents().empty()) throw std::runtime_error(reader.no_documents());
  return {reader.documents_query(), false, reader.about()};
}

// A query may end as in psql; here it stands in parentheses.
std::string without_semicolon(std::string query) {
  query.erase(query.find_last_not_of("; \t\r\n") + 1);
  return query;
}

Source source_of_query(Connection& db, const std::string& text) {
  const std::string query = without_semicolon(text);
  db.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const Result columns = db.query("SELECT * FROM (" + query + "\n) q LIMIT 0");
  const int n = PQnfields(columns.get());
  const bool within = n == 3 && std::string_view(PQfname(columns.get(), 2)) == "within";
  if (n != 2 && !within)
    throw std::runtime_error("the query must return an id, a document and perhaps a column \"within\"; it returns " +
                             std::to_string(n) + (n == 1 ? " column" : " columns"));
  const std::string named = within ? "id, body, within" : "id, body";
  return {"SELECT * FROM (" + query + "\n) q(" + named + ")", within, page_about(db)};
}

// The pattern with each {name} replaced.
std::string filled(std::string pattern, std::initializer_list<std::pair<std::string_view, std::string>> values) {
  for (const auto& [name, value] : values) {
    const std::string placeholder = "{" + std::string(name) + "}";
    for (std::size_t at = 0; (at = pattern.find(placeholder, at)) != std::string::npos; at += value.size())
      pattern.replace(at, placeholder.size(), value);
  }
  return pattern;
}

// The parts of the statement; $1: query of the documents, $2: min_units, $3: unit, $4: at_least.
//   d  the documents            r  the repeated ranges               u  those of each document
//   s  length of each document, and how much of it is repeated       p  the most frequent passages
//   j  the text of each range, and the passages whose first shingle it has
// A range is no more frequent than a passage in it. The shingles leave few ranges to compare with a passage.
constexpr const char* kPartsQuery = R"(
  WITH d AS MATERIALIZED ({documents}),
  r AS MATERIALIZED (
    SELECT * FROM {extension}repeated_passages($1, id => NULL::pg_catalog.text, min_units => $2::pg_catalog.int4,
                                               unit => $3, keep => 'none', at_least => $4::pg_catalog.int4)),
  u AS MATERIALIZED (
    SELECT r.id, pg_catalog.range_agg(pg_catalog.int4range(r.start, r.start OPERATOR(pg_catalog.+) r.length)) AS ranges
    FROM r GROUP BY r.id),
  s AS MATERIALIZED (
    SELECT d.id, pg_catalog.length(d.body)::pg_catalog.int8 AS length,
           COALESCE((SELECT pg_catalog.sum(pg_catalog.upper(x) OPERATOR(pg_catalog.-) pg_catalog.lower(x))
                     FROM pg_catalog.unnest(u.ranges) x), 0)::pg_catalog.int8 AS repeated
    FROM d LEFT JOIN u ON u.id OPERATOR(pg_catalog.=) d.id WHERE d.body IS NOT NULL),
  p AS MATERIALIZED (
    SELECT pg_catalog.row_number() OVER () AS n, c.*,
           (SELECT pg_catalog.count(*) FROM {extension}shingles(c.passage, 1, $3))::pg_catalog.int4 AS units,
           (SELECT h FROM {extension}shingle_hashes(c.passage, {shingle}, $3) h LIMIT 1) AS hash
    FROM {extension}passage_counts($1, min_units => $2::pg_catalog.int4, unit => $3, at_least => $4::pg_catalog.int4,
                                   most => {most}) c
    LIMIT {passages}),
  j AS MATERIALIZED (
    SELECT t.*, ARRAY(SELECT DISTINCT p.n FROM {extension}shingle_hashes(t.text, {shingle}, $3) h
                      JOIN p ON p.hash OPERATOR(pg_catalog.=) h) AS passages
    FROM (SELECT r.id, r.occurrences, pg_catalog.substr(d.body, r.start, r.length) AS text
          FROM r JOIN d ON d.id OPERATOR(pg_catalog.=) r.id OFFSET 0) t))";

// One list of all that the page shows: the kind of a row, a number of the kind, a text and two counts. Of each passage
// some documents that hold it: a range with all of its units lies in each.
constexpr const char* kListsQuery = R"(
  SELECT {kDocuments}::pg_catalog.int8, 0::pg_catalog.int8 AS n, NULL::pg_catalog.text AS text,
         pg_catalog.count(*) AS x, pg_catalog.count(*) FILTER (WHERE s.repeated OPERATOR(pg_catalog.>) 0) AS y
  FROM s
  UNION ALL
  SELECT {kCharacters}, 0, NULL, COALESCE(pg_catalog.sum(s.length), 0)::pg_catalog.int8,
         COALESCE(pg_catalog.sum(s.repeated), 0)::pg_catalog.int8
  FROM s
  UNION ALL
  (SELECT {kDocument}, pg_catalog.row_number() OVER (
            ORDER BY s.repeated::pg_catalog.float8 OPERATOR(pg_catalog./) s.length DESC, s.repeated DESC, s.id),
          pg_catalog.left(s.id, {id_characters}), s.length, s.repeated
   FROM s WHERE s.repeated OPERATOR(pg_catalog.>) 0 ORDER BY 2 LIMIT {shown_documents})
  UNION ALL
  SELECT {kPassage}, p.n, pg_catalog.left(p.passage, {passage_characters}), p.documents, p.occurrences FROM p
  UNION ALL
  SELECT {kDocumentOfPassage}, p.n, pg_catalog.left(f.id, {id_characters}), 0, 0
  FROM p CROSS JOIN LATERAL (
    SELECT j.id FROM j
    WHERE j.occurrences OPERATOR(pg_catalog.<=) p.occurrences AND p.n OPERATOR(pg_catalog.=) ANY (j.passages)
      AND {extension}copied_share(p.passage, j.text, p.units, $3) OPERATOR(pg_catalog.>=) 1::pg_catalog.float8
    LIMIT {ranges_of_passage}) f
  ORDER BY 1, 2)";

std::string statement(const std::string& extension, const std::string& documents, const PassagesOptions& o) {
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const std::string lists = filled(kListsQuery, {{"kDocuments", number(kDocuments)},
                                                 {"kCharacters", number(kCharacters)},
                                                 {"kDocument", number(kDocument)},
                                                 {"kPassage", number(kPassage)},
                                                 {"kDocumentOfPassage", number(kDocumentOfPassage)},
                                                 {"id_characters", number(kTextOfId)},
                                                 {"passage_characters", number(kTextOfPassage)},
                                                 {"shown_documents", number(o.documents)},
                                                 {"ranges_of_passage", number(4 * kPassageDocumentsShown)},
                                                 {"extension", extension}});
  // What the user has written comes last: nothing is looked for in it.
  return filled(kPartsQuery, {{"most", number(std::max<std::int64_t>(o.passages, 1))},
                              {"passages", number(o.passages)},
                              {"shingle", number(std::min<std::int64_t>(o.min_units, kMostUnitsOfShingle))},
                              {"extension", extension},
                              {"documents", documents}}) +
         lists;
}

void add_row(const Result& rows, int i, RepeatedTexts* out) {
  const auto text = [&] { return std::string(get_text(rows, i, 2)); };
  const std::int64_t x = get_int8(rows, i, 3), y = get_int8(rows, i, 4);
  switch (static_cast<Kind>(get_int8(rows, i, 0))) {
    case kDocuments:
      out->documents = x;
      out->with_repeated = y;
      break;
    case kCharacters:
      out->characters = x;
      out->repeated = y;
      break;
    case kDocument:
      out->repeating.push_back({text(), x, y});
      break;
    case kPassage:
      out->passages.push_back({text(), x, y, {}});
      break;
    case kDocumentOfPassage: {
      // A document may hold a passage several times.
      std::vector<std::string>& ids = out->passages[static_cast<std::size_t>(get_int8(rows, i, 1) - 1)].ids;
      if (ids.size() < kPassageDocumentsShown && std::find(ids.begin(), ids.end(), text()) == ids.end())
        ids.push_back(text());
      break;
    }
  }
}

}  // namespace

bool is_query(const std::string& source) {
  const std::size_t begin = std::min(source.find_first_not_of(" \t\r\n("), source.size());
  const auto in_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '$' || c >= 0x80; };
  const auto first = source.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto end = std::find_if_not(first, source.end(), in_name);
  // a job may be schema.name
  if (end == source.end() || *end == '.') return false;
  const std::string word(first, end);
  return std::any_of(std::begin(kFirstWords), std::end(kFirstWords),
                     [&](const char* known) { return strcasecmp(word.c_str(), known) == 0; });
}

RepeatedTexts read_repeated_texts(Connection& db, const PassagesOptions& options) {
  const std::string extension = extension_schema(db);
  const Source source =
      is_query(options.source) ? source_of_query(db, options.source) : source_of_job(db, options.source);
  const std::string documents = "SELECT " + shown("q.id") + " AS id, q.body::pg_catalog.text AS body" +
                                (source.within ? ", q.within" : "") + " FROM (" + source.query + ") q";
  const Result rows =
      db.query(statement(extension, documents, options),
               Params().text(documents).int8(options.min_units).text(options.unit).int8(options.at_least));
  RepeatedTexts out;
  out.about = source.about;
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    check_interrupt();
    add_row(rows, i, &out);
  }
  db.query("COMMIT");
  return out;
}

}  // namespace neardup::cli
