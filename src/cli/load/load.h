// `neardup load`: files into a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/database.h"
#include "cli/input/format.h"
#include "cli/input/walk.h"
#include "cli/load/skipped.h"

namespace neardup::cli {

inline constexpr std::size_t kBytesAtOnce = 32 << 20;  // of texts, at least, that are sent together
inline constexpr std::int64_t kUsualMaxSize = 256LL << 20;

struct LoadOptions {
  std::vector<std::string> arguments;  // directories and files
  std::string table;                   // as given, for messages
  std::string quoted_table;            // for SQL
  Connection::Options connection;
  FileFilter filter;
  std::int64_t max_size = kUsualMaxSize;  // bytes of text, unpacked
  std::int64_t min_words = 0;
  std::int64_t batch_files = 1000;
  std::int64_t batch_records = 20000;
  Format format = Format::automatic;
  std::string text_column, id_column;  // empty: the usual names
  bool html_text = false;              // the visible text of HTML
  std::string list_skipped;
  std::string encoding;         // of files that are not UTF-8: a name, "detect", or empty to skip them
  std::string decode_function;  // quoted, found by find_decoder(); empty: the database has none
  bool quiet = false;
};

// A text field, its row and the copies of it that PostgreSQL makes must stay below 1 GB.
inline constexpr std::int64_t kMaxTextSize = 1000LL << 20;

// The subcommand. Returns the exit code; throws DatabaseError, Interrupted, std::runtime_error.
int load_main(int argc, char** argv);

// Creates the table when it is missing; otherwise throws std::runtime_error unless it has the columns and the unique
// path that the loader needs. From here on options.quoted_table has its schema. Returns true when it was created.
bool prepare_table(Connection& db, LoadOptions& options);

// Looks for the function of the extension that decodes. Where options.encoding is given, tries it, and throws
// std::runtime_error where the server has none.
void find_decoder(Connection& db, LoadOptions& options);

// The work itself, after options and table are settled.
int load_files(Connection& db, const LoadOptions& options, Skipped& skipped);

}  // namespace neardup::cli
