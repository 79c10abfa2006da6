// The readers of records, a format each. What they have in common is records.h.
#pragma once

#include <memory>

#include "cli/records/records.h"

namespace neardup::cli {

std::unique_ptr<RecordReader> make_jsonl_reader(ByteSource& source, const RecordOptions& options);
std::unique_ptr<RecordReader> make_csv_reader(ByteSource& source, const RecordOptions& options, char delimiter);
std::unique_ptr<RecordReader> make_mbox_reader(ByteSource& source, const RecordOptions& options);
std::unique_ptr<RecordReader> make_warc_reader(ByteSource& source, const RecordOptions& options);

}  // namespace neardup::cli
