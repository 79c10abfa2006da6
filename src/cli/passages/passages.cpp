// `neardup passages`: its command line, its help, and the page.
#include "cli/passages/passages.h"

#include "cli/base/interrupt.h"
#include "cli/base/options.h"
#include "cli/report/html.h"

namespace neardup::cli {
namespace {

constexpr const char* kPassagesHelp = R"(usage: neardup passages JOB|QUERY --out FILE [options]

Writes a page of HTML about the passages that stand more than once in the documents of a job, or of a query (id, document
and perhaps a column within, as repeated_passages() takes it; it begins with SELECT, TABLE, VALUES or WITH): the most
frequent passages with their numbers and documents, and the share of each document that is repeated. It loads nothing.

  -o, --out FILE           a regular file that is there is replaced at the end; - is stdout
      --min-units N        units of a passage, at least (default 50)
      --unit UNIT          word, char, line, paragraph or code (default word)
      --at-least N         times that a passage occurs, at least (default 2)
      --passages N         the N most frequent passages (default 50)
      --documents N        the N documents of which most is repeated (default 100)
{connection}
  -q, --quiet              no summary
      --help

Exit code: 0 done, 1 the page could not be made, 2 wrong usage, 130 stopped by Ctrl-C.
)";

constexpr std::int64_t kMostShown = 10000;

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

std::string isolated(const std::string& id) { return "<bdi class=\"id\">" + escape_html(id) + "</bdi>"; }

std::string plural_unit(const std::string& unit) {
  if (unit == "code") return "tokens of code";
  return unit == "char" ? "characters" : escape_html(unit) + "s";
}

void write_totals(const RepeatedTexts& texts, const PassagesOptions& options, OutFile& page) {
  page.raw("<p class=\"counts\"><b>" + grouped(texts.documents) + "</b> documents, <b>" + grouped(texts.with_repeated) +
           "</b> with repeated passages: <b>" + grouped(texts.repeated) + "</b> of " + grouped(texts.characters) +
           " characters (" + percent(share(texts.repeated, texts.characters)) +
           ").</p>\n<p class=\"soft\">Passages of " + grouped(options.min_units) + " or more " +
           plural_unit(options.unit) + " that occur " + grouped(options.at_least) + " times or more.</p>\n");
  if (texts.with_repeated == 0) page.raw("<p>No passage is repeated.</p>\n");
}

void write_passages(const RepeatedTexts& texts, OutFile& page) {
  page.raw("<h2 id=\"passages\">Most frequent passages</h2>\n");
  for (const CommonText& passage : texts.passages) {
    page.raw("<details class=\"card item\" open><summary><b>" + grouped(passage.documents) + "</b> " +
             (passage.documents == 1 ? "document" : "documents") + ", <b>" + grouped(passage.occurrences) +
             "</b> occurrences</summary>\n<div class=\"line text\" dir=\"auto\">" + escape_html(passage.text) +
             "</div>\n<p class=\"note soft\">In ");
    for (std::size_t i = 0; i < passage.ids.size(); ++i) page.raw((i == 0 ? "" : ", ") + isolated(passage.ids[i]));
    const std::int64_t more = passage.documents - static_cast<std::int64_t>(passage.ids.size());
    if (more > 0) page.raw((passage.ids.empty() ? "" : " and ") + grouped(more) + (passage.ids.empty() ? "" : " more"));
    page.raw("</p>\n</details>\n");
  }
}

void write_documents(const RepeatedTexts& texts, OutFile& page) {
  page.raw(
      "<h2 id=\"documents\">Documents of which most is repeated</h2>\n<p class=\"soft\">The share of a document's "
      "characters that are in repeated passages.</p>\n<section class=\"card\"><table><tbody>\n");
  for (const RepeatedDocument& document : texts.repeating) {
    const double repeated = share(document.repeated, document.length);
    page.raw("<tr class=\"item\"><th scope=\"row\">" + isolated(document.id) +
             "</th><td><meter min=\"0\" max=\"1\" value=\"" + fixed(repeated, 3) + "\">" + percent(repeated) +
             "</meter> " + percent(repeated) + "</td><td>" + grouped(document.repeated) + " of " +
             grouped(document.length) + " characters</td></tr>\n");
  }
  page.raw("</tbody></table></section>\n");
}

int write_page(const PassagesOptions& options) {
  install_interrupt_handlers();
  Connection db(options.connection);
  const RepeatedTexts texts = read_repeated_texts(db, options);
  OutFile page(options.out);
  begin_page("Repeated passages", options.source, texts.about, page);
  write_totals(texts, options, page);
  const bool any = !texts.passages.empty() || !texts.repeating.empty();
  if (any) write_page_search("passages and documents", page);
  if (!texts.passages.empty()) write_passages(texts, page);
  if (!texts.repeating.empty()) write_documents(texts, page);
  end_page(texts.about, any, page);
  page.commit();
  if (!options.quiet) {
    print_summary(options.out, options.source,
                  counted(texts.documents, "document") + ", " + grouped(texts.with_repeated) +
                      " with repeated passages, " + percent(share(texts.repeated, texts.characters)) +
                      " of the characters");
  }
  return 0;
}

}  // namespace

int passages_main(int argc, char** argv) {
  PassagesOptions options;
  const Option table[] = {{"out", 'o', &options.out},
                          {"min-units", 0, Number{&options.min_units, 1, 100000}},
                          {"unit", 0, &options.unit},
                          {"at-least", 0, Number{&options.at_least, 2, INT32_MAX}},
                          {"passages", 0, Number{&options.passages, 0, kMostShown}},
                          {"documents", 0, Number{&options.documents, 0, kMostShown}},
                          options.connection,
                          {"quiet", 'q', &options.quiet}};
  const auto read_source = [&](Arguments arguments) {
    options.source = one_argument(arguments, "job or query", " (is the query quoted?)");
    if (options.out.empty()) throw UsageError("--out is missing");
  };
  if (const auto code = read_command_line(argc, argv, kPassagesHelp, table, read_source)) return *code;
  return run_writing("passages", options.out, [&] { return write_page(options); });
}

}  // namespace neardup::cli
