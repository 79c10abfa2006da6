// Rows of files and records on their way into the table: new ones by COPY, changed ones by UPDATE, one transaction a
// batch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/base/database.h"
#include "cli/load/skipped.h"

namespace neardup::cli {

// A file or a record that was read and is to be sent.
struct Row {
  std::string path;
  std::int64_t size;
  std::int64_t mtime;
  std::int64_t content_hash;
  std::string body;
  bool is_record = false;  // what follows is of records alone
  std::string record_id = {};
  std::optional<std::int64_t> at = {};
  std::string attributes = {};
};

// The row of a path in the table.
struct Known {
  std::int64_t size;
  std::int64_t mtime;
  std::int64_t content_hash;
};
using KnownRows = std::unordered_map<std::string, Known>;

// Rows that the table has taken. What a trigger left out is none of them.
struct SentCounts {
  std::int64_t fresh = 0, changed = 0, touched = 0;  // touched: only size and time are others
  std::int64_t same_records = 0;
  std::int64_t text_bytes = 0;
};

class RowSender {
 public:
  RowSender(Connection& db, const std::string& quoted_table, Skipped& skipped)
      : db_(db), table_(quoted_table), skipped_(skipped) {}

  // The rows of the table with these paths. A second row for the same path is ruled out by the unique index.
  KnownRows look_up(const std::vector<std::string_view>& paths);

  // Commits. A row that the server refuses is skipped, and so is one that a trigger leaves out. Throws DatabaseError
  // where it is not for the data of a row.
  // likely_new: none of them is expected to be in the table, so that this is asked only when the table objects.
  void send(std::span<const Row> rows, bool likely_new = false);

  const SentCounts& counts() const { return counts_; }

 private:
  using Rows = std::vector<const Row*>;
  // The changes of one transaction; they count once it is committed.
  struct Outcome {
    SentCounts counts;
    Rows left_out, path_taken;
    std::int64_t left_out_unnamed = 0;
  };

  void transaction(std::span<const Row> rows, bool likely_new);
  void update_known(const Rows& rows, const KnownRows& known, Rows& fresh, Outcome& outcome);
  // Updates the other columns of records whose texts are what they were.
  void update_records(const Rows& rows, Rows& fresh, Outcome& outcome);
  struct Differing {
    Rows differ, gone;  // from their rows in the table; gone: there is no row
  };
  Differing differing(const Rows& records);
  KnownRows look_up(const Rows& rows);
  // Takes those records out whose paths are rows of files.
  Rows without_paths_of_files(const Rows& rows, const KnownRows& known, Outcome& outcome);
  bool update(const Row& row, bool with_body);
  void copy(const Rows& rows, Outcome& outcome);
  std::int64_t copy_rows(const Rows& rows);

  Connection& db_;
  const std::string& table_;
  Skipped& skipped_;
  SentCounts counts_;
};

}  // namespace neardup::cli
