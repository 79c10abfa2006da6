// `neardup report`: what is read from the server. The server counts; only what is shown comes here.
#include "cli/report/report_reader.h"

#include <algorithm>
#include <cstdio>

#include "cli/base/interrupt.h"

namespace neardup::cli {
namespace {

constexpr const char* kPathColumn = "path";

std::optional<double> get_similarity(const Result& rows, int i, int column) {
  if (PQgetisnull(rows.get(), i, column)) return std::nullopt;
  return get_float8(rows, i, column);
}

// Columns: whether the row is there, its document, the length of that.
DocumentState get_state(const Result& rows, int i, int column) {
  if (!get_bool(rows, i, column)) return DocumentState::gone;
  return PQgetisnull(rows.get(), i, column + 1) ? DocumentState::null : DocumentState::there;
}

ReportDocument get_document(const Result& rows, int i, int column) {
  ReportDocument document;
  document.state = get_state(rows, i, column);
  if (document.state == DocumentState::there) {
    document.text = get_text(rows, i, column + 1);
    document.length = get_int8(rows, i, column + 2);
  }
  return document;
}

constexpr const char* kNoDocument = "false, NULL::text, NULL::int8";

std::string literal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "'%.17g'::float8", value);
  return text;
}

}  // namespace

ReportReader::ReportReader(Connection& db, const Job& job) : db_(db), job_(job) {
  restrict_search_path(db_, job_);
  find_documents();
  find_ids_and_paths();
  db_.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const Result run = db_.query("SELECT " + time_columns("j.finished") +
                               ", COALESCE(j.phase, '') FROM (SELECT) one LEFT JOIN " + job_.job + " j ON true");
  const auto text = [&](int column) { return std::string(get_text(run, 0, column)); };
  about_ = {page_about(db_), {text(0), text(1)}, text(2) == "idle"};
}

const JobCounts& ReportReader::counts() {
  if (!counts_) counts_ = count_job(db_, job_);
  return *counts_;
}

void ReportReader::finish() { db_.query("COMMIT"); }

void ReportReader::find_documents() {
  const std::string row = job_.internal + "neardup_job_row($1::pg_catalog.regclass)";
  const Result job = db_.query(
      "SELECT body IS NOT NULL, signature::text,"
      " COALESCE(CASE WHEN verify IS NOT NULL THEN verify_threshold END, threshold)::float8 FROM " +
          row,
      Params().text(job_.job));
  threshold_ = get_float8(job, 0, 2);
  if (!get_bool(job, 0, 0)) {
    no_documents_ = "The job reads signatures from the column " + std::string(get_text(job, 0, 1)) +
                    ", so there are no texts to show.";
    return;
  }
  try {
    const Result rows = db_.query(
        "SELECT " + job_.internal +
            "neardup_job_rows($1::pg_catalog.regclass), j.body_type OPERATOR(pg_catalog.=) "
            "'bytea'::pg_catalog.regtype,"
            " CASE WHEN p.encoding <> 'bytes' THEN p.encoding ELSE '' END, pg_catalog.quote_literal(p.encoding),"
            " p.script <> 'keep' OR p.rules <> 'none', pg_catalog.to_regprocedure($2) IS NOT NULL FROM " +
            row + " j, " + job_.extension + "neardup_profile_named(j.profile) p",
        Params().text(job_.job).text(job_.extension + "neardup_decode(bytea,text)"));
    source_rows_ = get_text(rows, 0, 0);
    const bool bytes = get_bool(rows, 0, 1);
    const std::string encoding(get_text(rows, 0, 2)), quoted(get_text(rows, 0, 3));
    cleaned_ = get_bool(rows, 0, 4);
    undecoded_ = bytes && encoding.empty();
    if (!bytes || undecoded_) return;
    if (!get_bool(rows, 0, 5))
      no_documents_ = "The documents are bytea, and the server has no function to decode them.";
    decode_before_ = "(" + job_.extension + "neardup_decode(";
    decode_after_ = (encoding == "detect" ? "" : ", " + quoted) + ")).body";
  } catch (const DatabaseError& error) {
    if (error.connection_lost()) throw;
    no_documents_ = std::string("The documents cannot be read: ") + error.what() + ".";
  }
}

