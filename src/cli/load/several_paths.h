// Files to which several paths of a load lead: by which of them each is loaded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/input/walk.h"
#include "cli/load/row_sender.h"

namespace neardup::cli {

// Hard links, and files of the command line that are met elsewhere, too.
class SeveralPaths {
 public:
  // A file that may be loaded. To be called for all of them, in the order of the walk, and then choose().
  void note(const FoundFile& file);

  // The path of each file: the first one that the table knows, so that its row goes on, else the first that the
  // database can hold. Throws DatabaseError.
  void choose(Connection& db, RowSender& sender);

  enum class Meeting { load, link, again };
  // Says whether the walk that loads loads a path, or passes it over as a link, or as one that was met before.
  Meeting meet(const FoundFile& file);
  // The path by which a link's file is loaded.
  const std::string& chosen(const FoundFile& file) const { return chosen_.at(file.id).path; }

 private:
  struct Chosen {
    std::string path;
    bool met = false;
  };
  std::map<FileId, std::vector<std::string>> noted_;
  std::map<FileId, Chosen> chosen_;
};

}  // namespace neardup::cli
