// Why a file, or a record of one, gave no text.
#pragma once

namespace neardup::cli {

enum class FileProblem {
  none,
  vanished,
  unreadable,
  not_regular,
  too_large,
  no_memory,
  bad_gzip,
  bad_packing,
  has_nul,
  not_utf8,
  binary,
  no_library,
  records,  // none: the file is one of records, to be read as such
};

}  // namespace neardup::cli
