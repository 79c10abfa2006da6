// One file as text: read, unpacked if it is gzip, checked to be UTF-8 without NUL.
#include "cli/file_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include "cli/interrupt.h"
#include "cli/utf8.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kChunk = 256 * 1024;
constexpr int kReadings = 3;  // of a file that changes

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

  // Bytes read, 0 at the end, -1 with errno.
  ssize_t read(char* buffer, std::size_t size) const {
    for (;;) {
      const ssize_t got = ::read(fd_, buffer, size);
      if (got >= 0 || errno != EINTR) return got;
      check_interrupt();
    }
  }

 private:
  int fd_;
};

class Inflater {
 public:
  Inflater() { good_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~Inflater() {
    if (good_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool good() const { return good_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_ = {};
  bool good_ = false;
};

void fail(FileText& out, FileProblem problem, std::string detail = {}) {
  out.problem = problem;
  out.detail = std::move(detail);
  out.text = {};
}

void fail_errno(FileText& out, int error) {
  fail(out, error == ENOENT || error == ENOTDIR ? FileProblem::vanished : FileProblem::unreadable,
       std::strerror(error));
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

void read_plain(const File& file, std::string_view head, std::int64_t max_size, NulCheck& nul, FileText& out) {
  out.text.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(out.size, 0, max_size)) + 1);
  out.text.assign(head);
  std::vector<char> chunk(kChunk);
  for (;;) {
    if (nul.refuses(out.text.data() + (out.text.size() - std::min(out.text.size(), kChunk)),
                    std::min(out.text.size(), kChunk))) {
      return fail(out, FileProblem::has_nul);
    }
    if (static_cast<std::int64_t>(out.text.size()) > max_size) return fail(out, FileProblem::too_large);
    const ssize_t got = file.read(chunk.data(), chunk.size());
    if (got < 0) return fail_errno(out, errno);
    if (got == 0) return;
    out.text.append(chunk.data(), static_cast<std::size_t>(got));
    check_interrupt();
  }
}

void read_gzip(const File& file, std::string_view head, std::int64_t max_size, NulCheck& nul, FileText& out) {
  Inflater inflater;
  if (!inflater.good()) return fail(out, FileProblem::bad_gzip, "zlib could not start");
  z_stream& stream = inflater.stream();
  std::vector<char> input(std::max(kChunk, head.size())), output(kChunk);
  std::memcpy(input.data(), head.data(), head.size());
  std::size_t have = head.size();
  bool between_members = false;  // a member ended; another, padding with zeros, or the end of the file may follow
  for (;;) {
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(have);
    // also with no input left: zlib may hold output back
    do {
      if (between_members) {
        while (stream.avail_in > 0 && *stream.next_in == 0) {
          ++stream.next_in;
          --stream.avail_in;
        }
        if (stream.avail_in == 0) break;
        if (*stream.next_in != 0x1f) return fail(out, FileProblem::bad_gzip, "garbage after the end");
        inflateReset(&stream);
        between_members = false;
      }
      stream.next_out = reinterpret_cast<Bytef*>(output.data());
      stream.avail_out = static_cast<uInt>(output.size());
      const int status = inflate(&stream, Z_NO_FLUSH);
      const std::size_t made = output.size() - stream.avail_out;
      if (nul.refuses(output.data(), made)) return fail(out, FileProblem::has_nul, "unpacked");
      if (static_cast<std::int64_t>(out.text.size() + made) > max_size) {
        return fail(out, FileProblem::too_large, "unpacked");
      }
      out.text.append(output.data(), made);
      if (status == Z_BUF_ERROR) break;  // wants input
      if (status != Z_OK && status != Z_STREAM_END) {
        return fail(out, FileProblem::bad_gzip, stream.msg != nullptr ? stream.msg : "damaged");
      }
      between_members = status == Z_STREAM_END;
      check_interrupt();
    } while (stream.avail_in > 0 || stream.avail_out == 0);
    const ssize_t got = file.read(input.data(), input.size());
    if (got < 0) return fail_errno(out, errno);
    if (got == 0) break;
    have = static_cast<std::size_t>(got);
  }
  if (!between_members) fail(out, FileProblem::bad_gzip, "ends too early");
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

namespace {

FileText read_once(const std::string& path, std::int64_t max_size, bool follow_link, Encoding encoding) {
  FileText out;
  // O_NONBLOCK: a path that became a FIFO since it was listed must not hang us
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow_link ? 0 : O_NOFOLLOW)));
  if (file.fd() < 0) {
    if (errno == ELOOP && !follow_link)
      fail(out, FileProblem::not_regular);
    else
      fail_errno(out, errno);
    return out;
  }
  struct stat info = {};
  if (fstat(file.fd(), &info) != 0) {
    fail_errno(out, errno);
    return out;
  }
  if (!S_ISREG(info.st_mode)) {
    fail(out, FileProblem::not_regular);
    return out;
  }
  out.size = info.st_size;
  out.mtime = file_mtime(info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  if (out.size > max_size) {
    fail(out, FileProblem::too_large);
    return out;
  }
  std::vector<char> head(64 * 1024);
  std::size_t have = 0;
  for (;;) {
    const ssize_t got = file.read(head.data() + have, head.size() - have);
    if (got < 0) {
      fail_errno(out, errno);
      return out;
    }
    have += static_cast<std::size_t>(got);
    if (got == 0 || have == head.size()) break;
  }
  const std::string_view first(head.data(), have);
  NulCheck nul(encoding);
  if (first.substr(0, 3) == "\x1f\x8b\x08") {
    out.was_gzip = true;
    read_gzip(file, first, max_size, nul, out);
  } else {
    read_plain(file, first, max_size, nul, out);
  }
  out.changed = fstat(file.fd(), &info) == 0 &&
                (info.st_size != out.size || file_mtime(info.st_mtim.tv_sec, info.st_mtim.tv_nsec) != out.mtime);
  if (out.problem != FileProblem::none) return out;
  if (encoding == Encoding::utf8) {
    if (!valid_utf8(out.text)) fail(out, FileProblem::not_utf8);
  } else {
    out.undecoded = !valid_utf8(out.text) || std::memchr(out.text.data(), 0, out.text.size()) != nullptr;
  }
  return out;
}

}  // namespace

FileText read_text(const std::string& path, std::int64_t max_size, bool follow_link, Encoding encoding) {
  FileText out;
  for (int reading = 0; reading < kReadings; ++reading) {
    out = read_once(path, max_size, follow_link, encoding);
    if (!out.changed) break;
  }
  return out;
}

bool is_archive_name(std::string_view path) noexcept {
  static constexpr std::string_view kArchives[] = {
      ".zip", ".7z",  ".rar", ".tar", ".tgz",  ".tar.gz", ".tbz", ".tbz2", ".txz",  ".tzst", ".tlz", ".xz",
      ".bz2", ".zst", ".lz",  ".lz4", ".lzma", ".lzo",    ".br",  ".z",    ".cpio", ".cab",  ".arj", ".lha",
      ".lzh", ".iso", ".jar", ".war", ".ear",  ".apk",    ".deb", ".rpm",  ".whl",  ".dmg"};
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
