// Files of records in the database: three columns of the table of documents, and a table of the files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/base/database.h"

namespace neardup::cli {

// This size of a file says that it was not read to its end, or shall be read again. The package for Python has the
// same.
inline constexpr std::int64_t kUnfinished = -1;

// A file of records.
struct RecordFile {
  std::string path;
  std::int64_t size;  // or kUnfinished
  std::int64_t mtime;
  std::int64_t records;  // of which the last stored one has this number; 0: none was stored
  std::string options;   // with which its records were read
};

// The table of files is TABLE_files in the schema of TABLE. It is made with the first file of records.
class RecordTable {
 public:
  // quoted_table: as qualified_table() gives it, so that the table of files is in its schema.
  RecordTable(Connection& db, std::string quoted_table);

  // The files of these paths that were read to their end, and whose last record is still in the table.
  std::unordered_map<std::string, RecordFile> look_up(const std::vector<std::string_view>& paths);

  // Adds the columns record_id, at and attributes to the table, and makes the table of files, where they are missing.
  // Throws DatabaseError; std::runtime_error where a column or a table of that name is there that is another one, or
  // the table belongs to another role than the table of documents.
  void prepare();
  // To be called before the first records of the file are sent, with kUnfinished, and when all of them are committed.
  // Returns why the table does not hold it (a path too long for its index), or nothing.
  std::string note(const RecordFile& file);
  // Deletes the note of an earlier load, which is no longer true.
  void forget(const std::string& path);
  // True if the table of documents has a row of this path that is the record of a file.
  bool has_record(std::string_view path);

 private:
  void check_owner();
  Connection& db_;
  std::string table_, files_;
  bool files_there_ = false, prepared_ = false;
};

}  // namespace neardup::cli
