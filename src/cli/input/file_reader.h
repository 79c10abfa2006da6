// One file as text: read, unpacked if it is packed, checked to be UTF-8 without NUL.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cli/input/byte_source.h"

namespace neardup::cli {

// The check of the bytes of a file.
enum class Encoding {
  utf8,     // UTF-8 without NUL
  unknown,  // no NUL, unless it looks like UTF-16 or UTF-32
  wide,     // anything
};

struct FileText {
  SkipReason problem = SkipReason::none;
  std::string detail;      // the words of the system or of a library, may be empty
  std::int64_t size = 0;   // of the file as it lies on disk, when it was opened
  std::int64_t mtime = 0;  // as in file_mtime()
  bool changed = false;    // it was written to while it was read, each time that this was tried
  bool undecoded = false;  // text is not UTF-8, or holds NUL: only where other encodings are allowed
  std::string text;
};

// Microseconds since 2000-01-01 UTC, PostgreSQL's timestamptz; clamped to what timestamptz can hold.
std::int64_t file_mtime(std::int64_t seconds, std::int64_t nanoseconds) noexcept;

// Looks at the first bytes of a file, unpacked, and at least kHeadSize of them unless it is shorter. Any SkipReason
// but none ends the reading; detail goes with it.
using LookAtHead = std::function<SkipReason(std::string_view head, std::string& detail)>;
inline constexpr std::size_t kHeadSize = 64 * 1024;

// Reads at most max_size bytes of text. What is packed is recognised by its first bytes, whatever the name; a file of
// several members is one text. A file that changes meanwhile is read again, a few times. Never throws for what the file
// is or holds; bad_alloc and Interrupted may pass. follow_link: the path itself may be a symbolic link.
FileText read_text(const std::string& path, std::int64_t max_size, bool follow_link, Encoding encoding,
                   const LookAtHead& look_at_head);

// The same of an open file, whose size and time out has; into out.text, or what is wrong with it. Throws SourceError.
void read_source(ByteSource& file, std::int64_t max_size, Encoding encoding, const LookAtHead& look_at_head,
                 FileText& out);

// Known by its name: zip, 7z, rar, tar and its packed forms, and what is packed in a form that is not unpacked.
bool is_archive_name(std::string_view path) noexcept;

// Words for --min-words, counted up to limit: runs of ASCII letters, digits and _ and of bytes of other scripts;
// each Chinese character, kana or hangul syllable (3-byte forms U+3000 to U+DFFF) counts as one.
std::int64_t count_words(std::string_view text, std::int64_t limit) noexcept;

}  // namespace neardup::cli
