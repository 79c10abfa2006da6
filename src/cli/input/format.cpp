// See format.h.
#include "cli/input/format.h"

#include <algorithm>

#include "cli/input/ascii.h"

namespace neardup::cli {
namespace {

struct Named {
  const char* name;
  Format format;
};
constexpr Named kNames[] = {{"auto", Format::automatic}, {"text", Format::text}, {"jsonl", Format::jsonl},
                            {"csv", Format::csv},        {"tsv", Format::tsv},   {"mbox", Format::mbox},
                            {"warc", Format::warc}};
constexpr Named kEndings[] = {
    {".jsonl", Format::jsonl}, {".ndjson", Format::jsonl}, {".csv", Format::csv}, {".tsv", Format::tsv}};
constexpr std::string_view kPacked[] = {".gz", ".zst", ".bz2", ".xz"};
constexpr std::string_view kHtml[] = {".html", ".htm", ".xhtml"};

// In lower case, without the ending of a packing.
std::string plain_name(std::string_view path) {
  std::string name = ascii_lower(path.substr(path.rfind('/') + 1));
  for (const std::string_view ending : kPacked) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

std::string_view without_mark(std::string_view head) {
  return head.starts_with("\xef\xbb\xbf") ? head.substr(3) : head;
}

std::string_view first_line(std::string_view head) { return head.substr(0, head.find('\n')); }

bool looks_like_warc(std::string_view head) { return head.starts_with("WARC/0.") || head.starts_with("WARC/1."); }

// "From somebody Thu Jan  1 00:00:00 1970", and then a header.
bool looks_like_mbox(std::string_view head) {
  const std::string_view line = first_line(head);
  if (!line.starts_with("From ") || line.size() == head.size()) return false;
  const bool has_time = std::count(line.begin(), line.end(), ':') >= 1 &&
                        std::any_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::string_view next = first_line(head.substr(line.size() + 1));
  const std::size_t colon = next.find(':');
  return has_time && colon != std::string_view::npos && colon > 0 &&
         std::none_of(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(colon), is_ascii_space);
}

bool begins_with_object(std::string_view head) { return trim_ascii(without_mark(head)).starts_with('{'); }

// The first line is an object, whole and alone, and so begins the second.
bool looks_like_jsonl(std::string_view head) {
  head = without_mark(head);
  const std::string_view line = first_line(head);
  if (line.size() == head.size()) return false;
  const std::string_view first = trim_ascii(line), next = trim_ascii(head.substr(line.size()));
  return first.size() > 2 && first.starts_with("{\"") && first.ends_with('}') && next.starts_with("{\"");
}

// The same number of commas, two at least, in each of the first lines, of names without spaces in the first.
bool looks_like_csv(std::string_view head) {
  constexpr int kLines = 4, kFewest = 2;
  head = without_mark(head);
  const std::string_view header = first_line(head);
  const auto commas = std::count(header.begin(), header.end(), ',');
  if (commas < kFewest || header.find_first_of(" .;") != std::string_view::npos) return false;
  int lines = 0;
  for (; lines < kLines && head.find('\n') != std::string_view::npos; ++lines) {
    const std::string_view line = first_line(head);
    if (line.find('"') == std::string_view::npos && std::count(line.begin(), line.end(), ',') != commas) return false;
    head.remove_prefix(line.size() + 1);
  }
  return lines == kLines;
}

}  // namespace

std::optional<Format> format_named(std::string_view name) {
  for (const Named& known : kNames) {
    if (name == known.name) return known.format;
  }
  return std::nullopt;
}

const char* format_name(Format format) {
  for (const Named& known : kNames) {
    if (format == known.format) return known.name;
  }
  return "?";
}

Format detect_format(std::string_view path, std::string_view head) {
  if (looks_like_warc(head)) return Format::warc;
  if (looks_like_mbox(head)) return Format::mbox;
  const std::string name = plain_name(path);
  for (const Named& ending : kEndings) {
    if (!name.ends_with(ending.name)) continue;
    if (ending.format != Format::jsonl) return looks_like_html("", head) ? Format::text : ending.format;
    if (begins_with_object(head)) return Format::jsonl;
  }
  return Format::text;
}

Resemblance resemblance(std::string_view path, std::string_view head) {
  if (looks_like_warc(head)) return {"a WARC file", "--format warc"};
  if (looks_like_mbox(head)) return {"a mailbox", "--format mbox"};
  if (looks_like_jsonl(head)) return {"lines of JSON", "--format jsonl"};
  if (looks_like_html(path, head)) return {"HTML", "--html text"};
  if (looks_like_csv(head)) return {"CSV", "--format csv"};
  return {};
}

bool looks_like_html(std::string_view path, std::string_view head) {
  const std::string name = plain_name(path);
  if (std::any_of(std::begin(kHtml), std::end(kHtml), [&](std::string_view ending) { return name.ends_with(ending); }))
    return true;
  const std::string_view text = trim_ascii(without_mark(head.substr(0, 1024)));
  const std::string start = ascii_lower(text.substr(0, 16));
  return start.starts_with("<!doctype html") || start.starts_with("<html>") || start.starts_with("<html ");
}

const char* binary_kind(std::string_view head) {
  using namespace std::string_view_literals;
  struct Magic {
    std::string_view bytes;
    const char* kind;
    std::size_t at = 0;
  };
  static constexpr Magic kMagic[] = {
      {"%PDF-", "PDF"},
      {"PK\x03\x04", "zip, or an office file"},
      {"PK\x05\x06", "zip"},
      {"\x89PNG\r\n\x1a\n", "image (PNG)"},
      {"\xff\xd8\xff", "image (JPEG)"},
      {"GIF87a", "image (GIF)"},
      {"GIF89a", "image (GIF)"},
      {"II*\0"sv, "image (TIFF)"},
      {"MM\0*"sv, "image (TIFF)"},
      {"WEBPVP8", "image (WebP)", 8},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office file"},
      {"PAR1", "Parquet"},
      {"ARROW1\0"sv, "Arrow"},
      {"Obj\x01", "Avro"},
      {"\x89HDF\r\n\x1a\n", "HDF5"},
      {"SQLite format 3\0"sv, "SQLite"},
      {"\x7f"
       "ELF",
       "program (ELF)"},
      {"\xfe\xed\xfa\xce", "program (Mach-O)"},
      {"\xfe\xed\xfa\xcf", "program (Mach-O)"},
      {"\xcf\xfa\xed\xfe", "program (Mach-O)"},
      {"\0asm"sv, "program (WebAssembly)"},
      {"\xca\xfe\xba\xbe", "program (Java)"},
      {"7z\xbc\xaf\x27\x1c", "7z"},
      {"Rar!\x1a\x07", "rar"},
      {"ustar", "tar", 257},
      {"OggS\0"sv, "sound (Ogg)"},
      {"fLaC", "sound (FLAC)"},
      {"ID3\x03", "sound (MP3)"},
      {"ID3\x04", "sound (MP3)"},
      {"WAVEfmt ", "sound (WAV)", 8},
      {"ftyp", "video (MP4)", 4},
      {"\x1a\x45\xdf\xa3", "video (Matroska)"},
  };
  for (const Magic& magic : kMagic) {
    if (head.size() > magic.at && head.substr(magic.at).starts_with(magic.bytes)) return magic.kind;
  }
  // short marks, which a text may begin with
  const std::string_view start = head.substr(0, 256);
  if (start.find('\0') == std::string_view::npos) return nullptr;
  if (start.starts_with("MZ")) return "program (Windows)";
  if (start.starts_with("BM")) return "image (BMP)";
  return nullptr;
}

std::string record_path(std::string_view path, long long number) {
  return std::string(path) + '#' + std::to_string(number);
}

}  // namespace neardup::cli
