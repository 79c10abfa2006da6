// `neardup report`: what a job found, as one page of HTML. The server counts; only what is shown comes here.
#include "cli/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/html.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/report_style.h"
#include "cli/word_diff.h"

namespace neardup::cli {
namespace {

constexpr int kMembersShown = 12;
constexpr int kTextShown = 20000;  // characters of a document
constexpr int kIdShown = 120;      // bytes of an id

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Rounded down, so that only what is 1 is shown as 1.
std::string similarity_text(double value) { return fixed(std::floor(value * 1000 + 1e-9) / 1000, 3); }

// The first bytes of an id, cut between characters.
std::string id_html(std::string_view id) {
  std::string_view part = id.substr(0, kIdShown);
  if (part.size() < id.size()) {
    while (!part.empty() && (static_cast<unsigned char>(id[part.size()]) & 0xc0) == 0x80) part.remove_suffix(1);
  }
  return "<bdi class=\"id\">" + html_text(part) + (part.size() < id.size() ? "…" : "") + "</bdi>";
}

// One side of a pair: its words, marked where they differ; long stretches that are the same are left out.
void write_side(HtmlFile& page, std::string_view text, const WordDiff& diff, bool left) {
  constexpr std::uint32_t kAround = 25, kLeastLeftOut = 30;
  const std::vector<WordToken>& tokens = left ? diff.a : diff.b;
  std::size_t at = 0;  // bytes written
  const auto write = [&](std::uint32_t first, std::uint32_t last, bool marked) {
    if (first >= last) return;
    if (marked) {
      page.text(text.substr(at, tokens[first].begin - at)).raw("<mark>");
      at = tokens[first].begin;
    }
    page.text(text.substr(at, tokens[last - 1].end - at));
    at = tokens[last - 1].end;
    if (marked) page.raw("</mark>");
  };
  for (const DiffRun& run : diff.runs) {
    const std::uint32_t first = left ? run.a_begin : run.b_begin, last = left ? run.a_end : run.b_end;
    if (!run.same || last - first < 2 * kAround + kLeastLeftOut) {
      write(first, last, !run.same);
      continue;
    }
    write(first, first + kAround, false);
    page.raw(" <span class=\"skip\">… " + grouped(last - first - 2 * kAround) + " words that are the same …</span>");
    at = tokens[last - kAround - 1].end;
    write(last - kAround, last, false);
  }
}

class Report {
 public:
  Report(Connection& db, const Job& job, const ReportOptions& options)
      : db_(db), job_(job), options_(options), page_(options.out) {}

  void write() {
    find_documents();
    db_.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const Result about = db_.query(
        "SELECT pg_catalog.current_database()::text, pg_catalog.to_char(pg_catalog.now(), 'YYYY-MM-DD HH24:MI TZ'),"
        " (SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'neardup'),"
        " COALESCE((SELECT pg_catalog.to_char(j.finished, 'YYYY-MM-DD HH24:MI TZ') FROM " +
        job_.job + " j), ''), COALESCE((SELECT j.phase FROM " + job_.job + " j), '')");
    counts_ = count_job(db_, job_);
    write_head(std::string(get_text(about, 0, 0)), std::string(get_text(about, 0, 1)));
    const std::string_view finished = get_text(about, 0, 3), phase = get_text(about, 0, 4);
    if (counts_.rows == 0) {
      page_.raw(
          "<p>The table of duplicates is empty: the job has not been run to its end, or its source has no rows.</p>\n");
    } else if (phase != "idle") {
      page_.raw("<p>The latest run has not come to its end: what is here is what the one before it found.</p>\n");
    }
    write_counts();
    write_settings(finished);
    if (counts_.clusters > 0) {
      write_similarities();
      write_sizes();
      if (options_.clusters > 0) write_clusters();
      if (options_.pairs > 0) write_pairs();
    } else if (counts_.rows > 0) {
      page_.raw("<p>No two rows are in one cluster.</p>\n");
    }
    page_.raw("<p class=\"soft\">Made by neardup ")
        .text(get_text(about, 0, 2))
        .raw(".</p>\n</main>\n</body>\n</html>\n");
    db_.query("COMMIT");
    page_.commit();
  }

  const JobCounts& counts() const { return counts_; }

