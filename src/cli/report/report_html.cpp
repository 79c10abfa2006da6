// `neardup report --format html`: the page, part by part in the order of reading.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/interrupt.h"
#include "cli/base/utf8.h"
#include "cli/report/html.h"
#include "cli/report/page.h"
#include "cli/report/report_formats.h"
#include "cli/report/report_pair.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kPathShown = 200;  // bytes, the last ones
constexpr int kClustersOpen = 10;

void write_counts(ReportReader& reader, OutFile& page) {
  const JobCounts& counts = reader.counts();
  const double share = counts.rows > 0 ? static_cast<double>(counts.duplicates) / static_cast<double>(counts.rows) : 0;
  page.raw("<p class=\"counts\"><b>" + grouped(counts.rows) + "</b> rows, <b>" + grouped(counts.clusters) +
           "</b> clusters of 2 rows or more, the largest of <b>" + grouped(counts.largest) + "</b>, with <b>" +
           grouped(counts.duplicates) + "</b> duplicates (" + fixed(share * 100, 1) +
           " %). Removing them would leave " + grouped(counts.rows - counts.duplicates) + " rows.</p>\n");
  if (counts.rows == 0) {
    page.raw(
        "<p>The table of duplicates is empty: the job has not been run to its end, or its source has no rows.</p>\n");
    return;
  }
  if (!reader.about().idle) {
    page.raw("<p>The latest run has not come to its end: what is here is what the one before it found.</p>\n");
  }
  if (counts.clusters == 0) page.raw("<p>No two rows are in one cluster.</p>\n");
}

void write_places(const ReportOptions& options, OutFile& page) {
  const auto place = [&](const char* name, const char* words) {
    page.raw("<a href=\"#" + std::string(name) + "\">" + words + "</a> ");
  };
  page.raw("<p class=\"places\">");
  if (options.pairs > 0) place("pairs", "Pairs nearest to the threshold");
  if (options.clusters > 0) place("clusters", "Largest clusters");
  place("histograms", "Histograms");
  place("settings", "Settings");
  page.raw("</p>\n");
}

void write_pairs(ReportReader& reader, const ReportOptions& options, OutFile& page) {
  const std::vector<ReportPair> pairs = reader.pairs(options.pairs, true);
  const bool with_texts = reader.no_texts().empty();
  page.raw(
      "<h2 id=\"pairs\">Pairs nearest to the threshold</h2>\n<p class=\"soft\">Duplicates whose similarity is nearest "
      "to " +
      fixed(reader.threshold(), 3) + ", beside the representative of their cluster");
  if (with_texts) {
    page.raw(", as the rows are now; words that differ are marked.");
    if (reader.cleaned()) page.raw(" The texts are shown before the profile's script and rules are applied to them.");
    page.raw("</p>\n");
  } else {
    page.raw(".</p>\n<p>").raw(escape_html(reader.no_texts())).raw("</p>\n");
  }
  for (const ReportPair& pair : pairs) {
    check_interrupt();
    write_pair_html(pair, with_texts, page);
  }
}

// The path of a row, or its id where it has none.
std::string place_html(const std::string& path, const std::string& id) {
  if (path.empty()) return id_html(id);
  const std::string_view part = last_bytes(path, kPathShown);
  return "<bdi class=\"id\">" + std::string(part.size() < path.size() ? "…" : "") + escape_html(part) +
         "</bdi> <span class=\"soft\">(" + id_html(id) + ")</span>";
}

std::string title_html(const ReportCluster& cluster) {
  const std::string title = cluster.title.empty() ? std::string(file_name(cluster.path)) : cluster.title;
  return title.empty() ? id_html(cluster.id) : "<bdi class=\"title\">" + escape_html(title) + "</bdi>";
}

std::string snippet_html(const Snippet& snippet) {
  std::string html = "<bdi>" + escape_html(snippet.before) + " ";
  if (!snippet.removed.empty()) html += "<del>" + escape_html(snippet.removed) + "</del> ";
  if (!snippet.added.empty()) html += "<ins>" + escape_html(snippet.added) + "</ins> ";
  return html + escape_html(snippet.after) + "</bdi>";
}

std::string difference_html(const ReportCluster& cluster, const ReportCopy& copy) {
  const auto note = [](const std::string& text) { return "<span class=\"skip\">" + text + "</span>"; };
  if (copy.state != DocumentState::there) return absence_html(copy.state);
  if (cluster.state != DocumentState::there) return note("its representative has no document now");
  if (copy.snippet.kind == Snippet::Kind::words) return snippet_html(copy.snippet);
  const std::string where = copy.longer ? " in the first " + grouped(kTextCompared) + " characters" : "";
  return note(copy.snippet.kind == Snippet::Kind::same ? "the same text" + where : "only spaces differ" + where);
}

void write_cluster(const ReportCluster& cluster, bool open, bool with_texts, OutFile& page) {
  page.raw("<details class=\"card item\"" + std::string(open ? " open" : "") + "><summary>" + title_html(cluster) +
           " <span class=\"soft\"><b>" + grouped(cluster.size) + "</b> copies, cluster " +
           std::to_string(cluster.number));
  if (cluster.average) {
    page.raw(cluster.size == 2 ? ", similarity " + similarity_text(cluster.least)
                               : ", similarity from " + similarity_text(cluster.least) + ", " +
                                     similarity_text(cluster.average) + " on average");
  }
  page.raw("</span><span class=\"where\"><span class=\"keep\">kept</span> " + place_html(cluster.path, cluster.id) +
           "</span></summary>\n<ul class=\"copies\">\n");
  for (const ReportCopy& copy : cluster.copies) {
    page.raw("<li><b>" + similarity_text(copy.similarity) + "</b> " + place_html(copy.path, copy.id));
    if (with_texts) page.raw("<div class=\"snippet\" dir=\"auto\">" + difference_html(cluster, copy) + "</div>");
    page.raw("</li>\n");
  }
  const std::int64_t more = cluster.size - 1 - static_cast<std::int64_t>(cluster.copies.size());
  if (more > 0) page.raw("<li class=\"skip\">and " + grouped(more) + " more</li>\n");
  page.raw("</ul>\n</details>\n");
}

