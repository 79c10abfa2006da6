// Why a file, or a record of one, gave no row.
#pragma once

#include "cli/input/file_problem.h"

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
};

// "not valid UTF-8" and so on
const char* skip_reason_text(SkipReason reason);
SkipReason skip_reason(FileProblem problem);

}  // namespace neardup::cli
