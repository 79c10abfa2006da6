// The regular files under the given directories, in a fixed order, each directory once.
#include "cli/input/walk.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fnmatch.h>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "cli/base/database.h"
#include "cli/base/interrupt.h"
#include "cli/input/byte_source.h"
#include "cli/input/file_reader.h"

namespace neardup::cli {
namespace {

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool matches(const std::vector<std::string>& patterns, const std::string& path) {
  const std::string name(last_part(path));
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    const std::string& subject = pattern.find('/') == std::string::npos ? name : path;
    return fnmatch(pattern.c_str(), subject.c_str(), 0) == 0;
  });
}

// Folders of version control: .git is a file in a worktree, and is hidden then.
bool is_version_control(std::string_view name) {
  constexpr std::string_view kFolders[] = {".git", ".hg", ".svn", ".bzr", "CVS", "_darcs", ".jj"};
  return std::find(std::begin(kFolders), std::end(kFolders), name) != std::end(kFolders);
}

class Walker {
 public:
  Walker(const FileFilter& filter, const OnFile& on_file, const OnProblem& on_problem)
      : filter_(filter), on_file_(on_file), on_problem_(on_problem) {}

  void walk(const std::vector<std::string>& arguments) {
    struct stat info = {};
    for (const std::string& path : arguments) {
      if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) named_.insert({info.st_dev, info.st_ino});
    }
    for (const std::string& path : arguments) argument(path);
  }

  const WalkCounts& counts() const { return counts_; }

 private:
  void argument(const std::string& path) {
    if (path == kStandardInput) return standard_input();
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0) return on_problem_(path, errno);
    if (!S_ISDIR(info.st_mode)) {
      ++counts_.arguments_opened;
      return file(path, info, true);
    }
    std::vector<std::string> pending{path};
    bool first = true;
    while (!pending.empty()) {
      check_interrupt();
      const std::string directory = std::move(pending.back());
      pending.pop_back();
      if (list(directory, pending) && first) ++counts_.arguments_opened;
      first = false;
    }
  }

  void standard_input() {
    ++counts_.arguments_opened;
    ++counts_.files;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    on_file_({kStandardInput, 0, file_mtime(seconds, 0), true, {}, false});
  }

  // Files are passed on, directories put on pending, the first in byte order on top.
  bool list(const std::string& directory, std::vector<std::string>& pending) {
    std::unique_ptr<DIR, int (*)(DIR*)> handle(opendir(directory.c_str()), closedir);
    const int error = errno;
    struct stat info = {};
    if ((handle ? fstat(dirfd(handle.get()), &info) : stat(directory.c_str(), &info)) != 0) {
      on_problem_(directory, errno);
      return false;
    }
    if (!seen_.insert({info.st_dev, info.st_ino}).second) {
      ++counts_.repeated_directories;
      return handle != nullptr;
    }
    if (!handle) {
      on_problem_(directory, error);
      return false;
    }
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(handle.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    if (errno != 0) on_problem_(directory, errno);
    std::sort(names.begin(), names.end());
    std::vector<std::string> directories;
    for (const std::string& name : names) {
      check_interrupt();
      std::string path = directory.back() == '/' ? directory + name : directory + '/' + name;
      if (fstatat(dirfd(handle.get()), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        on_problem_(path, errno);
      } else if (S_ISDIR(info.st_mode) && is_version_control(name)) {
        ++counts_.version_control;
      } else if (name.front() == '.' && !filter_.hidden) {
        ++counts_.hidden;
      } else if (S_ISDIR(info.st_mode)) {
        if (matches(filter_.exclude, path) || matches(filter_.exclude_directories, path))
          ++counts_.filtered;
        else
          directories.push_back(std::move(path));
      } else if (S_ISLNK(info.st_mode)) {
        ++counts_.symlinks;
      } else {
        file(path, info, false);
      }
    }
    std::move(directories.rbegin(), directories.rend(), std::back_inserter(pending));
    return true;
  }

  void file(const std::string& path, const struct stat& info, bool given) {
    if (!S_ISREG(info.st_mode)) {
      ++counts_.special;
      return;
    }
    if (info.st_size < filter_.min_size || matches(filter_.exclude, path) ||
        (!filter_.include.empty() && !matches(filter_.include, path))) {
      ++counts_.filtered;
      return;
    }
    if (info.st_size == 0) {
      ++counts_.empty;
      return;
    }
    ++counts_.files;
    counts_.bytes += info.st_size;
    const FileId id{info.st_dev, info.st_ino};
    on_file_({path, info.st_size, file_mtime(info.st_mtim.tv_sec, info.st_mtim.tv_nsec), given, id,
              info.st_nlink > 1 || named_.contains(id)});
  }

  const FileFilter& filter_;
  const OnFile& on_file_;
  const OnProblem& on_problem_;
  WalkCounts counts_;
  std::set<FileId> seen_;   // directories
  std::set<FileId> named_;  // files of the command line
};

}  // namespace

WalkCounts walk(const std::vector<std::string>& arguments, const FileFilter& filter, const OnFile& on_file,
                const OnProblem& on_problem) {
  Walker walker(filter, on_file, on_problem);
  std::vector<std::string> paths;
  paths.reserve(arguments.size());
  for (const std::string& argument : arguments)
    paths.push_back(argument == kStandardInput ? argument : absolute_path(argument));
  walker.walk(paths);
  return walker.counts();
}

void check_arguments(const std::vector<std::string>& arguments) {
  std::string missing, unreadable;
  const auto note = [](std::string& list, const std::string& path) {
    list += (list.empty() ? "" : "; ") + printable(path) + ": " + std::strerror(errno);
  };
  bool readable = false;
  for (const std::string& path : arguments) {
    struct stat info = {};
    if (path == kStandardInput) {
      // closed, or a directory
      if (read(STDIN_FILENO, nullptr, 0) == 0)
        readable = true;
      else
        note(unreadable, path);
    } else if (stat(path.c_str(), &info) != 0) {
      note(missing, path);
    } else if (faccessat(AT_FDCWD, path.c_str(), S_ISDIR(info.st_mode) ? R_OK | X_OK : R_OK, AT_EACCESS) != 0) {
      note(unreadable, path);
    } else {
      readable = true;
    }
  }
  if (!missing.empty()) throw std::runtime_error(missing);
  if (!readable) throw std::runtime_error(unreadable);
}

std::string absolute_path(std::string_view path) {
  namespace fs = std::filesystem;
  const fs::path whole = fs::absolute(fs::path(path));
  std::string result = whole.lexically_normal().string();
  if (std::find(whole.begin(), whole.end(), "..") != whole.end()) {
    std::error_code error;
    const fs::path real = fs::canonical(whole, error);
    if (!error && !fs::equivalent(real, result, error)) return real.string();
  }
  while (result.size() > 1 && result.back() == '/') result.pop_back();
  return result;
}

}  // namespace neardup::cli
