// The files and records that gave no row: counted by reason, the first of them shown, all of them listed on request.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/input/skip_reason.h"
#include "cli/input/walk.h"

namespace neardup::cli {

class Skipped {
 public:
  // list_file: every skipped file goes there, one a line: reason, tab, path, and where known tab and detail; empty:
  // the first 10 are kept for print(). Throws std::runtime_error when it cannot be written, or is one of the arguments
  // or another file that is no such list: what it holds would be lost.
  Skipped(const std::string& list_file, const std::vector<std::string>& arguments);

  // True if a file is the list, which may lie in a folder that is loaded.
  bool is_list(const FileId& file) const { return list_id_ == file; }
  void add(SkipReason reason, const std::string& path, const std::string& detail);
  // Files that cannot be named.
  void add_unnamed(SkipReason reason, std::int64_t count);
  std::int64_t total() const { return total_; }
  std::int64_t count(SkipReason reason) const { return counts_[static_cast<std::size_t>(reason)]; }
  // "12 not valid UTF-8, 3 unreadable"
  std::string summary() const;
  // Lines for the terminal. Files with too few words were left out by wish, and archives are known by their names, so
  // they are not listed there.
  void print(std::FILE* out) const;
  // Throws std::runtime_error when the list could not be written to its end.
  void close();

 private:
  static constexpr std::size_t kShown = 10;
  std::array<std::int64_t, static_cast<std::size_t>(SkipReason::count_)> counts_ = {};
  std::int64_t total_ = 0, listable_ = 0;
  std::vector<std::string> shown_;
  std::string list_name_;
  std::optional<FileId> list_id_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> list_{nullptr, std::fclose};
};

}  // namespace neardup::cli
