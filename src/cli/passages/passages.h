// `neardup passages`: the passages that stand more than once in the documents of a job or of a query, as a page of
// HTML.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/database.h"
#include "cli/report/page.h"

namespace neardup::cli {

constexpr std::size_t kPassageDocumentsShown = 12;

struct PassagesOptions {
  std::string source, out;  // source: a job or a query
  std::string unit = "word";
  std::int64_t min_units = 50, at_least = 2;
  std::int64_t passages = 50, documents = 100;  // shown
  Connection::Options connection;
  bool quiet = false;
};

// Ids and passages may be cut.
struct CommonText {
  std::string text;
  std::int64_t documents = 0, occurrences = 0;
  std::vector<std::string> ids;  // of some of the documents
};

struct RepeatedDocument {
  std::string id;
  std::int64_t length = 0, repeated = 0;  // characters
};

struct RepeatedTexts {
  PageAbout about;
  std::int64_t documents = 0, with_repeated = 0;  // documents in all, and with a repeated passage
  std::int64_t characters = 0, repeated = 0;
  std::vector<CommonText> passages;         // the most frequent first
  std::vector<RepeatedDocument> repeating;  // documents, those first of which most is repeated
};

// True if the source is a query: its first word is SELECT, TABLE, VALUES or WITH. Else it is the name of a job.
bool is_query(const std::string& source);

// Reads all from one snapshot. Throws DatabaseError, std::runtime_error.
RepeatedTexts read_repeated_texts(Connection& db, const PassagesOptions& options);

// The subcommand. Returns the exit code; throws as report_main().
int passages_main(int argc, char** argv);

}  // namespace neardup::cli
