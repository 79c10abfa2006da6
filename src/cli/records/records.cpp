// The table of record readers.
#include "cli/records/records.h"

#include "cli/records/record_readers.h"

namespace neardup::cli {

std::unique_ptr<RecordReader> make_record_reader(Format format, ByteSource& source, const RecordOptions& options) {
  switch (format) {
    case Format::jsonl:
      return make_jsonl_reader(source, options);
    case Format::csv:
      return make_csv_reader(source, options, ',');
    case Format::tsv:
      return make_csv_reader(source, options, '\t');
    case Format::mbox:
      return make_mbox_reader(source, options);
    case Format::warc:
      return make_warc_reader(source, options);
    case Format::automatic:
    case Format::text:
      break;
  }
  throw std::logic_error("a format without records");
}

}  // namespace neardup::cli
