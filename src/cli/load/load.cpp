// `neardup load`: walk, compare with the table, read, send, commit; batch by batch.
#include "cli/load/load.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/stored_names.h"
#include "cli/base/utf8.h"
#include "cli/input/file_reader.h"
#include "cli/load/record_loader.h"
#include "cli/load/row_sender.h"
#include "cli/load/several_paths.h"
#include "cli/load/skipped.h"
#include "cli/load/text_decoder.h"
#include "cli/records/html_text.h"

namespace neardup::cli {
namespace {

// --encoding says how bytes are checked: UTF-16 and UTF-32 have NULs everywhere.
Encoding parse_encoding(const std::string& name) {
  if (name.empty()) return Encoding::utf8;
  std::string letters;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
  }
  for (const char* wide : {"utf16", "utf32", "ucs2", "ucs4", "unicode"}) {
    if (letters.find(wide) != std::string::npos) return Encoding::wide;
  }
  return Encoding::unknown;
}

// Why a file is not to be opened.
std::optional<SkipReason> name_problem(const std::string& path) {
  if (!valid_utf8(path)) return SkipReason::bad_name;
  if (is_archive_name(path)) return SkipReason::archive;
  return std::nullopt;
}

// The X of a path X#1.
std::string records_file(const std::string& path) { return path.substr(0, path.rfind('#')); }

class Loader {
 public:
  Loader(Connection& db, const LoadOptions& options, Progress::Mode mode, Skipped& skipped)
      : db_(db),
        options_(options),
        encoding_(parse_encoding(options.encoding)),
        mode_(mode),
        skipped_(skipped),
        sender_(db, options.quoted_table, skipped),
        decoder_(db, options, skipped),
        records_(db, options, skipped, sender_, decoder_) {}

  // A first walk gives the totals of the progress bar, and the files with several paths.
  void note(const FoundFile& file) {
    if (!skipped_.is_list(file.id) && !name_problem(file.path)) several_paths_.note(file);
  }
  void begin(const WalkCounts& totals) {
    several_paths_.choose(db_, sender_);
    progress_.emplace(mode_, totals.files, totals.bytes);
  }

  // The second walk sees what is there by then.
  void add(FoundFile file) {
    if (skipped_.is_list(file.id)) {
      progress_->advance(1, file.size);
      return;
    }
    if (const auto problem = name_problem(file.path)) {
      skipped_.add(*problem, file.path, "");
      progress_->advance(1, file.size);
      return;
    }
    found_.push_back(std::move(file));
    if (static_cast<std::int64_t>(found_.size()) >= options_.batch_files) process_found();
  }

  void problem(const std::string& path, int error) {
    skipped_.add(error == ENOENT ? SkipReason::vanished : SkipReason::unreadable, path, std::strerror(error));
  }

  void finish(const WalkCounts& walked) {
    process_found();
    progress_->clear();
    skipped_.close();
    if (!options_.quiet || skipped_.total() > 0) skipped_.print(stderr);
    if (options_.quiet) return;
    const SentCounts& sent = sender_.counts();
    const double seconds = progress_->seconds(), bytes = static_cast<double>(sent.text_bytes);
    std::printf("%lld new, %lld changed, %lld only with a new time, %lld unchanged; %s of text in %.1f s (%s/s)\n",
                static_cast<long long>(sent.fresh), static_cast<long long>(sent.changed),
                static_cast<long long>(sent.touched), static_cast<long long>(unchanged_ + sent.same_records),
                human_bytes(bytes).c_str(), seconds, human_bytes(bytes / std::max(seconds, 1e-3)).c_str());
    if (skipped_.total() > 0) {
      std::printf("%lld skipped: %s\n", static_cast<long long>(skipped_.total()), skipped_.summary().c_str());
    }
    if (options_.encoding.empty() && skipped_.count(SkipReason::not_utf8) > 0) {
      std::printf("hint: --encoding detect stores text that is not UTF-8, too\n");
    }
    if (const std::string decoded = decoder_.summary(); !decoded.empty()) std::printf("%s\n", decoded.c_str());
    print_read_again();
    print_passed_over(walked);
  }