// The path as neardup load names it; one that may not be read is left out.
void ReportReader::find_ids_and_paths() {
  ids_ = job_ids(db_, job_);
  if (ids_.cast.empty()) {
    no_ids_ = "Documents and paths are not shown: " + ids_problem(ids_) + ". " + ids_cure(ids_);
    return;
  }
  const SourcePaths paths = source_paths(db_, job_, kPathColumn);
  if (paths.readable && paths.has_text()) paths_ = paths.query;
}

// SQL of the first characters of a document and of its length; of undecoded bytes what is UTF-8 can be shown.
std::string ReportReader::document(const std::string& side, int characters) const {
  const std::string body = decode_before_ + side + ".body" + decode_after_;
  const std::string number = std::to_string(characters);
  return side + ".id IS NOT NULL, " +
         (undecoded_ ? "pg_catalog.substr(" + body + ", 1, " + number : "pg_catalog.left(" + body + ", " + number) +
         "), pg_catalog.length(" + body + ")::int8";
}

std::string ReportReader::documents_query() const {
  return "SELECT d.id, " + decode_before_ + "d.body" + decode_after_ + " AS body FROM (" + source_rows_ + ") d";
}

// SQL: to a row of the result, the row of that id in a query of the source.
std::string ReportReader::source_join(const std::string& query, const std::string& name, const std::string& id) const {
  return " LEFT JOIN (" + query + ") " + name + " ON " + same_ids(ids_, name + ".id", id);
}

std::string ReportReader::path_join(const std::string& id) const {
  if (paths_.empty()) return " LEFT JOIN (SELECT NULL::text AS path WHERE false) s ON false";
  return source_join(paths_, "s", id);
}

// Calls read(true), which shows documents; where these cannot be read, says why, and calls read(false).
template <class Read>
auto ReportReader::with_texts_or_without(Read read) {
  if (!no_texts().empty()) return read(false);
  db_.query("SAVEPOINT texts");
  try {
    return read(true);
  } catch (const DatabaseError& error) {
    if (error.connection_lost()) throw;
    db_.query("ROLLBACK TO SAVEPOINT texts");
    no_documents_ = std::string("The documents cannot be read: ") + error.what() + ".";
  }
  return read(false);
}

std::vector<ReportSetting> ReportReader::settings() {
  const Result rows = db_.query(
      "SELECT k.key, k.label, s.value OPERATOR(pg_catalog.#>>) '{}', s.value::text FROM "
      "pg_catalog.jsonb_each(pg_catalog.to_jsonb(" +
          job_.internal +
          "neardup_job_row($1::pg_catalog.regclass))) s JOIN (VALUES (1, 'source', 'source'), (2, 'id', 'id column'),"
          " (3, 'body', 'documents'), (4, 'signature', 'signatures'), (5, 'profile', 'profile'),"
          " (6, 'profile_version', 'profile version'), (7, 'threshold', 'threshold'), (8, 'linkage', 'linkage'),"
          " (9, 'verify', 'verified by'), (10, 'verify_threshold', 'threshold of that'), (11, 'keep', 'kept'),"
          " (12, 'order_by', 'ordered by'), (13, 'within', 'within'), (14, 'at', 'time'),"
          " (15, 'at_most_apart', 'at most apart'), (16, 'filter', 'filter'), (17, 'deleted', 'deleted rows'),"
          " (18, 'measure', 'measure'))"
          " k(n, key, label) ON k.key = s.key"
          " WHERE (s.value OPERATOR(pg_catalog.#>>) '{}') NOT IN ('', '[]') ORDER BY k.n",
      Params().text(job_.job));
  std::vector<ReportSetting> settings;
  settings.reserve(static_cast<std::size_t>(PQntuples(rows.get())));
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    settings.push_back({std::string(get_text(rows, i, 0)), std::string(get_text(rows, i, 1)),
                        std::string(get_text(rows, i, 2)), std::string(get_text(rows, i, 3))});
  }
  return settings;
}

