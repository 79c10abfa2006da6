// `neardup load`: its command line and its help.
#include <cstdio>
#include <getopt.h>
#include <stdexcept>
#include <string_view>

#include "cli/base/interrupt.h"
#include "cli/base/options.h"
#include "cli/load/load.h"
#include "cli/records/html_text.h"

namespace neardup::cli {
namespace {

constexpr const char* kHelp = R"(usage: neardup load DIR|FILE ... --table TABLE [options]

Loads text files into a PostgreSQL table: id, path, size, mtime, content_hash, body. The table is
created if it is missing. What gzip, zstd, bzip2 or xz has packed is unpacked. Files of records give a
row for each record, with the path FILE#1, FILE#2 ... Files that are in the table unchanged (same size
and time) are not read again, so a load that was stopped continues where it was. FILE may be -, which is
standard input.

  -t, --table TABLE        name, schema.name or "Quoted name", as in psql
  -d, --dbname DB          database name, connection string or URI (also --conninfo); default: PGDATABASE
  -h, --host HOST          host or socket directory
  -p, --port PORT
  -U, --username USER
      --format FORMAT      auto (by name and first bytes, the default), text, jsonl, csv, tsv, mbox or warc
      --text-column NAME   of jsonl and csv: the text (default: text, body or content)
      --id-column NAME     of jsonl and csv: the id (default: id); all further columns are kept as attributes
      --html text          load the visible text of HTML, without its markup
      --include GLOB       only files that match (repeatable); a pattern with a slash sees the whole path
      --exclude GLOB       not these files, nor directories and all that is in them (repeatable); GLOB/: directories
      --hidden             files and folders whose names begin with a dot, too (folders of version control never)
      --min-size SIZE      files of at least SIZE bytes on disk
      --max-size SIZE      texts and records of at most SIZE bytes, unpacked (default 256M, at most 1000M)
      --min-words N        texts of at least N words
      --encoding NAME      store files that are not UTF-8, too: as text of this encoding, or, detect, of the one that
                           the server finds (function neardup_decode of the extension)
      --list-skipped FILE  write every skipped file and the reason to FILE (default: the first 10 to stderr)
      --batch-files N      commit at least every N files or records (default 1000 files, 20000 records; also every 32 MB)
  -q, --quiet              no progress, no summary
      --help

SIZE takes k, M and G (1024 based). Symbolic links inside directories are not followed.
Exit code: 0 done, 1 a path is not there, nothing could be done or the database failed, 2 wrong usage,
130 stopped by Ctrl-C.
)";

enum LongOnly {
  kHelpOption = 256,
  kInclude,
  kExclude,
  kMinSize,
  kMaxSize,
  kMinWords,
  kEncoding,
  kListSkipped,
  kBatchFiles,
  kFormat,
  kTextColumn,
  kIdColumn,
  kHtml,
  kHidden
};

void set_format(LoadOptions& options) {
  const auto format = format_named(optarg);
  if (!format) throw UsageError("--format must be auto, text, jsonl, csv, tsv, mbox or warc: " + printable(optarg));
  options.format = *format;
}

void set_html(LoadOptions& options) {
  if (std::string_view(optarg) != "text") throw UsageError("--html must be text: " + printable(optarg));
  if (!html_is_available())
    throw UsageError(
        "--html needs libxml2, which this program was built without: install libxml2-dev, and build it again");
  options.html_text = true;
}

// With a slash at its end a pattern is for directories.
void exclude(std::string pattern, FileFilter& filter) {
  const std::size_t end = pattern.find_last_not_of('/') + 1;
  if (end == 0 || end == pattern.size()) {
    filter.exclude.push_back(std::move(pattern));
    return;
  }
  pattern.resize(end);
  filter.exclude_directories.push_back(std::move(pattern));
}

