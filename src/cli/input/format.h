// The format of a file, by its name and its first bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace neardup::cli {

// automatic: each file by itself. tsv: csv with tabs.
enum class Format { automatic, text, jsonl, csv, tsv, mbox, warc };

// As --format takes and messages name them; nothing for another name.
std::optional<Format> format_named(std::string_view name);
const char* format_name(Format format);

inline bool has_records(Format format) { return format != Format::automatic && format != Format::text; }

// mbox and warc by their first bytes; jsonl and csv by their names, where the first bytes do not speak against it; else
// text.
Format detect_format(std::string_view path, std::string_view head);

// A warning about a file that is loaded as text and looks like something else.
struct Resemblance {
  const char* kind = nullptr;    // null: like text. A literal.
  const char* option = nullptr;  // what loads it as that
};
Resemblance resemblance(std::string_view path, std::string_view head);

// True if it is HTML: by its name (htm, html, xhtml), or by a doctype or an element html at its beginning.
bool looks_like_html(std::string_view path, std::string_view head);

// The kind of a file that is known by its first bytes and is not text ("PDF", "zip"); null for all others.
const char* binary_kind(std::string_view head);

// The name of a record's document.
std::string record_path(std::string_view path, long long number);

}  // namespace neardup::cli
