// Names of files that a database of another encoding than UTF-8 cannot hold.
#include "cli/stored_names.h"

#include <algorithm>
#include <span>

namespace neardup::cli {
namespace {

using Names = std::span<const std::string_view>;

bool is_ascii(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// In halves, until the names are found that the server does not take.
void find_refused(Connection& db, Names names, std::span<std::string> why) {
  if (std::all_of(names.begin(), names.end(), is_ascii)) return;
  try {
    const Result back = db.query("SELECT pg_catalog.unnest($1)", Params().text_array({names.begin(), names.end()}));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string_view name = get_text(back, static_cast<int>(i), 0);
      if (name != names[i]) {
        why[i] =
            "encoding " + std::string(db.server_encoding()) + " would make another name of it: " + std::string(name);
      }
    }
    return;
  } catch (const DatabaseError& error) {
    if (error.connection_lost() || !error.in_class("22")) throw;
    if (names.size() == 1) {
      why[0] = error.what();
      return;
    }
  }
  const std::size_t half = names.size() / 2;
  find_refused(db, names.first(half), why.first(half));
  find_refused(db, names.subspan(half), why.subspan(half));
}

}  // namespace

std::vector<std::string> refused_names(Connection& db, const std::vector<std::string_view>& names) {
  std::vector<std::string> why(names.size());
  const std::string_view encoding = db.server_encoding();
  if (encoding != "UTF8" && encoding != kNoEncoding) find_refused(db, names, why);
  return why;
}

}  // namespace neardup::cli
