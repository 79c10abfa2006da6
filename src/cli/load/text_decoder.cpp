// See text_decoder.h.
#include "cli/load/text_decoder.h"

#include <stdexcept>

#include "cli/base/utf8.h"
#include "cli/input/file_reader.h"
#include "cli/records/html_text.h"

namespace neardup::cli {
namespace {

constexpr double kCertainEncoding = 0.9;  // a confidence below is counted

// Data exceptions, limits, conversions that there are not.
bool is_of_text(const DatabaseError& error) {
  return !error.connection_lost() &&
         (error.in_class("22") || error.in_class("54") || error.in_class("0A") || error.in_class("P0"));
}

}  // namespace

bool TextDecoder::decode(const std::string& path, const std::string& charset, std::string& text) {
  std::string why = "no encoding fits";
  const std::string encoding = !charset.empty() ? charset : options_.encoding == "detect" ? "" : options_.encoding;
  try {
    Params params;
    params.bytea(text);
    if (!encoding.empty()) params.text(encoding);
    const Result found = db_.query(
        "SELECT d.body, COALESCE(d.encoding, 'unknown'), COALESCE(d.confidence, 1)::pg_catalog.float8,"
        " COALESCE(d.dropped, 0)::pg_catalog.int8 FROM " +
            options_.decode_function + (encoding.empty() ? "($1, NULL::pg_catalog.text) d" : "($1, $2) d"),
        params);
    if (PQntuples(found.get()) == 1 && !is_null(found, 0, 0)) {
      text = get_text(found, 0, 0);
      if (static_cast<std::int64_t>(text.size()) > options_.max_size) {
        skipped_.add(SkipReason::too_large, path, "decoded");
        return false;
      }
      ++decoded_[std::string(get_text(found, 0, 1))];
      uncertain_ += get_float8(found, 0, 2) < kCertainEncoding;
      dropped_ += get_int8(found, 0, 3);
      return true;
    }
    // no converter for it
    if (PQntuples(found.get()) == 1 && !is_null(found, 0, 1)) why = "seems to be " + std::string(get_text(found, 0, 1));
  } catch (const DatabaseError& error) {
    if (!is_of_text(error)) throw;
    why = error.what();
  }
  skipped_.add(SkipReason::not_utf8, path, why);
  return false;
}

bool TextDecoder::make_utf8(const std::string& path, const std::string& charset, std::string& text) {
  const bool has_nul = text.find('\0') != std::string::npos;
  if (!has_nul && valid_utf8(text)) return true;
  if (charset.empty() && options_.encoding.empty()) {
    skipped_.add(has_nul ? SkipReason::has_nul : SkipReason::not_utf8, path, "");
    return false;
  }
  if (options_.decode_function.empty()) {
    ++lacking_;
    skipped_.add(SkipReason::not_utf8, path,
                 charset + " would be decoded by the extension neardup, which this database lacks");
    return false;
  }
  return decode(path, charset, text);
}

bool TextDecoder::make_visible(const std::string& path, std::string& text) {
  try {
    text = visible_text(text);
    return true;
  } catch (const std::runtime_error& error) {
    skipped_.add(html_is_available() ? SkipReason::bad_record : SkipReason::no_library, path, error.what());
    return false;
  }
}

bool TextDecoder::has_enough_words(const std::string& path, const std::string& text) {
  const bool enough = options_.min_words == 0 || count_words(text, options_.min_words) >= options_.min_words;
  if (text.empty() || !enough) skipped_.add(text.empty() ? SkipReason::no_text : SkipReason::too_few_words, path, "");
  return !text.empty() && enough;
}

std::string TextDecoder::summary() const {
  std::string text;
  for (const auto& [name, count] : decoded_)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + printable(name);
  if (text.empty()) return text;
  if (dropped_ > 0) text += "; " + std::to_string(dropped_) + " bytes dropped";
  if (uncertain_ > 0) text += "; " + std::to_string(uncertain_) + " files of an uncertain encoding";
  return "decoded: " + text;
}

}  // namespace neardup::cli
