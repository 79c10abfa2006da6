// `neardup passages`: what is read from the server, by one statement from one snapshot.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <strings.h>

#include "cli/base/interrupt.h"
#include "cli/base/job.h"
#include "cli/passages/passages.h"

namespace neardup::cli {
namespace {

constexpr const char* kFirstWords[] = {"select", "table", "values", "with"};  // of queries

// A kind of row of passages_page().
enum Kind { kDocuments, kCharacters, kDocument, kPassage, kDocumentOfPassage };

// A query may end as in psql; here it stands in parentheses.
std::string without_semicolon(std::string query) {
  query.erase(query.find_last_not_of("; \t\r\n") + 1);
  return query;
}

// The query with the names of its columns: id, body and perhaps within.
std::string named_columns(Connection& db, const std::string& query, bool* within) {
  const Result columns = db.query("SELECT * FROM (" + query + "\n) q LIMIT 0");
  const int n = PQnfields(columns.get());
  *within = n == 3 && std::string_view(PQfname(columns.get(), 2)) == "within";
  if (n != 2 && !*within)
    throw std::runtime_error("the query must return an id, a document and perhaps a column \"within\"; it returns " +
                             std::to_string(n) + (n == 1 ? " column" : " columns"));
  return "SELECT * FROM (" + query + "\n) q(" + (*within ? "id, body, within" : "id, body") + ")";
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
  const bool of_query = is_query(options.source);
  std::string source;
  bool within = false;
  if (of_query)
    require_extension(db);
  else
    source = find_job(db, options.source).table;
  db.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  if (of_query) source = named_columns(db, without_semicolon(options.source), &within);
  RepeatedTexts out;
  out.about = page_about(db.query("SELECT * FROM neardup_internal.page_about()"));
  Params params;
  params.text(source).int8(options.min_units).text(options.unit).int8(options.at_least);
  params.int8(options.passages).int8(options.documents);
  const std::string limits = ", $2::pg_catalog.int4, $3, $4::pg_catalog.int4, $5::pg_catalog.int4, $6::pg_catalog.int4";
  const Result rows = of_query ? db.query("SELECT * FROM neardup_internal.passages_page($1, " +
                                              std::string(within ? "true" : "false") + limits + ")",
                                          params)
                               : ask_job(db, "job_passages", limits, params);
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    check_interrupt();
    add_row(rows, i, &out);
  }
  db.query("COMMIT");
  return out;
}

}  // namespace neardup::cli