// Takes an option that getopt_long() gave. Returns false when help was asked for.
bool take_option(int option, LoadOptions& options) {
  switch (option) {
    case 't':
      options.table = optarg;
      break;
    case 'q':
      options.quiet = true;
      break;
    case kInclude:
      options.filter.include.emplace_back(optarg);
      break;
    case kExclude:
      exclude(optarg, options.filter);
      break;
    case kMinSize:
      options.filter.min_size = parse_number("--min-size", optarg, true, 0, INT64_MAX);
      break;
    case kMaxSize:
      options.max_size = parse_number("--max-size", optarg, true, 0, kMaxTextSize);
      break;
    case kMinWords:
      options.min_words = parse_number("--min-words", optarg, false, 0, INT64_MAX);
      break;
    case kBatchFiles:
      options.batch_files = options.batch_records = parse_number("--batch-files", optarg, false, 1, 100000);
      break;
    case kEncoding:
      options.encoding = optarg;
      if (options.encoding.empty()) throw UsageError("--encoding is empty");
      break;
    case kListSkipped:
      options.list_skipped = optarg;
      break;
    case kFormat:
      set_format(options);
      break;
    case kTextColumn:
      options.text_column = optarg;
      break;
    case kIdColumn:
      options.id_column = optarg;
      break;
    case kHtml:
      set_html(options);
      break;
    case kHidden:
      options.filter.hidden = true;
      break;
    case kHelpOption:
      return false;
    default:
      throw UsageError("");
  }
  return true;
}

// Returns false when help was asked for.
bool parse(int argc, char** argv, LoadOptions& options) {
  static const option long_options[] = {{"table", required_argument, nullptr, 't'},
                                        NEARDUP_CONNECTION_LONG_OPTIONS,
                                        {"include", required_argument, nullptr, kInclude},
                                        {"exclude", required_argument, nullptr, kExclude},
                                        {"min-size", required_argument, nullptr, kMinSize},
                                        {"max-size", required_argument, nullptr, kMaxSize},
                                        {"min-words", required_argument, nullptr, kMinWords},
                                        {"encoding", required_argument, nullptr, kEncoding},
                                        {"list-skipped", required_argument, nullptr, kListSkipped},
                                        {"batch-files", required_argument, nullptr, kBatchFiles},
                                        {"format", required_argument, nullptr, kFormat},
                                        {"text-column", required_argument, nullptr, kTextColumn},
                                        {"id-column", required_argument, nullptr, kIdColumn},
                                        {"html", required_argument, nullptr, kHtml},
                                        {"hidden", no_argument, nullptr, kHidden},
                                        {"quiet", no_argument, nullptr, 'q'},
                                        {"help", no_argument, nullptr, kHelpOption},
                                        {nullptr, 0, nullptr, 0}};
  for (int c = 0; (c = getopt_long(argc, argv, "t:q" NEARDUP_CONNECTION_SHORT_OPTIONS, long_options, nullptr)) != -1;) {
    if (take_connection_option(c, optarg, options.connection)) continue;
    if (!take_option(c, options)) return false;
  }
  for (int i = optind; i < argc; ++i) {
    if (*argv[i] == '\0') throw UsageError("a directory name is empty");
    options.arguments.emplace_back(argv[i]);
  }
  if (options.arguments.empty()) throw UsageError("no directory given");
  if (options.table.empty()) throw UsageError("--table is missing");
  try {
    options.quoted_table = parse_table_name(options.table);
  } catch (const std::invalid_argument& error) {
    throw UsageError("--table " + printable(options.table) + ": " + error.what());
  }
  return true;
}

}  // namespace

int load_main(int argc, char** argv) {
  LoadOptions options;
  if (const auto code = read_command_line("load", kHelp, [&] { return parse(argc, argv, options); })) return *code;
  check_arguments(options.arguments);
  install_interrupt_handlers();
  Connection db(options.connection);
  find_decoder(db, options);
  Skipped skipped(options.list_skipped,
                  options.arguments);  // before the table is made: it may be a file that cannot be written
  if (prepare_table(db, options) && !options.quiet) {
    std::fprintf(stderr, "created table %s\n", printable_message(options.quoted_table).c_str());
  }
  return load_files(db, options, skipped);
}

}  // namespace neardup::cli
