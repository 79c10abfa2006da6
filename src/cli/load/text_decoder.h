// The text that is loaded: of other encodings than UTF-8 decoded by the server's function neardup_decode, and counted;
// of HTML what can be seen; not too short.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cli/base/database.h"
#include "cli/load/load.h"
#include "cli/load/skipped.h"

namespace neardup::cli {

class TextDecoder {
 public:
  TextDecoder(Connection& db, const LoadOptions& options, Skipped& skipped)
      : db_(db), options_(options), skipped_(skipped) {}

  // Makes UTF-8 of the text. charset: what the document says it is; empty: what --encoding says. False where that
  // cannot be done; path is skipped then. Throws DatabaseError where it is not for the text.
  bool decode(const std::string& path, const std::string& charset, std::string& text);
  // The same where the text is not UTF-8, if the charset or --encoding names an encoding; else it is skipped as not
  // UTF-8. NUL is no text.
  bool make_utf8(const std::string& path, const std::string& charset, std::string& text);
  // Leaves what can be seen of HTML. False where it cannot be read; path is skipped then.
  bool make_visible(const std::string& path, std::string& text);
  // True if there are words, and --min-words of them; else path is skipped.
  bool has_enough_words(const std::string& path, const std::string& text);
  // Texts that the extension would have decoded, had the database one.
  std::int64_t lacking() const { return lacking_; }
  // A line for the summary; empty where nothing was decoded.
  std::string summary() const;

 private:
  Connection& db_;
  const LoadOptions& options_;
  Skipped& skipped_;
  std::map<std::string, std::int64_t> decoded_;  // texts by encoding
  std::int64_t dropped_ = 0, uncertain_ = 0, lacking_ = 0;
};

}  // namespace neardup::cli
