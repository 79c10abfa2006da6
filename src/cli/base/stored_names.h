// Names of files in databases of another encoding than UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/database.h"

namespace neardup::cli {

// For each name, which is UTF-8: why the database cannot hold it, or "" where it can. An encoding may lack a character,
// or take it for another one, so that the name would not be found again (U+00A6 in EUC_JP).
std::vector<std::string> refused_names(Connection& db, const std::vector<std::string_view>& names);

// Names as the bytes that the database holds, in UTF-8; none where UTF-8 has no character for some of them. To be
// called within a transaction.
std::vector<std::optional<std::string>> names_in_utf8(Connection& db, const std::vector<std::string_view>& names);

}  // namespace neardup::cli