 private:
  // The query of the job's rows, with their documents.
  void find_documents() {
    const std::string row = job_.internal + "neardup_job_row($1::pg_catalog.regclass)";
    const Result job = db_.query("SELECT body IS NOT NULL, signature::text, COALESCE(source::text, '') FROM " + row,
                                 Params().text(job_.job));
    if (!get_bool(job, 0, 0)) {
      no_texts_ = "The job reads signatures from the column " + std::string(get_text(job, 0, 1)) +
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
      rows_ = get_text(rows, 0, 0);
      const bool bytes = get_bool(rows, 0, 1);
      const std::string encoding(get_text(rows, 0, 2)), quoted(get_text(rows, 0, 3));
      cleaned_ = get_bool(rows, 0, 4);
      const bool decoded = bytes && !encoding.empty();
      if (decoded && !get_bool(rows, 0, 5)) {
        no_texts_ = "The documents are bytea, and the server has no function to decode them.";
        return;
      }
      const auto document = [&](const std::string& side) {
        std::string body = side + ".body";
        if (decoded) {
          body =
              "(" + job_.extension + "neardup_decode(" + body + (encoding == "detect" ? "" : ", " + quoted) + ")).body";
        }
        // of undecoded bytes what is UTF-8 can be shown
        return std::string(bytes && !decoded ? "pg_catalog.substr(" : "pg_catalog.left(") + body +
               (bytes && !decoded ? ", 1, " : ", ") + std::to_string(kTextShown) + "), pg_catalog.length(" + body +
               ")::int8";
      };
      document_a_ = document("a");
      document_b_ = document("b");
    } catch (const DatabaseError& error) {
      if (error.connection_lost()) throw;
      no_texts_ = std::string("The documents cannot be read: ") + error.what() + ".";
    }
  }

  void write_head(const std::string& database, const std::string& now) {
    page_
        .raw(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
            "content=\"no-referrer\">\n<title>")
        .raw(html_text("Near duplicates: " + job_.name, true))
        .raw("</title>\n<style>")
        .raw(kReportStyle)
        .raw("</style>\n</head>\n<body>\n<main>\n<h1>Near duplicates: ")
        .text(job_.name)
        .raw("</h1>\n<p class=\"soft\">Database ")
        .text(database)
        .raw(", ")
        .text(now)
        .raw("</p>\n");
  }

  void fact(const std::string& name, const std::string& value) {
    page_.raw("<div><dt>" + name + "</dt><dd>" + value + "</dd></div>\n");
  }

  void write_counts() {
    const double share =
        counts_.rows > 0 ? static_cast<double>(counts_.duplicates) / static_cast<double>(counts_.rows) : 0;
    page_.raw("<dl class=\"facts\">\n");
    fact("rows", grouped(counts_.rows));
    fact("clusters of 2 rows or more", grouped(counts_.clusters));
    fact("rows in these clusters", grouped(counts_.clustered_rows));
    fact("duplicates", grouped(counts_.duplicates));
    fact("share of duplicates", fixed(share * 100, 1) + " %");
    fact("largest cluster", grouped(counts_.largest));
    page_
        .raw(
            "</dl>\n<p class=\"soft\">Of each cluster one row survives; the others are duplicates. Removing them would "
            "leave ")
        .raw(grouped(counts_.rows - counts_.duplicates))
        .raw(" rows.</p>\n");
  }

  void write_settings(std::string_view finished) {
    const Result settings = db_.query(
        "SELECT k.label, s.value FROM pg_catalog.jsonb_each_text(pg_catalog.to_jsonb(" + job_.internal +
            "neardup_job_row($1::pg_catalog.regclass))) s JOIN (VALUES (1, 'source', 'source'), (2, 'id', 'id column'),"
            " (3, 'body', 'documents'), (4, 'signature', 'signatures'), (5, 'profile', 'profile'),"
            " (6, 'profile_version', 'profile version'), (7, 'threshold', 'threshold'), (8, 'linkage', 'linkage'),"
            " (9, 'verify', 'verified by'), (10, 'verify_threshold', 'threshold of that'), (11, 'keep', 'kept'),"
            " (12, 'order_by', 'ordered by'), (13, 'within', 'within'), (14, 'at', 'time'),"
            " (15, 'at_most_apart', 'at most apart'), (16, 'filter', 'filter'), (17, 'deleted', 'deleted rows'))"
            " k(n, key, label) ON k.key = s.key WHERE s.value IS NOT NULL AND s.value NOT IN ('', '[]') ORDER BY k.n",
        Params().text(job_.job));
    page_.raw("<h2>Settings</h2>\n<div class=\"scroll\"><table><tbody>\n");
    const auto row = [&](std::string_view label, std::string_view value) {
      page_.raw("<tr><th scope=\"row\">")
          .text(label)
          .raw("</th><td><bdi class=\"id\">")
          .text(value)
          .raw("</bdi></td></tr>\n");
    };
    for (int i = 0; i < PQntuples(settings.get()); ++i) row(get_text(settings, i, 0), get_text(settings, i, 1));
    if (!finished.empty()) row("latest run ended", finished);
    page_.raw("</tbody></table></div>\n");
  }

