// `neardup report`: one pair of documents of the page, side by side, with the words marked that differ.
#include "cli/report/report_pair.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "core/diff/word_diff.h"
#include "cli/base/utf8.h"
#include "cli/report/html.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kIdShown = 120;  // bytes

// One side of a pair: its words, marked where they differ; long stretches that are the same are left out.
void write_side(OutFile& page, std::string_view text, const WordDiff& diff, bool left) {
  constexpr std::uint32_t kAround = 15, kLeastLeftOut = 10;
  const std::vector<WordToken>& tokens = left ? diff.a : diff.b;
  std::size_t at = 0;  // bytes written
  const auto write = [&](std::uint32_t first, std::uint32_t last, bool marked) {
    if (first >= last) return;
    if (marked) {
      page.raw(escape_html(text.substr(at, tokens[first].begin - at))).raw("<mark>");
      at = tokens[first].begin;
    }
    page.raw(escape_html(text.substr(at, tokens[last - 1].end - at)));
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

void write_document(const ReportPair& pair, int side, const WordDiff& diff, OutFile& page) {
  const ReportDocument &document = pair.documents[side], &other = pair.documents[1 - side];
  page.raw("<div><h3>" + std::string(side == 0 ? "representative " : "duplicate ") + id_html(pair.ids[side]) +
           "</h3><div class=\"text\" dir=\"auto\">");
  if (document.state != DocumentState::there) {
    page.raw(absence_html(document.state));
  } else if (other.state == DocumentState::gone) {
    page.raw(escape_html(document.text));
  } else {
    write_side(page, document.text, diff, side == 0);
  }
  if (document.length > kTextShown) {
    page.raw("\n<span class=\"skip\">… the first " + grouped(kTextShown) + " of " + grouped(document.length) +
             " are compared here</span>");
  }
  page.raw("</div></div>\n");
}

// A remark about what the marks do not say, or null.
const char* note_on(const ReportPair& pair, const WordDiff& diff) {
  const ReportDocument &a = pair.documents[0], &b = pair.documents[1];
  if (a.state == DocumentState::gone || b.state == DocumentState::gone) return nullptr;
  const bool alike = diff.runs.empty() || (diff.runs.size() == 1 && diff.runs[0].same);
  if (alike && a.text == b.text) return "What is shown is the same, byte for byte.";
  if (alike) return "Only spaces and line ends differ in what is shown.";
  if (!diff.complete) {
    return "Too different to be compared word by word: all between the common start and the common end is marked.";
  }
  return nullptr;
}

}  // namespace

std::string similarity_text(std::optional<double> similarity) {
  if (!similarity) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", std::floor(*similarity * 1000 + 1e-9) / 1000);
  return text;
}

std::string id_html(std::string_view id) {
  const std::string_view part = first_bytes(id, kIdShown);
  return "<bdi class=\"id\">" + escape_html(part) + (part.size() < id.size() ? "…" : "") + "</bdi>";
}

std::string absence_html(DocumentState state) {
  const char* const why =
      state == DocumentState::gone ? "the row is no longer among those of the source" : "no document";
  return std::string("<span class=\"skip\">") + why + "</span>";
}

void write_pair_html(const ReportPair& pair, bool with_texts, OutFile& page) {
  const std::string heading = "<b>" + similarity_text(pair.similarity) + "</b> cluster " +
                              std::to_string(pair.cluster) + ": " + id_html(pair.ids[0]) + " and " +
                              id_html(pair.ids[1]);
  if (!with_texts) {
    page.raw("<p class=\"card item line\">" + heading + "</p>\n");
    return;
  }
  page.raw("<details class=\"card item\" open><summary>" + heading + "</summary>\n<div class=\"pair\">\n");
  const WordDiff diff = diff_words(pair.documents[0].text, pair.documents[1].text);
  for (int side = 0; side < 2; ++side) write_document(pair, side, diff, page);
  page.raw("</div>\n");
  if (const char* note = note_on(pair, diff)) page.raw("<p class=\"soft note\">").raw(note).raw("</p>\n");
  page.raw("</details>\n");
}

}  // namespace neardup::cli