std::vector<std::int64_t> ReportReader::similarities() {
  const Result found = db_.query(
      "SELECT CASE WHEN similarity >= '1'::float8 THEN 100 ELSE"
      " greatest(floor(similarity * '100'::float8 + '1e-9'::float8), 0) END::int8, "
      "count(*) FROM " +
      job_.result + " WHERE NOT survivor AND similarity IS NOT NULL GROUP BY 1 ORDER BY 1");
  std::vector<std::int64_t> hundredths(101);
  for (int i = 0; i < PQntuples(found.get()); ++i) {
    hundredths[static_cast<std::size_t>(std::min<std::int64_t>(get_int8(found, i, 0), 100))] += get_int8(found, i, 1);
  }
  return hundredths;
}

std::vector<std::int64_t> ReportReader::sizes() {
  const Result found =
      db_.query("SELECT pg_catalog.ceil(pg_catalog.log(2, n))::int8, count(*) FROM (SELECT count(*) AS n FROM " +
                job_.result + " GROUP BY cluster HAVING count(*) > 1) c GROUP BY 1 ORDER BY 1");
  std::vector<std::int64_t> powers;
  for (int i = 0; i < PQntuples(found.get()); ++i) {
    powers.resize(static_cast<std::size_t>(std::max<std::int64_t>(get_int8(found, i, 0), 1)));
    powers.back() = get_int8(found, i, 1);
  }
  return powers;
}

std::vector<ReportPair> ReportReader::pairs(std::int64_t most, bool with_texts) {
  if (!with_texts) return read_pairs(most, false);
  return with_texts_or_without([&](bool texts) { return read_pairs(most, texts); });
}

std::vector<ReportPair> ReportReader::read_pairs(std::int64_t most, bool with_texts) {
  const std::string distance = "pg_catalog.abs(similarity - " + literal(threshold_) + ")";
  const std::string nearest =
      "(SELECT id, representative, cluster, similarity, pg_catalog.row_number() OVER (ORDER BY " + distance +
      ", pg_catalog.md5(" + shown("id") + ")) AS turn FROM " + job_.result +
      " WHERE NOT survivor ORDER BY turn LIMIT " + std::to_string(most) + ")";
  const auto id = [&](const char* column) {
    return with_texts ? "pg_catalog.left(" + shown(column) + ", 200)" : shown(column);
  };
  const std::string documents = with_texts ? document("a", kTextShown) + ", " + document("b", kTextShown)
                                           : std::string(kNoDocument) + ", " + kNoDocument;
  const std::string join =
      with_texts ? source_join(source_rows_, "a", "p.representative") + source_join(source_rows_, "b", "p.id") : "";
  const Result rows =
      db_.query("WITH p AS MATERIALIZED " + nearest + " SELECT p.similarity, p.cluster, " + id("p.representative") +
                ", " + id("p.id") + ", " + documents + " FROM p" + join + " ORDER BY p.turn");
  std::vector<ReportPair> pairs(static_cast<std::size_t>(PQntuples(rows.get())));
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    ReportPair& pair = pairs[static_cast<std::size_t>(i)];
    pair.similarity = get_similarity(rows, i, 0);
    pair.cluster = get_int8(rows, i, 1);
    for (int side = 0; side < 2; ++side) {
      pair.ids[side] = get_text(rows, i, 2 + side);
      pair.documents[side] = get_document(rows, i, 4 + 3 * side);
    }
  }
  return pairs;
}

std::vector<ReportCluster> ReportReader::clusters(std::int64_t most) {
  return with_texts_or_without([&](bool texts) { return read_clusters(most, texts); });
}

