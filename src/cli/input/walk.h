// The regular files under the given directories, in a fixed order, each directory once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace neardup::cli {

struct FileFilter {
  // fnmatch patterns: without a slash they are matched with the last part of the path, else with all of it.
  std::vector<std::string> include;  // none: every file
  std::vector<std::string> exclude;  // files, and directories with all that is in them
  std::vector<std::string> exclude_directories;
  std::int64_t min_size = 0;  // bytes on disk
  bool hidden = false;        // names that begin with a dot, too
};

// Identifies a file, whatever its path.
using FileId = std::pair<dev_t, ino_t>;

struct FoundFile {
  std::string path;  // absolute, without . and .. and doubled slashes
  std::int64_t size;
  std::int64_t mtime;  // file_mtime()
  bool given;          // named on the command line, where a symbolic link is followed
  FileId id;
  bool may_repeat;  // there may be another path to it: a hard link, or one of the command line
};

// All that a walk passed over: what is not counted as a file is counted here.
struct WalkCounts {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t symlinks = 0;
  std::int64_t special = 0;               // sockets, devices, pipes
  std::int64_t filtered = 0;              // by the patterns and the size of the FileFilter
  std::int64_t hidden = 0;                // files and directories that begin with a dot
  std::int64_t version_control = 0;       // directories of git and related programs
  std::int64_t empty = 0;                 // files without a byte
  std::int64_t repeated_directories = 0;  // reached twice: one argument inside another, or a bind mount
  std::int64_t arguments_opened = 0;
};

using OnFile = std::function<void(FoundFile)>;
// A path and why it could not be listed.
using OnProblem = std::function<void(const std::string& path, int error_number)>;

// Calls on_file for each file of the arguments: names of a directory in byte order, files before directories.
// Symbolic links inside directories are counted and not followed. The argument "-" is standard input. Throws
// Interrupted.
WalkCounts walk(const std::vector<std::string>& arguments, const FileFilter& filter, const OnFile& on_file,
                const OnProblem& on_problem);

// Throws std::runtime_error, which names them, where arguments are not there, or where none of them can be read.
void check_arguments(const std::vector<std::string>& arguments);

// The absolute form that is stored: the letters as given. Only where a .. follows a symbolic link, and so leads
// elsewhere than its letters, the links are resolved.
std::string absolute_path(std::string_view path);

}  // namespace neardup::cli
