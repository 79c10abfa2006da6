// `neardup load`: walk, compare with the table, read, send, commit; batch by batch.
#include "cli/load.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/file_reader.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/row_sender.h"
#include "cli/several_paths.h"
#include "cli/skipped.h"
#include "cli/stored_names.h"
#include "cli/utf8.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kBatchBytes = 32 << 20;
constexpr double kCertain = 0.9;  // a confidence below is counted

// Of --encoding: UTF-16 and UTF-32 have NULs everywhere.
Encoding encoding_of(const std::string& name) {
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

class Loader {
 public:
  Loader(Connection& db, const LoadOptions& options, Progress::Mode mode, Skipped& skipped)
      : db_(db),
        options_(options),
        encoding_(encoding_of(options.encoding)),
        mode_(mode),
        skipped_(skipped),
        sender_(db, options.quoted_table, skipped) {}

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
                static_cast<long long>(sent.touched), static_cast<long long>(unchanged_), human_bytes(bytes).c_str(),
                seconds, human_bytes(bytes / std::max(seconds, 1e-3)).c_str());
    if (skipped_.total() > 0) {
      std::printf("%lld skipped: %s\n", static_cast<long long>(skipped_.total()), skipped_.summary().c_str());
    }
    if (options_.encoding.empty() && skipped_.count(SkipReason::not_utf8) > 0) {
      std::printf("hint: --encoding detect stores text that is not UTF-8, too\n");
    }
    if (!decoded_.empty()) {
      std::string text;
      for (const auto& [name, count] : decoded_)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + printable(name);
      if (dropped_ > 0) text += "; " + std::to_string(dropped_) + " bytes dropped";
      if (uncertain_ > 0) text += "; " + std::to_string(uncertain_) + " files of an uncertain encoding";
      std::printf("decoded: %s\n", text.c_str());
    }
    if (written_to_ > 0) {
      std::printf("%lld written to while they were read; the next load reads them again\n",
                  static_cast<long long>(written_to_));
    }
    std::string passed;
    auto pass = [&](std::int64_t count, const char* what) {
      if (count > 0) passed += (passed.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    };
    pass(walked.symlinks, "symbolic links");
    pass(walked.special, "sockets, pipes or devices");
    pass(walked.filtered, "left out by --include, --exclude or --min-size");
    pass(walked.repeated_directories, "directories met twice");
    pass(named_twice_, "files named twice");
    if (!passed.empty()) std::printf("passed over: %s\n", passed.c_str());
  }

 private:
  void process_found() {
    skip_refused_names();
    skip_links();
    if (found_.empty()) return;
    const KnownRows known = sender_.look_up(paths());
    for (const FoundFile& file : found_) {
      check_interrupt();
      const auto match = known.find(file.path);
      if (match != known.end() && match->second.size == file.size && match->second.mtime == file.mtime) {
        ++unchanged_;
      } else {
        read(file);
      }
      progress_->advance(1, file.size);
      if (row_bytes_ >= kBatchBytes) send_rows();
    }
    found_.clear();
    send_rows();
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
    FileText text = read_text(file.path, options_.max_size, file.given, encoding_);
    if (text.problem != FileProblem::none) {
      skipped_.add(skip_reason(text.problem), file.path, text.detail);
      return;
    }
    if (text.undecoded && !decode(file, text)) return;
    if (options_.min_words > 0 && count_words(text.text, options_.min_words) < options_.min_words) {
      skipped_.add(SkipReason::too_few_words, file.path, "");
      return;
    }
    const auto hash = static_cast<std::int64_t>(XXH3_64bits(text.text.data(), text.text.size()));
    written_to_ += text.changed;
    row_bytes_ += text.text.size() + file.path.size();
    rows_.push_back({file.path, text.size, text.mtime, hash, std::move(text.text)});
  }

  // The server makes text of it. False where it cannot.
  bool decode(const FoundFile& file, FileText& text) {
    std::string why = "no encoding fits";
    try {
      const bool detect = options_.encoding == "detect";
      Params params;
      params.bytea(text.text);
      if (!detect) params.text(options_.encoding);
      const Result found = db_.query(
          "SELECT d.body, COALESCE(d.encoding, 'unknown'), COALESCE(d.confidence, 1)::float8,"
          " COALESCE(d.dropped, 0)::int8 FROM " +
              options_.decode_function + (detect ? "($1, NULL::text) d" : "($1, $2) d"),
          params);
      if (PQntuples(found.get()) == 1 && !PQgetisnull(found.get(), 0, 0)) {
        text.text = get_text(found, 0, 0);
        if (static_cast<std::int64_t>(text.text.size()) > options_.max_size) {
          skipped_.add(SkipReason::too_large, file.path, "decoded");
          return false;
        }
        ++decoded_[std::string(get_text(found, 0, 1))];
        uncertain_ += get_float8(found, 0, 2) < kCertain;
        dropped_ += get_int8(found, 0, 3);
        return true;
      }
      // no converter for it
      if (PQntuples(found.get()) == 1 && !PQgetisnull(found.get(), 0, 1)) {
        why = "seems to be " + std::string(get_text(found, 0, 1));
      }
    } catch (const DatabaseError& error) {
      // data exceptions, limits, conversions that there are not
      if (error.connection_lost() ||
          !(error.in_class("22") || error.in_class("54") || error.in_class("0A") || error.in_class("P0")))
        throw;
      why = error.what();
    }
    skipped_.add(SkipReason::not_utf8, file.path, why);
    return false;
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
  std::map<std::string, std::int64_t> decoded_;  // files by encoding
  std::int64_t dropped_ = 0, uncertain_ = 0;
  std::int64_t unchanged_ = 0;
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