  void write_similarities() {
    // in hundredths; 100: exactly 1
    const Result found = db_.query(
        "SELECT CASE WHEN similarity >= 1 THEN 100 ELSE greatest(floor(similarity * 100 + 1e-9), 0) END::int8, "
        "count(*) FROM " +
        job_.result + " WHERE NOT survivor AND similarity IS NOT NULL GROUP BY 1 ORDER BY 1");
    if (PQntuples(found.get()) == 0) return;
    std::vector<std::int64_t> hundredths(101);
    for (int i = 0; i < PQntuples(found.get()); ++i) {
      hundredths[static_cast<std::size_t>(std::min<std::int64_t>(get_int8(found, i, 0), 100))] += get_int8(found, i, 1);
    }
    int least = static_cast<int>(std::min<std::int64_t>(get_int8(found, 0, 0), 95));
    const int step = 100 - least <= 25 ? 1 : 100 - least <= 50 ? 2 : 5;
    least -= least % step;
    std::vector<Bar> bars;
    for (int from = least; from < 100; from += step) {
      Bar bar{"", "", 0};
      for (int i = from; i < std::min(from + step, 100); ++i) bar.count += hundredths[static_cast<std::size_t>(i)];
      const bool labelled = from % (step == 1 ? 5 : 10) == 0;
      if (labelled) bar.label = fixed(from / 100.0, 2);
      bar.title =
          fixed(from / 100.0, 2) + " to " + fixed(std::min(from + step, 100) / 100.0, 2) + ": " + grouped(bar.count);
      bars.push_back(bar);
    }
    bars.push_back({"= 1", "1: " + grouped(hundredths[100]), hundredths[100]});
    page_.raw("<h2>Similarity of duplicates to their representative</h2>\n")
        .raw(svg_bars(bars, "Histogram of the similarity of duplicates to the representative of their cluster"))
        .raw("<p class=\"soft\">Bars are " +
             std::string(step == 1   ? "0.01"
                         : step == 2 ? "0.02"
                                     : "0.05") +
             " wide and labelled with their lower end; the last one holds the duplicates of similarity 1.</p>\n");
  }

  void write_sizes() {
    // 2, 3-4, 5-8 ...: the bar n ends at 2^n
    const Result found = db_.query(
        "SELECT pg_catalog.ceil(pg_catalog.log(2, n))::int8, count(*), min(n) FROM (SELECT count(*) AS n FROM " +
        job_.result + " GROUP BY cluster HAVING count(*) > 1) c GROUP BY 1 ORDER BY 1");
    std::vector<Bar> bars;
    for (int i = 0; i < PQntuples(found.get()); ++i) {
      const std::int64_t power = std::max<std::int64_t>(get_int8(found, i, 0), 1);
      while (static_cast<std::int64_t>(bars.size()) < power) {
        const std::int64_t end = std::int64_t{1} << (bars.size() + 1);
        std::string label = bars.empty() ? "2" : grouped(end / 2 + 1) + "–" + grouped(end);
        bars.push_back({label, label + " rows: 0 clusters", 0});
      }
      bars.back().count = get_int8(found, i, 1);
      bars.back().title = bars.back().label + " rows: " + grouped(bars.back().count) + " clusters";
    }
    page_.raw("<h2>Sizes of clusters</h2>\n")
        .raw(svg_bars(bars, "Histogram of the sizes of clusters"))
        .raw("<p class=\"soft\">Rows in a cluster; clusters of one row are not shown.</p>\n");
  }

