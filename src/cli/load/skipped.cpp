// The files and records that gave no row: counted by reason, the first of them shown, all of them listed on request.
#include "cli/load/skipped.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/database.h"
#include "cli/input/byte_source.h"

namespace neardup::cli {

namespace {

struct Reason {
  SkipReason reason;
  const char* text;
};
constexpr Reason kReasons[] = {
    {SkipReason::vanished, "vanished"},
    {SkipReason::unreadable, "unreadable"},
    {SkipReason::bad_name, "file name not valid UTF-8"},
    {SkipReason::too_large, "too large"},
    {SkipReason::no_memory, "larger than the memory that is left"},
    {SkipReason::bad_gzip, "damaged gzip"},
    {SkipReason::bad_packing, "damaged zstd, bzip2 or xz"},
    {SkipReason::has_nul, "holding NUL (binary)"},
    {SkipReason::not_utf8, "not valid UTF-8"},
    {SkipReason::archive, "archives"},
    {SkipReason::binary, "of a kind that is not text"},
    {SkipReason::no_library, "in need of a library that this program was built without"},
    {SkipReason::link, "further links to a file"},
    {SkipReason::no_column, "without a text column"},
    {SkipReason::bad_record, "damaged records"},
    {SkipReason::no_text, "without a text"},
    {SkipReason::repeated_id, "records with the id of an earlier one"},
    {SkipReason::too_few_words, "with too few words"},
    {SkipReason::refused, "refused by the server"},
    {SkipReason::left_out, "left out by a trigger"},
    {SkipReason::path_taken, "with the path of another row"},
};

// A reason is the index of its row.
static_assert(std::size(kReasons) == static_cast<std::size_t>(SkipReason::count_) &&
              std::ranges::all_of(kReasons, [](const Reason& row) {
                return &row == &kReasons[static_cast<std::size_t>(row.reason)];
              }));

}  // namespace

const char* skip_reason_text(SkipReason reason) { return kReasons[static_cast<std::size_t>(reason)].text; }

namespace {

constexpr std::size_t kLongestReason = 100;  // more than each has

// True if one of the reasons is the text, or begins with it.
bool is_reason(std::string_view text, bool cut) {
  return std::ranges::any_of(kReasons, [&](const Reason& row) {
    const std::string_view reason = row.text;
    return cut ? reason.starts_with(text) : reason == text;
  });
}

// True if each line is one of such a list: a reason, a tab, and a path. A load that is killed cuts the last line.
bool is_list_of_skipped(std::FILE* file) {
  int c = std::getc(file);
  for (bool first = true; c != EOF; first = false) {
    std::string reason;
    for (; c != EOF && c != '\t' && reason.size() < kLongestReason; c = std::getc(file)) reason += static_cast<char>(c);
    if (c == EOF) return !first && is_reason(reason, true);
    if (c != '\t' || !is_reason(reason, false)) return false;
    c = std::getc(file);
    if (c == EOF) return !first;
    if (c != '/' && c != *kStandardInput) return false;
    while (c != EOF && c != '\n') c = std::getc(file);
    if (c == '\n') c = std::getc(file);
  }
  return true;
}

// Opens it for reading, too, if that is allowed, because its content is checked. A pipe is opened for writing only:
// else this process would be its reader.
std::FILE* open_list(const std::string& name) {
  struct stat info = {};
  const bool special = stat(name.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  int fd = special ? -1 : open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  const bool readable = fd >= 0;
  if (special || (!readable && errno == EACCES)) fd = open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  std::FILE* file = fd < 0 ? nullptr : fdopen(fd, readable ? "r+" : "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + printable(name) + ": " + std::strerror(errno));
  return file;
}

void check_is_no_argument(const std::string& name, const struct stat& list, const std::vector<std::string>& arguments) {
  struct stat argument = {};
  for (const std::string& path : arguments) {
    const bool there = (path == kStandardInput ? fstat(STDIN_FILENO, &argument) : stat(path.c_str(), &argument)) == 0;
    if (there && argument.st_dev == list.st_dev && argument.st_ino == list.st_ino)
      throw std::runtime_error("--list-skipped " + printable(name) + ": the file is to be loaded");
  }
}

// Removes an earlier list. Throws std::runtime_error where the file holds anything else.
void empty_list(const std::string& name, std::FILE* file) {
  if ((fcntl(fileno(file), F_GETFL) & O_ACCMODE) == O_WRONLY)
    throw std::runtime_error("cannot read " + printable(name) + ": " + std::strerror(EACCES));
  if (!is_list_of_skipped(file) || std::ferror(file) != 0)
    throw std::runtime_error("--list-skipped " + printable(name) +
                             ": the file exists and is not a list of skipped files; name another one");
  std::rewind(file);
  if (ftruncate(fileno(file), 0) != 0)
    throw std::runtime_error("cannot write " + printable(name) + ": " + std::strerror(errno));
}

}  // namespace

Skipped::Skipped(const std::string& list_file, const std::vector<std::string>& arguments) : list_name_(list_file) {
  if (list_file.empty()) return;
  list_.reset(open_list(list_file));
  struct stat info = {};
  if (fstat(fileno(list_.get()), &info) != 0 || !S_ISREG(info.st_mode)) return;
  check_is_no_argument(list_file, info, arguments);
  if (info.st_size > 0) empty_list(list_file, list_.get());
  list_id_ = FileId(info.st_dev, info.st_ino);
}

void Skipped::add(SkipReason reason, const std::string& path, const std::string& detail) {
  ++counts_[static_cast<std::size_t>(reason)];
  ++total_;
  if (list_) {
    std::fprintf(list_.get(), "%s\t%s%s%s\n", skip_reason_text(reason), printable(path).c_str(),
                 detail.empty() ? "" : "\t", printable(detail).c_str());
  }
  if (reason == SkipReason::too_few_words || reason == SkipReason::archive) return;
  ++listable_;
  if (shown_.size() < kShown) {
    shown_.push_back(printable(path) + ": " + skip_reason_text(reason) +
                     (detail.empty() ? "" : " (" + printable(detail) + ")"));
  }
}

void Skipped::add_unnamed(SkipReason reason, std::int64_t count) {
  counts_[static_cast<std::size_t>(reason)] += count;
  total_ += count;
}

std::string Skipped::summary() const {
  std::string text;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(counts_[i]) + " " + skip_reason_text(static_cast<SkipReason>(i));
  }
  return text;
}

void Skipped::print(std::FILE* out) const {
  if (list_name_.empty()) {
    for (const std::string& line : shown_) std::fprintf(out, "  skipped %s\n", line.c_str());
    const auto more = listable_ - static_cast<std::int64_t>(shown_.size());
    if (more > 0)
      std::fprintf(out, "  ... and %lld more; --list-skipped FILE lists them all\n", static_cast<long long>(more));
  } else if (total_ > 0) {
    std::fprintf(out, "  the skipped files are listed in %s\n", list_name_.c_str());
  }
}

void Skipped::close() {
  if (!list_) return;
  const bool bad = std::ferror(list_.get()) != 0;
  if (std::fclose(list_.release()) != 0 || bad) throw std::runtime_error("cannot write " + list_name_);
}

}  // namespace neardup::cli
