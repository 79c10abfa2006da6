// Bytes of a file or of standard input, in order, each once.
#include "cli/input/byte_source.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "cli/base/interrupt.h"
#include "cli/input/file_reader.h"

namespace neardup::cli {
namespace {

[[noreturn]] void fail(int error) {
  throw SourceError(error == ENOENT || error == ENOTDIR ? SkipReason::vanished : SkipReason::unreadable,
                    std::strerror(error));
}

// O_NONBLOCK: a path that became a FIFO since it was listed must not hang us.
int open_file(const std::string& path, bool follow_link) {
  if (path == kStandardInput) return STDIN_FILENO;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow_link ? 0 : O_NOFOLLOW));
  if (fd >= 0) return fd;
  // it was a regular file when it was listed
  if (errno == ELOOP && !follow_link) throw SourceError(SkipReason::vanished, "");
  fail(errno);
}

}  // namespace

File::File(const std::string& path, bool follow_link) : fd_(open_file(path, follow_link)) {
  const int error = fstat(fd_, &info_) != 0 ? errno : 0;
  if (error == 0 && (S_ISREG(info_.st_mode) || fd_ == STDIN_FILENO)) return;
  if (fd_ != STDIN_FILENO) close(fd_);
  if (error != 0) fail(error);
  throw SourceError(SkipReason::vanished, "");
}

File::~File() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

std::size_t File::read(char* buffer, std::size_t size) {
  for (;;) {
    check_interrupt();
    const ssize_t got = ::read(fd_, buffer, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail(errno);
  }
}

std::int64_t File::mtime() const { return file_mtime(info_.st_mtim.tv_sec, info_.st_mtim.tv_nsec); }

bool File::has_changed() const {
  struct stat now = {};
  return fd_ != STDIN_FILENO && fstat(fd_, &now) == 0 &&
         (now.st_size != info_.st_size || file_mtime(now.st_mtim.tv_sec, now.st_mtim.tv_nsec) != mtime());
}

}  // namespace neardup::cli
