// One file as text: read, unpacked if it is packed, checked to be UTF-8 without NUL.
#include "cli/input/file_reader.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "cli/base/utf8.h"
#include "cli/input/unpack.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr int kReadings = 3;  // of a file that changes

void fail(FileText& out, SkipReason problem, std::string detail = {}) {
  out.problem = problem;
  out.detail = std::move(detail);
  out.text = {};
}

// A byte order mark, or NULs that are nearly all in the same places of each 2 or 4 bytes.
bool looks_wide(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff") ||
      bytes.starts_with(std::string_view("\0\0\xfe\xff", 4))) {
    return true;
  }
  const std::size_t size = std::min<std::size_t>(bytes.size(), 4096) / 4 * 4;
  std::size_t nul[4] = {};
  for (std::size_t i = 0; i < size; ++i) nul[i % 4] += bytes[i] == 0;
  const std::size_t even = nul[0] + nul[2], odd = nul[1] + nul[3], all = even + odd;
  const bool utf16 = all >= size / 20 && std::min(even, odd) <= all / 20;
  const bool utf32 = (nul[3] == size / 4 && nul[0] <= size / 80) || (nul[0] == size / 4 && nul[3] <= size / 80);
  return all > 0 && (utf16 || utf32);
}

// A NUL that may not be ends the reading early, so that a large binary file costs one chunk.
class NulCheck {
 public:
  explicit NulCheck(Encoding encoding) : encoding_(encoding) {}
  bool refuses(const char* bytes, std::size_t size) {
    if (encoding_ == Encoding::unknown) {
      // the first bytes tell
      if (size == 0) return false;
      encoding_ = looks_wide({bytes, size}) ? Encoding::wide : Encoding::utf8;
    }
    return encoding_ == Encoding::utf8 && std::memchr(bytes, 0, size) != nullptr;
  }

 private:
  Encoding encoding_;
};

// Reads on until there are size bytes. False where the source ends before, or is damaged.
bool fill(ByteSource& source, std::string& text, std::size_t size, std::optional<SourceError>& damage) {
  std::size_t have = text.size();
  text.resize(std::max(have, size));
  try {
    while (have < size) {
      const std::size_t got = source.read(text.data() + have, size - have);
      if (got == 0) break;
      have += got;
    }
  } catch (const SourceError& error) {
    damage = error;
  }
  text.resize(have);
  return have == size;
}

// The rest of the source after the bytes that text has; more: there may be one.
void read_rest(ByteSource& source, bool more, std::int64_t max_size, NulCheck& nul, const char* form, FileText& out) {
  std::vector<char> chunk(more ? kReadBytes : 0);
  std::size_t checked = 0;
  for (;;) {
    if (nul.refuses(out.text.data() + checked, out.text.size() - checked)) return fail(out, SkipReason::has_nul, form);
    checked = out.text.size();
    if (static_cast<std::int64_t>(out.text.size()) > max_size) return fail(out, SkipReason::too_large, form);
    const std::size_t got = more ? source.read(chunk.data(), chunk.size()) : 0;
    if (got == 0) return;
    out.text.append(chunk.data(), got);
  }
}

}  // namespace

std::int64_t file_mtime(std::int64_t seconds, std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t kEpochDifference = 946684800;  // 1970 to 2000
  constexpr std::int64_t kFirst = -211813488000000000;  // 4714-11-24 BC
  constexpr std::int64_t kLast = 9223371331199999999;   // 294276-12-31
  std::int64_t micros = 0;
  if (__builtin_sub_overflow(seconds, kEpochDifference, &micros) ||
      __builtin_mul_overflow(micros, std::int64_t{1000000}, &micros) ||
      __builtin_add_overflow(micros, nanoseconds / 1000, &micros)) {
    return seconds < 0 ? kFirst : kLast;
  }
  return std::clamp(micros, kFirst, kLast);
}

