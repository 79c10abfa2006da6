// Files to which several paths of a load lead: by which of them each is loaded.
#include "cli/load/several_paths.h"

#include <string_view>

#include "cli/base/stored_names.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kPathsAtOnce = 1000;  // paths that are looked up in the table

}  // namespace

void SeveralPaths::note(const FoundFile& file) {
  if (file.may_repeat) noted_[file.id].push_back(file.path);
}

void SeveralPaths::choose(Connection& db, RowSender& sender) {
  std::erase_if(noted_, [](const auto& file) { return file.second.size() == 1; });
  std::map<FileId, std::string_view> first;  // that the database can hold
  for (auto file = noted_.begin(); file != noted_.end();) {
    std::vector<std::string_view> paths;
    std::vector<FileId> ids;
    for (; file != noted_.end() && paths.size() < kPathsAtOnce; ++file) {
      paths.insert(paths.end(), file->second.begin(), file->second.end());
      ids.insert(ids.end(), file->second.size(), file->first);
    }
    const std::vector<std::string> why = refused_names(db, paths);
    std::vector<std::string_view> held;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (!why[i].empty()) continue;
      held.push_back(paths[i]);
      first.try_emplace(ids[i], paths[i]);
    }
    const KnownRows known = sender.look_up(held);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (known.contains(std::string(paths[i]))) chosen_.try_emplace(ids[i], Chosen{std::string(paths[i])});
    }
  }
  for (const auto& [id, path] : first) chosen_.try_emplace(id, Chosen{std::string(path)});
  noted_.clear();
}

SeveralPaths::Meeting SeveralPaths::meet(const FoundFile& file) {
  if (!file.may_repeat) return Meeting::load;
  Chosen& chosen = chosen_.try_emplace(file.id, Chosen{file.path}).first->second;
  if (chosen.path != file.path) return Meeting::link;
  if (chosen.met) return Meeting::again;
  chosen.met = true;
  return Meeting::load;
}

}  // namespace neardup::cli
