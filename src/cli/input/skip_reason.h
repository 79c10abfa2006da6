// The reasons for which a file, or a record of one, gives no row.
#pragma once

namespace neardup::cli {

enum class SkipReason {
  vanished,
  unreadable,
  bad_name,
  too_large,
  no_memory,
  bad_gzip,
  bad_packing,
  has_nul,
  not_utf8,
  archive,
  binary,
  no_library,
  link,
  no_column,
  bad_record,
  no_text,
  repeated_id,
  too_few_words,
  refused,
  left_out,
  path_taken,
  count_,
  // no reasons: the file gives a text; it is one of records, to be read as such
  none,
  records,
};

// "not valid UTF-8" and so on
const char* skip_reason_text(SkipReason reason);

}  // namespace neardup::cli
