// Files of records on their way into the table, batch by batch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cli/load/load.h"
#include "cli/load/record_table.h"
#include "cli/load/row_sender.h"
#include "cli/load/text_decoder.h"
#include "cli/records/records.h"

namespace neardup::cli {

struct RecordCounts {
  std::int64_t other = 0;        // no documents by their kind
  std::int64_t attachments = 0;  // of mails
  // Files that the next load reads again: of records that it might load, or that could not be noted as read.
  std::int64_t unfinished = 0, unnoted = 0;
};

class RecordLoader {
 public:
  RecordLoader(Connection& db, const LoadOptions& options, Skipped& skipped, RowSender& sender, TextDecoder& decoder)
      : options_(options), skipped_(skipped), sender_(sender), decoder_(decoder), table_(db, options.quoted_table) {}

  // Files that need not be read again, if their size and time are the same.
  bool is_unchanged(const FoundFile& file) const;
  void look_up(const std::vector<std::string_view>& paths) { known_ = table_.look_up(paths); }

  // Loads the records of a file. What is wrong with a record, or with the file, is skipped and counted. progress: bytes
  // of the file that were read meanwhile. Throws DatabaseError, Interrupted.
  using OnBytes = std::function<void(std::int64_t)>;
  void load(const FoundFile& file, Format format, const OnBytes& progress);

  bool has_record(const std::string& path) { return table_.has_record(path); }

  const RecordCounts& counts() const { return counts_; }

 private:
  void read(const FoundFile& file, File& source, Format format, const OnBytes& progress);
  void add_record(std::int64_t mtime, const std::string& path, Record& record);
  bool make_text(const std::string& path, Record& record);
  void send(bool likely_new);
  std::string options_text(Format format) const;
  std::int64_t skipped_for_now() const;

  const LoadOptions& options_;
  Skipped& skipped_;
  RowSender& sender_;
  TextDecoder& decoder_;
  RecordTable table_;
  std::unordered_map<std::string, RecordFile> known_;
  RecordFile file_;     // that is read
  bool noted_ = false;  // as unfinished
  std::vector<Row> rows_;
  std::size_t row_bytes_ = 0;
  std::unordered_set<std::uint64_t> identities_;  // hashes, of the file that is read
  RecordCounts counts_;
};

}  // namespace neardup::cli
