// A file that is written as it is made and is there only when it is whole; or stdout.
#include "cli/base/out_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "cli/base/database.h"
#include "cli/base/interrupt.h"

namespace neardup::cli {
namespace {

// Where a link leads, so that it stays one. A device or a pipe would be replaced by the file: /dev/null, for root.
std::string resolve_link(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) return path;  // opening it tells what is wrong
  if (!std::filesystem::is_regular_file(status)) {
    throw std::runtime_error("cannot write " + path + ": it exists and is no regular file");
  }
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

// True if a file has an access control list: the one that is replaced, or the new one from its folder. The rights of
// the group in a file's mode are then the most that any of the list may have, and not the group's.
bool has_access_list(const std::string& old, int now) {
#ifdef __linux__
  constexpr const char* kAccess = "system.posix_acl_access";
  return getxattr(old.c_str(), kAccess, nullptr, 0) > 0 || fgetxattr(now, kAccess, nullptr, 0) > 0;
#else
  return static_cast<void>(old), static_cast<void>(now), false;
#endif
}

// The owner and the group of the file that is replaced, as far as we may give it to them; to a group that it is not
// given to, no rights. An access control list is not kept.
void keep_rights(int fd, const std::string& path, const struct stat& old) {
  struct stat now = {};
  const bool same_group = fchown(fd, old.st_uid, old.st_gid) == 0 ||
                          fchown(fd, static_cast<uid_t>(-1), old.st_gid) == 0 ||
                          (fstat(fd, &now) == 0 && now.st_gid == old.st_gid);
  fchmod(fd, old.st_mode & (same_group && !has_access_list(path, fd) ? 0777 : 0707));
}

}  // namespace

OutFile::OutFile(const std::string& path) {
  if (path == "-") {
    file_.reset(stdout);
    return;
  }
  path_ = resolve_link(path);
  temporary_ = path_ + ".new-" + std::to_string(getpid());
  struct stat old = {};
  const bool replaces = stat(path_.c_str(), &old) == 0;
  const int fd = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
  if (fd < 0) fail();
  if (replaces) keep_rights(fd, path_, old);
  file_.reset(fdopen(fd, "w"));
  if (!file_) {
    close(fd);
    unlink(temporary_.c_str());
    fail();
  }
}

OutFile::~OutFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutFile::fail() const {
  throw std::runtime_error("cannot write " + (path_.empty() ? "to stdout" : path_) + ": " + std::strerror(errno));
}

OutFile& OutFile::raw(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
  return *this;
}

void OutFile::commit() {
  if (std::fflush(file_.get()) != 0) fail();
  if (path_.empty()) return;
  if (fsync(fileno(file_.get())) != 0) fail();
  if (std::fclose(file_.release()) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  temporary_.clear();
}

int run_writing(const char* subcommand, const std::string& out, const std::function<int()>& write) {
  return run_until_signal(subcommand, out == "-" ? "" : "; nothing was written", write);
}

void print_summary(const std::string& out, const std::string& shown, const std::string& summary) {
  const bool on_stdout = out == "-";
  std::fprintf(on_stdout ? stderr : stdout, "%s: %s\n", printable(on_stdout ? shown : out).c_str(), summary.c_str());
}

}  // namespace neardup::cli