  void write_clusters() {
    const Result rows = db_.query(
        "WITH top AS (SELECT cluster, count(*) AS n, min(similarity) FILTER (WHERE NOT survivor) AS least,"
        "   avg(similarity) FILTER (WHERE NOT survivor) AS average FROM " +
            job_.result +
            " GROUP BY cluster HAVING count(*) > 1 ORDER BY n DESC, cluster LIMIT $1)"
            " SELECT t.cluster, t.n, COALESCE(t.least, -1), COALESCE(t.average, -1),"
            "   pg_catalog.left(" +
            shown("m.representative") + ", 200), pg_catalog.left(" + shown("m.id") +
            ", 200), COALESCE(m.similarity, "
            "-1), m.survivor"
            " FROM top t CROSS JOIN LATERAL (SELECT r.* FROM " +
            job_.result + " r WHERE r.cluster = t.cluster ORDER BY r.survivor DESC, r.similarity DESC, r.id LIMIT " +
            std::to_string(kMembersShown + 1) +
            ") m ORDER BY t.n DESC, t.cluster, m.survivor DESC, m.similarity DESC, m.id",
        Params().int8(options_.clusters));
    page_.raw(
        "<h2>Largest clusters</h2>\n<div class=\"scroll\"><table><thead><tr><th class=\"number\">cluster</th>"
        "<th class=\"number\">rows</th><th>survivor</th><th>duplicates, with their similarity</th><th "
        "class=\"number\">least</th><th class=\"number\">average</th></tr></thead><tbody>\n");
    const int count = PQntuples(rows.get());
    for (int i = 0; i < count;) {
      const std::int64_t cluster = get_int8(rows, i, 0), size = get_int8(rows, i, 1);
      page_.raw("<tr><td class=\"number\">" + std::to_string(cluster) + "</td><td class=\"number\">" + grouped(size) +
                "</td><td class=\"keep\">" + id_html(get_text(rows, i, 4)) + "</td><td class=\"members\">");
      const double least = get_float8(rows, i, 2), average = get_float8(rows, i, 3);
      int shown = 0;
      for (; i < count && get_int8(rows, i, 0) == cluster; ++i) {
        if (get_bool(rows, i, 7) || shown == kMembersShown) continue;
        const double similarity = get_float8(rows, i, 6);
        page_.raw((shown == 0 ? "" : ", ") + id_html(get_text(rows, i, 5)));
        if (similarity >= 0) page_.raw(" <span class=\"soft\">" + similarity_text(similarity) + "</span>");
        ++shown;
      }
      if (size - 1 > shown) page_.raw(" <span class=\"skip\">and " + grouped(size - 1 - shown) + " more</span>");
      page_.raw("</td><td class=\"number\">" + (least >= 0 ? similarity_text(least) : "") +
                "</td><td class=\"number\">" + (average >= 0 ? similarity_text(average) : "") + "</td></tr>\n");
    }
    page_.raw("</tbody></table></div>\n");
    if (counts_.clusters > options_.clusters) {
      page_.raw("<p class=\"soft\">" + grouped(options_.clusters) + " of " + grouped(counts_.clusters) +
                " clusters.</p>\n");
    }
  }

  // Pairs of each twentieth of similarity in turn, by the hash of their id: the same table gives the same pairs.
  std::string picked() const {
    return "(SELECT id, representative, cluster, similarity FROM (SELECT id, representative, cluster, "
           "COALESCE(similarity, -1) AS similarity,"
           " row_number() OVER (PARTITION BY floor(similarity * 20 + 1e-9) ORDER BY pg_catalog.md5(" +
           shown("id") +
           ")) AS turn "
           "FROM " +
           job_.result + " WHERE NOT survivor) d ORDER BY turn, similarity DESC LIMIT $1)";
  }

  void write_pairs() {
    page_.raw("<h2>Pairs</h2>\n");
    Result rows;
    if (no_texts_.empty()) {
      db_.query("SAVEPOINT pairs");
      try {
        rows = db_.query("WITH p AS MATERIALIZED " + picked() + " SELECT p.similarity, p.cluster, " +
                             shown("p.representative") + ", " + shown("p.id") + ", " + document_a_ + ", " +
                             document_b_ + ", a.id IS NOT NULL, b.id IS NOT NULL FROM p LEFT JOIN (" + rows_ +
                             ") a ON a.id = p.representative LEFT JOIN (" + rows_ +
                             ") b ON b.id = p.id ORDER BY p.similarity DESC, p.id",
                         Params().int8(options_.pairs));
      } catch (const DatabaseError& error) {
        if (error.connection_lost()) throw;
        db_.query("ROLLBACK TO SAVEPOINT pairs");
        no_texts_ = std::string("The documents cannot be read: ") + error.what() + ".";
        rows.reset();
      }
    }
    if (!rows) {
      page_.raw("<p>").text(no_texts_).raw("</p>\n");
      rows = db_.query("SELECT similarity, cluster, " + shown("representative") + ", " + shown("id") + " FROM " +
                           picked() + " p ORDER BY similarity DESC, id",
                       Params().int8(options_.pairs));
      page_.raw(
          "<div class=\"scroll\"><table><thead><tr><th class=\"number\">similarity</th><th "
          "class=\"number\">cluster</th>"
          "<th>representative</th><th>duplicate</th></tr></thead><tbody>\n");
      for (int i = 0; i < PQntuples(rows.get()); ++i) {
        page_.raw("<tr><td class=\"number\">" + similarity_html(get_float8(rows, i, 0)) + "</td><td class=\"number\">" +
                  std::to_string(get_int8(rows, i, 1)) + "</td><td>" + id_html(get_text(rows, i, 2)) + "</td><td>" +
                  id_html(get_text(rows, i, 3)) + "</td></tr>\n");
      }
      page_.raw("</tbody></table></div>\n");
      return;
    }
    page_.raw(
        "<p class=\"soft\">Duplicates of every degree of similarity beside their representative, as the rows are now; "
        "words that differ are marked.");
    if (cleaned_) page_.raw(" The texts are shown before the profile's script and rules are applied to them.");
    page_.raw("</p>\n");
    for (int i = 0; i < PQntuples(rows.get()); ++i) {
      check_interrupt();
      write_pair(rows, i);
    }
  }

