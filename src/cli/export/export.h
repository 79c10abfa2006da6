// `neardup export`: clusters as folders of files.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace neardup::cli {

// The subcommand. Returns the exit code; throws DatabaseError, Interrupted, std::runtime_error.
int export_main(int argc, char** argv);

// Names for the files of one folder: fit for the file systems of other machines, and each given once.
class FileNames {
 public:
  // Makes a name from the last part of a path; a survivor's starts with "KEEP - ", and no other one's does.
  std::string add(std::string_view path, bool survivor);

  // Another one for the path that add() took last: where the file system takes the one before for a name that is there.
  std::string again();

  std::size_t size() const { return taken_.size(); }

 private:
  std::string stem_, extension_;               // of the path that add() took last
  std::set<std::string> taken_;                // in lower case
  std::unordered_map<std::string, int> next_;  // by name, in lower case: the first number that has not been tried
};

}  // namespace neardup::cli