void read_source(ByteSource& file, std::int64_t max_size, Encoding encoding, const LookAtHead& look_at_head,
                 FileText& out) {
  // no more than the file has, and one byte that tells that it ends there; the size of a pipe is not known
  const std::size_t expected = out.size > 0 ? static_cast<std::size_t>(out.size) + 1 : kHeadSize;
  std::string head;
  std::optional<SourceError> damage;
  bool more = fill(file, head, std::min(kHeadSize, expected), damage);
  if (damage) throw SourceError(*damage);
  NulCheck nul(encoding);
  Prefixed whole(head, file);
  const Packing packing = detect_packing(head);
  const bool packed = packing != Packing::none;
  const std::unique_ptr<ByteSource> unpacking = packed ? unpacked(whole, packing) : nullptr;
  if (packed)
    more = fill(*unpacking, out.text, std::min(kHeadSize, static_cast<std::size_t>(max_size) + 1), damage);
  else
    out.text = std::move(head);
  if (damage && out.text.empty()) throw SourceError(*damage);
  std::string detail;
  // The head is checked before the damage is reported: the records before the damage can be loaded.
  if (const SkipReason problem = look_at_head(out.text, detail); problem != SkipReason::none)
    return fail(out, problem, detail);
  if (damage) throw SourceError(*damage);
  if (out.size > max_size) return fail(out, SkipReason::too_large);
  if (more && !packed) out.text.reserve(expected);
  read_rest(packed ? *unpacking : file, more, max_size, nul, packed ? "unpacked" : "", out);
  if (out.text.capacity() / 2 > out.text.size()) out.text.shrink_to_fit();
}

namespace {

FileText read_once(const std::string& path, std::int64_t max_size, bool follow_link, Encoding encoding,
                   const LookAtHead& look_at_head) {
  FileText out;
  try {
    File file(path, follow_link);
    out.size = file.size();
    out.mtime = file.mtime();
    try {
      read_source(file, max_size, encoding, look_at_head, out);
    } catch (const SourceError& error) {
      fail(out, error.problem, error.what());
    }
    out.changed = file.has_changed();
  } catch (const SourceError& error) {
    fail(out, error.problem, error.what());
  }
  if (out.problem != SkipReason::none) return out;
  if (encoding == Encoding::utf8) {
    if (!valid_utf8(out.text)) fail(out, SkipReason::not_utf8);
  } else {
    out.undecoded = !valid_utf8(out.text) || std::memchr(out.text.data(), 0, out.text.size()) != nullptr;
  }
  return out;
}

}  // namespace

FileText read_text(const std::string& path, std::int64_t max_size, bool follow_link, Encoding encoding,
                   const LookAtHead& look_at_head) {
  FileText out;
  for (int reading = 0; reading < kReadings; ++reading) {
    out = read_once(path, max_size, follow_link, encoding, look_at_head);
    if (!out.changed) break;
  }
  return out;
}

bool is_archive_name(std::string_view path) noexcept {
  static constexpr std::string_view kArchives[] = {
      ".zip",     ".7z",      ".rar", ".tar", ".tgz",  ".tar.gz", ".tbz", ".tbz2", ".txz",  ".tzst", ".tlz", ".tar.xz",
      ".tar.bz2", ".tar.zst", ".lz",  ".lz4", ".lzma", ".lzo",    ".br",  ".z",    ".cpio", ".cab",  ".arj", ".lha",
      ".lzh",     ".iso",     ".jar", ".war", ".ear",  ".apk",    ".deb", ".rpm",  ".whl",  ".dmg"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (std::string_view ending : kArchives) {
    if (name.size() <= ending.size()) continue;
    const std::string_view last = name.substr(name.size() - ending.size());
    if (std::equal(last.begin(), last.end(), ending.begin(),
                   [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; })) {
      return true;
    }
  }
  return false;
}

std::int64_t count_words(std::string_view text, std::int64_t limit) noexcept {
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size() && words < limit;) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0xe3 && c <= 0xed) {
      ++words;
      inside = false;
      i += 3;
      continue;
    }
    const bool letter =
        c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter && !inside) ++words;
    inside = letter;
    ++i;
  }
  return words;
}

}  // namespace neardup::cli