std::vector<ReportCluster> ReportReader::read_clusters(std::int64_t most, bool with_texts) {
  const std::string query =
      "WITH top AS MATERIALIZED (SELECT cluster, count(*) AS n, min(similarity) FILTER (WHERE NOT survivor) AS least,"
      " avg(similarity) FILTER (WHERE NOT survivor) AS average FROM " +
      job_.result + " GROUP BY cluster HAVING count(*) > 1 ORDER BY n DESC, cluster LIMIT " + std::to_string(most) +
      "), m AS MATERIALIZED (SELECT t.cluster, t.n, t.least, t.average, r.id, r.similarity, r.survivor FROM top t"
      " CROSS JOIN LATERAL (SELECT r.* FROM " +
      job_.result +
      " r WHERE r.cluster = t.cluster ORDER BY r.survivor DESC, r.similarity DESC NULLS LAST, r.id LIMIT " +
      std::to_string(kMembersShown + 1) +
      ") r) SELECT m.cluster, m.n, m.least, m.average, m.similarity, pg_catalog.left(" + shown("m.id") +
      ", 200), pg_catalog.right(s.path, 1000), " + (with_texts ? document("d", kTextCompared) : kNoDocument) +
      " FROM m" + (with_texts ? source_join(source_rows_, "d", "m.id") : "") + path_join("m.id") +
      " ORDER BY m.n DESC, m.cluster, m.survivor DESC, m.similarity DESC NULLS LAST, m.id";
  std::vector<ReportCluster> clusters;
  ReportDocument kept;  // of the cluster at work
  for_each_row(query, [&](const Result& rows, int i) {
    ReportDocument document = get_document(rows, i, 7);
    const std::string_view path = PQgetisnull(rows.get(), i, 6) ? "" : get_text(rows, i, 6);
    if (clusters.empty() || clusters.back().number != get_int8(rows, i, 0)) {
      clusters.push_back({get_int8(rows, i, 0),
                          get_int8(rows, i, 1),
                          get_similarity(rows, i, 2),
                          get_similarity(rows, i, 3),
                          std::string(get_text(rows, i, 5)),
                          std::string(path),
                          document_title(document.text),
                          document.state,
                          {}});
      kept = std::move(document);
      return;
    }
    ReportCopy copy{std::string(get_text(rows, i, 5)),
                    std::string(path),
                    get_similarity(rows, i, 4),
                    document.state,
                    std::max(kept.length, document.length) > kTextCompared,
                    {}};
    if (kept.state == DocumentState::there && copy.state == DocumentState::there) {
      copy.snippet = first_change(kept.text, document.text);
    }
    clusters.back().copies.push_back(std::move(copy));
  });
  return clusters;
}

void ReportReader::rows(std::optional<std::int64_t> largest, const std::function<void(const ReportRow&)>& take) {
  const std::string order = largest ? "c.n DESC, c.cluster" : "c.cluster";
  const std::string query = "WITH c AS MATERIALIZED (SELECT cluster, count(*) AS n FROM " + job_.result +
                            " GROUP BY cluster HAVING count(*) > 1" +
                            (largest ? " ORDER BY n DESC, cluster LIMIT " + std::to_string(*largest) : "") +
                            ") SELECT c.cluster, c.n, " + shown("r.id") + ", " + shown("r.representative") +
                            ", r.similarity, r.survivor, s.path FROM c JOIN " + job_.result +
                            " r ON r.cluster = c.cluster" + path_join("r.id") + " ORDER BY " + order +
                            ", r.survivor DESC, r.similarity DESC NULLS LAST, r.id";
  for_each_row(query, [&](const Result& rows, int i) {
    ReportRow row{get_int8(rows, i, 0),       get_int8(rows, i, 1), get_text(rows, i, 2), get_text(rows, i, 3),
                  get_similarity(rows, i, 4), get_bool(rows, i, 5), std::nullopt};
    if (!PQgetisnull(rows.get(), i, 6)) row.path = get_text(rows, i, 6);
    take(row);
  });
}

// A query without parameters, some rows at a time.
void ReportReader::for_each_row(const std::string& query, const std::function<void(const Result&, int)>& take) {
  db_.query("DECLARE neardup_report NO SCROLL CURSOR FOR " + query);
  for (;;) {
    const Result rows = db_.query("FETCH 500 FROM neardup_report");
    const int n = PQntuples(rows.get());
    if (n == 0) break;
    for (int i = 0; i < n; ++i) {
      check_interrupt();
      take(rows, i);
    }
  }
  db_.query("CLOSE neardup_report");
}

}  // namespace neardup::cli
