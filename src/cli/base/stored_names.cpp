// Names of files in databases of another encoding than UTF-8.
#include "cli/base/stored_names.h"

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

// Converts in halves, until the names are found that have no UTF-8.
void convert(Connection& db, Names names, std::span<std::optional<std::string>> converted) {
  if (std::all_of(names.begin(), names.end(), is_ascii)) return;
  db.query("SAVEPOINT names");
  try {
    const Result found =
        db.query("SELECT pg_catalog.convert_from(u, pg_catalog.getdatabaseencoding()) FROM pg_catalog.unnest($1) u",
                 Params().bytea_array({names.begin(), names.end()}));
    for (std::size_t i = 0; i < names.size(); ++i) converted[i] = get_text(found, static_cast<int>(i), 0);
    db.query("RELEASE SAVEPOINT names");
    return;
  } catch (const DatabaseError& error) {
    if (error.connection_lost() || !error.in_class("22")) throw;
  }
  db.query("ROLLBACK TO SAVEPOINT names");
  db.query("RELEASE SAVEPOINT names");
  if (names.size() == 1) {
    converted[0].reset();
    return;
  }
  const std::size_t half = names.size() / 2;
  convert(db, names.first(half), converted.first(half));
  convert(db, names.subspan(half), converted.subspan(half));
}

}  // namespace

std::vector<std::string> refused_names(Connection& db, const std::vector<std::string_view>& names) {
  std::vector<std::string> why(names.size());
  if (db.converts()) find_refused(db, names, why);
  return why;
}

std::vector<std::optional<std::string>> names_in_utf8(Connection& db, const std::vector<std::string_view>& names) {
  std::vector<std::optional<std::string>> converted(names.begin(), names.end());
  if (db.converts()) convert(db, names, converted);
  return converted;
}

}  // namespace neardup::cli