void write_clusters(ReportReader& reader, const ReportOptions& options, OutFile& page) {
  const std::vector<ReportCluster> clusters = reader.clusters(options.clusters);
  const bool with_texts = reader.no_texts().empty();
  page.raw("<h2 id=\"clusters\">Largest clusters</h2>\n<p class=\"soft\">");
  if (reader.counts().clusters > options.clusters) {
    page.raw(grouped(options.clusters) + " of " + counted(reader.counts().clusters, "cluster") + ". ");
  }
  if (with_texts) {
    page.raw(
        "Of each duplicate the first stretch that differs: <del>words of the representative</del> and <ins>words of the"
        " duplicate</ins>.</p>\n");
  } else {
    page.raw(escape_html(reader.no_texts())).raw("</p>\n");
  }
  int written = 0;
  for (const ReportCluster& cluster : clusters) write_cluster(cluster, written++ < kClustersOpen, with_texts, page);
}

void write_similarities(ReportReader& reader, OutFile& page) {
  const std::vector<std::int64_t> hundredths = reader.similarities();
  const auto first = std::find_if(hundredths.begin(), hundredths.end(), [](std::int64_t n) { return n > 0; });
  if (first == hundredths.end()) return;
  int least = std::min(static_cast<int>(first - hundredths.begin()), 95);
  const int step = 100 - least <= 25 ? 1 : 100 - least <= 50 ? 2 : 5;
  least -= least % step;
  std::vector<Bar> bars;
  for (int from = least; from < 100; from += step) {
    Bar bar{"", "", 0};
    for (int i = from; i < std::min(from + step, 100); ++i) bar.count += hundredths[static_cast<std::size_t>(i)];
    if (from % (step == 1 ? 5 : 10) == 0) bar.label = fixed(from / 100.0, 2);
    bar.title =
        fixed(from / 100.0, 2) + " to " + fixed(std::min(from + step, 100) / 100.0, 2) + ": " + grouped(bar.count);
    bars.push_back(bar);
  }
  bars.push_back({"= 1", "1: " + grouped(hundredths[100]), hundredths[100]});
  page.raw("<section class=\"card\"><h3>Similarity of duplicates to their representative</h3>\n")
      .raw(svg_bars(bars, "Histogram of the similarity of duplicates to the representative of their cluster"))
      .raw("<p class=\"soft\">Bars are " + fixed(step / 100.0, 2) +
           " wide and labelled with their lower end; the last one holds the duplicates of similarity "
           "1.</p></section>\n");
}

void write_sizes(ReportReader& reader, OutFile& page) {
  constexpr std::size_t kMostRanges = 7;  // beyond them there is room for the upper ends alone
  const std::vector<std::int64_t> counts = reader.sizes();
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t end = std::int64_t{1} << (i + 1);
    const std::string range = i == 0 ? "2" : grouped(end / 2 + 1) + "–" + grouped(end);
    bars.push_back({counts.size() <= kMostRanges ? range : grouped(end),
                    range + " rows: " + counted(counts[i], "cluster"), counts[i]});
  }
  page.raw("<section class=\"card\"><h3>Sizes of clusters</h3>\n")
      .raw(svg_bars(bars, "Histogram of the sizes of clusters"))
      .raw(std::string("<p class=\"soft\">Rows in a cluster") +
           (counts.size() <= kMostRanges ? "" : ", bars labelled with their upper end") +
           "; clusters of one row are not shown.</p></section>\n");
}

void write_settings(ReportReader& reader, OutFile& page) {
  page.raw("<details class=\"card\" id=\"settings\"><summary><h2>Settings</h2></summary>\n<table><tbody>\n");
  const auto row = [&](std::string_view label, std::string_view value) {
    page.raw("<tr><th scope=\"row\">" + escape_html(label) + "</th><td><bdi class=\"id\">" + escape_html(value) +
             "</bdi></td></tr>\n");
  };
  for (const ReportSetting& setting : reader.settings()) row(setting.label, setting.text);
  const std::string& finished = reader.about().finished.text;
  if (!finished.empty()) row("latest run ended", finished);
  page.raw("</tbody></table>\n</details>\n");
}

}  // namespace

void write_report_html(ReportReader& reader, const ReportOptions& options, OutFile& page) {
  begin_page("Near duplicates", options.job, reader.about(), page);
  write_counts(reader, page);
  if (reader.counts().clusters > 0) {
    write_places(options, page);
    write_page_search("pairs and clusters", page);
    if (options.pairs > 0) write_pairs(reader, options, page);
    if (options.clusters > 0) write_clusters(reader, options, page);
    page.raw("<h2 id=\"histograms\">Histograms</h2>\n<div class=\"charts\">\n");
    write_similarities(reader, page);
    write_sizes(reader, page);
    page.raw("</div>\n");
  }
  write_settings(reader, page);
  end_page(reader.about(), reader.counts().clusters > 0, page);
}

}  // namespace neardup::cli