  static std::string similarity_html(double similarity) {
    return similarity >= 0 ? similarity_text(similarity) : "unknown";
  }

  void write_pair(const Result& rows, int i) {
    const bool there[2] = {get_bool(rows, i, 8), get_bool(rows, i, 9)};
    page_.raw("<details" + std::string(i < 3 ? " open" : "") + "><summary><b>" +
              similarity_html(get_float8(rows, i, 0)) + "</b> cluster " + std::to_string(get_int8(rows, i, 1)) + ": " +
              id_html(get_text(rows, i, 2)) + " and " + id_html(get_text(rows, i, 3)) + "</summary>\n");
    const std::string_view texts[2] = {get_text(rows, i, 4), get_text(rows, i, 6)};
    WordDiff diff = diff_words(texts[0], texts[1]);
    page_.raw("<div class=\"pair\">\n");
    for (int side = 0; side < 2; ++side) {
      const bool is_null = PQgetisnull(rows.get(), i, side == 0 ? 4 : 6) != 0;
      const std::int64_t length = is_null ? 0 : get_int8(rows, i, side == 0 ? 5 : 7);
      page_.raw("<div><h3>" + std::string(side == 0 ? "representative " : "duplicate ") +
                id_html(get_text(rows, i, 2 + side)) + "</h3><div class=\"text\" dir=\"auto\">");
      if (!there[side]) {
        page_.raw("<span class=\"skip\">the row is no longer among those of the source</span>");
      } else if (is_null) {
        page_.raw("<span class=\"skip\">no document</span>");
      } else if (!there[1 - side]) {
        page_.text(texts[side]);
      } else {
        write_side(page_, texts[side], diff, side == 0);
      }
      if (length > kTextShown) {
        page_.raw("\n<span class=\"skip\">… the first " + grouped(kTextShown) + " of " + grouped(length) +
                  " are compared here</span>");
      }
      page_.raw("</div></div>\n");
    }
    page_.raw("</div>\n");
    if (there[0] && there[1]) {
      const bool alike = diff.runs.empty() || (diff.runs.size() == 1 && diff.runs[0].same);
      if (alike && texts[0] == texts[1])
        page_.raw("<p class=\"soft note\">What is shown is the same, byte for byte.</p>\n");
      else if (alike)
        page_.raw("<p class=\"soft note\">Only spaces and line ends differ in what is shown.</p>\n");
      else if (!diff.complete)
        page_.raw(
            "<p class=\"soft note\">Too different to be compared word by word: all between the common start and the "
            "common end is marked.</p>\n");
    }
    page_.raw("</details>\n");
  }

  Connection& db_;
  const Job& job_;
  const ReportOptions& options_;
  HtmlFile page_;
  JobCounts counts_;
  std::string rows_, document_a_, document_b_, no_texts_;
  bool cleaned_ = false;
};

}  // namespace

int write_report(const ReportOptions& options) {
  install_interrupt_handlers();
  Connection db(options.connection);
  const Job job = find_job(db, options.job);
  Report report(db, job, options);
  report.write();
  if (!options.quiet) {
    std::printf("%s: %lld rows, %lld clusters of 2 or more, %lld duplicates\n", printable(options.out).c_str(),
                static_cast<long long>(report.counts().rows), static_cast<long long>(report.counts().clusters),
                static_cast<long long>(report.counts().duplicates));
  }
  return 0;
}

}  // namespace neardup::cli
