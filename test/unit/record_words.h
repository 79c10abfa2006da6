// Records of a file in words, for comparisons.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/records/records.h"

namespace neardup::test {

using cli::ByteSource;
using cli::Format;
using cli::Record;
using cli::RecordReader;

inline std::string words(const RecordReader& reader, RecordReader::Found found, const Record& record) {
  const std::string size = ", size " + std::to_string(record.size);
  switch (found) {
    case RecordReader::Found::record:
      return "record " + record.body + (record.html ? ", html" : "") + ", charset " + record.charset + ", id " +
             record.record_id + ", identity " + record.identity + ", at " +
             (record.at ? std::to_string(*record.at) : "none") + ", " + record.attributes + size + ", attachments " +
             std::to_string(record.attachments);
    case RecordReader::Found::problem:
      return "problem " + std::to_string(static_cast<int>(reader.reason())) + ": " + reader.detail() + size;
    case RecordReader::Found::other:
      return "other" + size;
    case RecordReader::Found::end:
      break;
  }
  return "end";
}

using Words = std::vector<std::string>;

inline Words read_records(Format format, ByteSource& source, std::int64_t max_size) {
  Words all;
  try {
    const std::unique_ptr<RecordReader> reader = cli::make_record_reader(format, source, {"", "", max_size});
    Record record;
    RecordReader::Found found;
    do {
      found = reader->next(record);
      all.push_back(words(*reader, found, record));
    } while (found != RecordReader::Found::end);
  } catch (const std::runtime_error& error) {
    all.emplace_back(error.what());
  }
  return all;
}

}  // namespace neardup::test
