// From the name of a file to a title that people read.
#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace neardup {

// Folders, extensions of texts and archives, percent-encoding, brackets that are no part of a title ([site], 【..】,
// (v2), (完结), (1)), marks of copies (_副本, " - Copy") are left out; _ . + and - between words become spaces, but
// what belongs to a word stays (C++, A+, .NET); white space is collapsed. filename: UTF-8, which stays so. Never empty
// unless filename is: where nothing would be left, less is left out. Error{too_large} above kMaxFilename bytes. Linear.
inline constexpr size_t kMaxFilename = 65536;
// percent_decoding false leaves %XX as it is: for who cannot write the result.
std::string make_title(std::string_view filename, bool percent_decoding = true);

}  // namespace neardup
