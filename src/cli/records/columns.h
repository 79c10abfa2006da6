// The names by which the columns of text and id are found in a record.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace neardup::cli {

// Names that are looked for, the best first: the one that was asked for alone, or the usual ones.
class ColumnNames {
 public:
  ColumnNames(const std::string& wanted, std::vector<std::string> usual)
      : names_(wanted.empty() ? std::move(usual) : std::vector<std::string>{wanted}) {}
  static ColumnNames for_text(const std::string& wanted) { return {wanted, {"text", "body", "content"}}; }
  static ColumnNames for_id(const std::string& wanted) { return {wanted, {"id"}}; }

  // The place of a name among them: 0 is best; -1: none of them.
  int rank(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return static_cast<int>(i);
    }
    return -1;
  }
  // "text, body or content"
  std::string list() const {
    std::string list;
    for (std::size_t i = 0; i < names_.size(); ++i)
      list += (i == 0 ? "" : i + 1 == names_.size() ? " or " : ", ") + names_[i];
    return list;
  }

 private:
  std::vector<std::string> names_;
};

// The message about a record or a header without a text column.
inline std::string no_text_column(const ColumnNames& text, const std::string& there) {
  return "no column " + text.list() + "; there are: " + (there.empty() ? "none" : there);
}

}  // namespace neardup::cli