 private:
  void print_read_again() const {
    const auto print = [](std::int64_t count, const char* what) {
      if (count > 0) std::printf("%lld %s\n", static_cast<long long>(count), what);
    };
    print(written_to_, "written to while they were read; the next load reads them again");
    print(records_.counts().unfinished,
          "files of records have records that the server or the libraries did not take; the next load reads these files"
          " again");
    print(records_.counts().unnoted,
          "files of records cannot be noted as read (path or options do not fit); the next load reads them again");
  }

  void print_passed_over(const WalkCounts& walked) const {
    std::string passed;
    auto pass = [&](std::int64_t count, const char* what) {
      if (count > 0) passed += (passed.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    };
    pass(walked.symlinks, "symbolic links");
    pass(walked.special, "sockets, pipes or devices");
    pass(walked.filtered, "left out by --include, --exclude or --min-size");
    pass(walked.hidden, "names that begin with a dot (--hidden loads them)");
    pass(walked.version_control, "folders of version control");
    pass(walked.empty, "empty files");
    pass(walked.repeated_directories, "directories met twice");
    pass(named_twice_, "files named twice");
    pass(records_.counts().other, "records of other kinds");
    pass(records_.counts().attachments, "attachments");
    if (!passed.empty()) std::printf("passed over: %s\n", passed.c_str());
  }

  void process_found() {
    skip_refused_names();
    skip_links();
    if (found_.empty()) return;
    const KnownRows known = sender_.look_up(paths());
    records_.look_up(paths());
    for (const FoundFile& file : found_) {
      check_interrupt();
      file_bytes_ = 0;
      if (is_unchanged(file, known))
        ++unchanged_;
      else
        read(file);
      progress_->advance(1, file.size - file_bytes_);
      if (row_bytes_ >= kBytesAtOnce) send_rows();
    }
    found_.clear();
    send_rows();
  }

  // A file that was loaded as text stays so, unless a format of records is asked for.
  bool is_unchanged(const FoundFile& file, const KnownRows& known) const {
    if (file.path == kStandardInput) return false;
    if (records_.is_unchanged(file)) return true;
    if (has_records(options_.format)) return false;
    const auto match = known.find(file.path);
    return match != known.end() && match->second.size == file.size && match->second.mtime == file.mtime;
  }

  std::vector<std::string_view> paths() const {
    std::vector<std::string_view> paths;
    for (const FoundFile& file : found_) paths.push_back(file.path);
    return paths;
  }

  void skip_refused_names() {
    const std::vector<std::string> why = refused_names(db_, paths());
    std::size_t i = 0;
    std::erase_if(found_, [&](const FoundFile& file) {
      const std::string& reason = why[i++];
      if (reason.empty()) return false;
      skipped_.add(SkipReason::refused, file.path, reason);
      progress_->advance(1, file.size);
      return true;
    });
  }

  void skip_links() {
    std::erase_if(found_, [&](const FoundFile& file) {
      const SeveralPaths::Meeting meeting = several_paths_.meet(file);
      if (meeting == SeveralPaths::Meeting::load) return false;
      if (meeting == SeveralPaths::Meeting::link)
        skipped_.add(SkipReason::link, file.path, several_paths_.chosen(file));
      else
        ++named_twice_;
      progress_->advance(1, file.size);
      return true;
    });
  }

  void read(const FoundFile& file) {
    Format format = options_.format;
    try {
      if (!has_records(format) && read_as_text(file, format)) return;
    } catch (const std::bad_alloc&) {
      skipped_.add(SkipReason::no_memory, file.path, "");
      return;
    }
    read_records(file, format);
  }

  // False where it is a file of records, of that format.
  bool read_as_text(const FoundFile& file, Format& format) {
    bool html = false;
    const LookAtHead look = [&](std::string_view head, std::string& detail) {
      if (format == Format::automatic) format = detect_format(file.path, head);
      if (has_records(format)) return SkipReason::records;
      if (const char* kind = binary_kind(head); kind != nullptr) {
        detail = kind;
        return SkipReason::binary;
      }
      html = options_.html_text && looks_like_html(file.path, head);
      if (!html) warn_about(file, head);
      return SkipReason::none;
    };
    FileText text = read_text(file.path, options_.max_size, file.given, html_encoding(file), look);
    if (text.problem == SkipReason::records) return false;
    if (text.problem != SkipReason::none)
      skipped_.add(text.problem, file.path, text.detail);
    else if ((!text.undecoded || decoder_.make_utf8(file.path, html ? html_charset(text.text) : "", text.text)) &&
             (!html || decoder_.make_visible(file.path, text.text)))
      add_row(file, text);
    return true;
  }

  // A document of HTML may name its encoding.
  Encoding html_encoding(const FoundFile& file) const {
    if (encoding_ != Encoding::utf8 || !options_.html_text || options_.decode_function.empty()) return encoding_;
    return looks_like_html(file.path, "") ? Encoding::unknown : encoding_;
  }

  void add_row(const FoundFile& file, FileText& text) {
    if (!decoder_.has_enough_words(file.path, text.text)) return;
    if (records_.has_record(file.path)) {
      skipped_.add(SkipReason::path_taken, file.path,
                   "records of " + records_file(file.path) + " have such paths; rename the file");
      return;
    }
    const auto hash = static_cast<std::int64_t>(XXH3_64bits(text.text.data(), text.text.size()));
    written_to_ += text.changed;
    row_bytes_ += text.text.size() + file.path.size();
    const bool piped = file.path == kStandardInput;
    rows_.push_back({file.path, piped ? static_cast<std::int64_t>(text.text.size()) : text.size,
                     piped ? file.mtime : text.mtime, hash, std::move(text.text)});
  }

  void read_records(const FoundFile& file, Format format) {
    send_rows();
    records_.load(file, format, [&](std::int64_t bytes) {
      file_bytes_ += bytes;
      progress_->advance(0, bytes);
    });
  }

  // Once for each kind of file.
  void warn_about(const FoundFile& file, std::string_view head) {
    const Resemblance like = resemblance(file.path, head);
    if (like.kind == nullptr || !warned_.insert(like.kind).second) return;
    progress_->clear();
    std::fprintf(stderr, "warning: %s looks like %s, but is loaded as plain text; %s %s\n",
                 printable(file.path).c_str(), like.kind, like.option,
                 like.kind == std::string_view("HTML") ? "loads what can be seen of it" : "loads its records");
  }

  void send_rows() {
    if (!rows_.empty()) sender_.send(rows_);
    rows_.clear();
    row_bytes_ = 0;
  }

  Connection& db_;
  const LoadOptions& options_;
  Encoding encoding_;
  Progress::Mode mode_;
  std::optional<Progress> progress_;
  Skipped& skipped_;
  RowSender sender_;
  std::vector<FoundFile> found_;  // listed, not yet compared with the table
  SeveralPaths several_paths_;
  std::int64_t named_twice_ = 0, written_to_ = 0;
  std::vector<Row> rows_;  // read, not yet sent
  std::size_t row_bytes_ = 0;
  TextDecoder decoder_;
  RecordLoader records_;
  std::set<std::string_view> warned_;  // of kinds of files
  std::int64_t unchanged_ = 0;
  std::int64_t file_bytes_ = 0;  // of the file that is read
};

}  // namespace

int load_files(Connection& db, const LoadOptions& options, Skipped& skipped) {
  Loader loader(db, options, options.quiet ? Progress::Mode::quiet : Progress::default_mode(), skipped);
  loader.begin(walk(
      options.arguments, options.filter, [&](const FoundFile& file) { loader.note(file); },
      [](const std::string&, int) {}));
  const WalkCounts walked = walk(
      options.arguments, options.filter, [&](FoundFile file) { loader.add(std::move(file)); },
      [&](const std::string& path, int error) { loader.problem(path, error); });
  loader.finish(walked);
  if (walked.arguments_opened == 0) {
    std::fputs("neardup load: none of the arguments could be read\n", stderr);
    return 1;
  }
  return 0;
}

}  // namespace neardup::cli
