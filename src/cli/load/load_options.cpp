// `neardup load`: its command line and its help.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "cli/base/interrupt.h"
#include "cli/base/options.h"
#include "cli/load/load.h"
#include "cli/records/html_text.h"

namespace neardup::cli {
namespace {

constexpr const char* kLoadHelp = R"(usage: neardup load DIR|FILE ... --table TABLE [options]

Loads text files into a PostgreSQL table: id, path, size, mtime, content_hash, body. The table is
created if it is missing. What gzip, zstd, bzip2 or xz has packed is unpacked. Files of records give a
row for each record, with the path FILE#1, FILE#2 ... Files that are in the table unchanged (same size
and time) are not read again, so a load that was stopped continues where it was. FILE may be -, which is
standard input.

  -t, --table TABLE        name, schema.name or "Quoted name", as in psql
{connection}
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

Format parse_format(const char* name) {
  const auto format = format_named(name);
  if (!format) throw UsageError("--format must be auto, text, jsonl, csv, tsv, mbox or warc: " + printable(name));
  return *format;
}

void set_html(const char* name, LoadOptions& options) {
  if (std::string_view(name) != "text") throw UsageError("--html must be text: " + printable(name));
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

void read_arguments(Arguments arguments, LoadOptions& options) {
  options.arguments.assign(arguments.begin(), arguments.end());
  if (std::ranges::find(options.arguments, "") != options.arguments.end())
    throw UsageError("a directory name is empty");
  if (options.arguments.empty()) throw UsageError("no directory given");
  if (options.table.empty()) throw UsageError("--table is missing");
  try {
    options.quoted_table = parse_table_name(options.table);
  } catch (const std::invalid_argument& error) {
    throw UsageError("--table " + printable(options.table) + ": " + error.what());
  }
}

}  // namespace

int load_main(int argc, char** argv) {
  LoadOptions options;
  FileFilter& filter = options.filter;
  const Option table[] = {
      {"table", 't', &options.table},
      options.connection,
      {"include", 0, [&](const char* value) { filter.include.emplace_back(value); }},
      {"exclude", 0, [&](const char* value) { exclude(value, filter); }},
      {"min-size", 0, Number{&filter.min_size, 0, INT64_MAX, true}},
      {"max-size", 0, Number{&options.max_size, 0, kMaxTextSize, true}},
      {"min-words", 0, Number{&options.min_words, 0, INT64_MAX}},
      {"encoding", 0, NonEmpty{&options.encoding}},
      {"list-skipped", 0, &options.list_skipped},
      {"batch-files", 0,
       [&](const char* value) {
         options.batch_files = options.batch_records = parse_number("--batch-files", value, false, 1, 100000);
       }},
      {"format", 0, [&](const char* value) { options.format = parse_format(value); }},
      {"text-column", 0, &options.text_column},
      {"id-column", 0, &options.id_column},
      {"html", 0, [&](const char* value) { set_html(value, options); }},
      {"hidden", 0, &filter.hidden},
      {"quiet", 'q', &options.quiet},
  };
  const auto read_rest = [&](Arguments arguments) { read_arguments(arguments, options); };
  if (const auto code = read_command_line(argc, argv, kLoadHelp, table, read_rest)) return *code;
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
