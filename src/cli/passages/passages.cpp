// `neardup passages`: its command line, its help, and the page.
#include "cli/passages/passages.h"

#include <cstdio>
#include <getopt.h>

#include "cli/base/interrupt.h"
#include "cli/base/options.h"
#include "cli/report/html.h"

namespace neardup::cli {
namespace {

constexpr const char* kHelp = R"(usage: neardup passages JOB|QUERY --out FILE [options]

Writes a page of HTML about the passages that stand more than once in the documents of a job, or of a query (id, document
and perhaps a column within, as repeated_passages() takes it; it begins with SELECT, TABLE, VALUES or WITH): the most
frequent passages with their numbers and documents, and the share of each document that is repeated. It loads nothing.

  -o, --out FILE           a regular file that is there is replaced at the end; - is stdout
      --min-units N        units of a passage, at least (default 50)
      --unit UNIT          word, char, line, paragraph or code (default word)
      --at-least N         times that a passage occurs, at least (default 2)
      --passages N         the N most frequent passages (default 50)
      --documents N        the N documents of which most is repeated (default 100)
  -d, --dbname DB          database name, connection string or URI (also --conninfo); default: PGDATABASE
  -h, --host HOST          host or socket directory
  -p, --port PORT
  -U, --username USER
  -q, --quiet              no summary
      --help

Exit code: 0 done, 1 the page could not be made, 2 wrong usage, 130 stopped by Ctrl-C.
)";

constexpr std::int64_t kMostShown = 10000;

enum LongOnly { kHelpOption = 256, kMinUnits, kUnit, kAtLeast, kPassages, kDocuments };

// Returns false when help was asked for.
bool parse(int argc, char** argv, PassagesOptions& options) {
  static const option long_options[] = {{"out", required_argument, nullptr, 'o'},
                                        {"min-units", required_argument, nullptr, kMinUnits},
                                        {"unit", required_argument, nullptr, kUnit},
                                        {"at-least", required_argument, nullptr, kAtLeast},
                                        {"passages", required_argument, nullptr, kPassages},
                                        {"documents", required_argument, nullptr, kDocuments},
                                        NEARDUP_CONNECTION_LONG_OPTIONS,
                                        {"quiet", no_argument, nullptr, 'q'},
                                        {"help", no_argument, nullptr, kHelpOption},
                                        {nullptr, 0, nullptr, 0}};
  for (int c = 0; (c = getopt_long(argc, argv, "o:q" NEARDUP_CONNECTION_SHORT_OPTIONS, long_options, nullptr)) != -1;) {
    if (take_connection_option(c, optarg, options.connection)) continue;
    switch (c) {
      case 'o':
        options.out = optarg;
        break;
      case kMinUnits:
        options.min_units = parse_number("--min-units", optarg, false, 1, 100000);
        break;
      case kUnit:
        options.unit = optarg;
        break;
      case kAtLeast:
        options.at_least = parse_number("--at-least", optarg, false, 2, INT32_MAX);
        break;
      case kPassages:
        options.passages = parse_number("--passages", optarg, false, 0, kMostShown);
        break;
      case kDocuments:
        options.documents = parse_number("--documents", optarg, false, 0, kMostShown);
        break;
      case 'q':
        options.quiet = true;
        break;
      case kHelpOption:
        return false;
      default:
        throw UsageError("");
    }
  }
  if (optind >= argc) throw UsageError("no job or query given");
  if (optind + 1 < argc)
    throw UsageError("more than one job or query given (is the query quoted?): " + printable(argv[optind + 1]));
  options.source = argv[optind];
  if (options.out.empty()) throw UsageError("--out is missing");
  return true;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

std::string isolated(const std::string& id) { return "<bdi class=\"id\">" + html_text(id) + "</bdi>"; }

std::string plural_of(const std::string& unit) {
  if (unit == "code") return "tokens of code";
  return unit == "char" ? "characters" : html_text(unit) + "s";
}

void write_totals(const RepeatedTexts& texts, const PassagesOptions& options, OutFile& page) {
  page.raw("<p class=\"counts\"><b>" + grouped(texts.documents) + "</b> documents, <b>" + grouped(texts.with_repeated) +
           "</b> with repeated passages: <b>" + grouped(texts.repeated) + "</b> of " + grouped(texts.characters) +
           " characters (" + percent(share(texts.repeated, texts.characters)) +
           ").</p>\n<p class=\"soft\">Passages of " + grouped(options.min_units) + " or more " +
           plural_of(options.unit) + " that occur " + grouped(options.at_least) + " times or more.</p>\n");
  if (texts.with_repeated == 0) page.raw("<p>No passage is repeated.</p>\n");
}

void write_passages(const RepeatedTexts& texts, OutFile& page) {
  page.raw("<h2 id=\"passages\">Most frequent passages</h2>\n");
  for (const CommonText& passage : texts.passages) {
    page.raw("<details class=\"card item\" open><summary><b>" + grouped(passage.documents) + "</b> " +
             (passage.documents == 1 ? "document" : "documents") + ", <b>" + grouped(passage.occurrences) +
             "</b> occurrences</summary>\n<div class=\"line text\" dir=\"auto\">" + html_text(passage.text) +
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
    const bool on_stdout = options.out == "-";
    std::fprintf(on_stdout ? stderr : stdout, "%s: %s, %s with repeated passages, %s of the characters\n",
                 printable(on_stdout ? options.source : options.out).c_str(),
                 counted(texts.documents, "document").c_str(), grouped(texts.with_repeated).c_str(),
                 percent(share(texts.repeated, texts.characters)).c_str());
  }
  return 0;
}

}  // namespace

int passages_main(int argc, char** argv) {
  PassagesOptions options;
  if (const auto code = read_command_line("passages", kHelp, [&] { return parse(argc, argv, options); })) return *code;
  return run_writing("passages", options.out, [&] { return write_page(options); });
}

}  // namespace neardup::cli
