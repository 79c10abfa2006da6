// `neardup export`: clusters as folders of links or copies, or as a list. Source files are read, and nothing else is
// done to them; in the folder that is made nothing is written over.
#include "cli/export/export.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "cli/base/interrupt.h"
#include "cli/base/job.h"
#include "cli/base/options.h"
#include "cli/base/out_file.h"
#include "cli/base/progress.h"
#include "cli/base/stored_names.h"
#include "cli/input/file_reader.h"
#include "cli/input/walk.h"

namespace neardup::cli {
namespace {

constexpr const char* kExportHelp = R"(usage: neardup export JOB DIR --link|--copy|--list [options]

Makes a folder cluster_N in DIR for each cluster of at least 2 rows of the table of duplicates JOB, with its files; the
name of the survivor starts with "KEEP - ". The source of the job must have a column of paths, as tables of neardup load
have. Files are linked or copied, never changed, moved or deleted; DIR must be empty or not there.

      --link               symbolic links to the files
      --copy               copies of the files
      --list               only a list, DIR/clusters.tsv (DIR - : to stdout): cluster, keep or duplicate, similarity, path
      --path-column NAME   the column of paths (default path)
      --base DIR           what relative paths are relative to (default: the current directory)
{connection}
  -q, --quiet              no progress, no summary
      --help

Exit code: 0 done (files that are missing included), 1 nothing could be done or the database failed, 2 wrong usage,
130 stopped by Ctrl-C.
)";

enum class How { none, link, copy, list };

struct ExportOptions {
  std::string job, directory, path_column = "path", base = ".";
  How how = How::none;
  Connection::Options connection;
  bool quiet = false;
};

void choose(How how, ExportOptions& options) {
  if (options.how != How::none && options.how != how)
    throw UsageError("only one of --link, --copy and --list can be given");
  options.how = how;
}

void read_arguments(Arguments arguments, ExportOptions& options) {
  if (arguments.size() < 2) throw UsageError(arguments.empty() ? "no job given" : "no directory given");
  if (arguments.size() > 2) throw UsageError("more than a job and a directory given: " + printable(arguments[2]));
  options.job = arguments[0];
  options.directory = arguments[1];
  if (options.directory.empty()) throw UsageError("the name of the directory is empty");
  if (options.how == How::none) throw UsageError("one of --link, --copy and --list must be given");
  if (options.directory == "-" && options.how != How::list) throw UsageError("stdout takes only a list");
}

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// The folder, made if it is missing; it must be empty.
Fd open_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) fail("cannot make the directory " + printable(path));
  Fd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) fail("cannot open the directory " + printable(path));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      fdopendir(openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), closedir);
  if (!entries) fail("cannot read the directory " + printable(path));
  while (const dirent* entry = readdir(entries.get())) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
      throw std::runtime_error("the directory " + printable(path) + " is not empty");
    }
  }
  return directory;
}

void check_base(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) fail("--base " + printable(path));
  if (!S_ISDIR(info.st_mode)) throw std::runtime_error("--base " + printable(path) + ": not a directory");
}

class Exporter {
 public:
  Exporter(Connection& db, const Job& job, const ExportOptions& options)
      : db_(db),
        job_(job),
        options_(options),
        base_(absolute_path(options.base)),
        mode_(options.quiet ? Progress::Mode::quiet : Progress::default_mode()) {}

  void run() {
    if (options_.how != How::list) check_base(options_.base);
    open_rows();
    const std::int64_t total = count_job(db_, job_).clustered_rows;
    if (options_.directory == "-") {
      list_.reset(stdout);
    } else {
      directory_ = open_directory(options_.directory);
      if (options_.how == How::list) {
        const int fd = openat(directory_.get(), "clusters.tsv", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0) fail("cannot write " + printable(options_.directory) + "/clusters.tsv");
        list_.reset(fdopen(fd, "w"));
      }
    }
    std::int64_t done = 0;
    for (;;) {
      const Result rows = db_.query("FETCH 1000 FROM " + std::string(kRowsCursor));
      const int n = PQntuples(rows.get());
      if (n == 0) break;
      std::vector<std::string_view> stored;
      stored.reserve(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) stored.push_back(get_text(rows, i, 4));
      const auto paths = names_in_utf8(db_, stored);
      for (int i = 0; i < n; ++i) {
        check_interrupt();
        export_row(rows, i, paths[static_cast<std::size_t>(i)]);
      }
      done += n;
      if (mode_ == Progress::Mode::bar) {
        line_.draw(total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1,
                   std::to_string(done) + " of " + std::to_string(total) + " files");
      }
    }
    line_.clear();
    db_.query("COMMIT");
    if (list_ && (std::ferror(list_.get()) != 0 || std::fflush(list_.get()) != 0)) fail("cannot write the list");
    summarize();
  }

 private:
  // In the order of clusters, the survivor first. Where text changes its encoding, names come as bytes, of which each
  // is converted on its own.
  void open_rows() {
    db_.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    ask_job(db_, "export_rows", db_.converts() ? ", $2, true" : ", $2, false",
            Params().text(job_.table).text(options_.path_column));
  }

  std::string row_name(const Result& rows, int i) {
    const std::string_view id = get_text(rows, i, 3);
    return "row " + printable(names_in_utf8(db_, {id})[0].value_or(std::string(id)));
  }

  void export_row(const Result& rows, int i, const std::optional<std::string>& path_here) {
    const std::int64_t cluster = get_int8(rows, i, 0);
    const bool survivor = get_bool(rows, i, 1);
    if (cluster != cluster_ || !started_) {
      started_ = true;
      cluster_ = cluster;
      names_ = {};
      folder_ = Fd();
    }
    const std::string where = "cluster " + std::to_string(cluster) + (survivor ? ", survivor " : ", ");
    if (is_null(rows, i, 4)) {
      problem(where + row_name(rows, i) + ": no path");
      return;
    }
    if (!path_here) {
      problem(where + row_name(rows, i) + ": no UTF-8 for the path " + printable(get_text(rows, i, 4)));
      return;
    }
    const std::string& given = *path_here;
    if (options_.how == How::list) {
      const double similarity = get_float8(rows, i, 2);
      char shown[32] = "";
      if (similarity >= 0) std::snprintf(shown, sizeof shown, "%.4f", similarity);
      std::fprintf(list_.get(), "%lld\t%s\t%s\t%s\n", static_cast<long long>(cluster), survivor ? "keep" : "duplicate",
                   shown, printable(given).c_str());
      if (std::ferror(list_.get()) != 0) fail("cannot write the list");
      count(cluster);
      return;
    }
    const std::string path = given.starts_with('/') ? given : base_ + "/" + given;
    struct stat info = {};
    if (given.empty()) {
      problem(where + row_name(rows, i) + ": empty path");
    } else if (stat(path.c_str(), &info) != 0) {
      problem(where + printable(path) + ": " + std::strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
      problem(where + printable(path) + ": not a regular file");
    } else {
      put(path, where, survivor);
    }
  }

  void put(const std::string& path, const std::string& where, bool survivor) {
    const std::string folder = "cluster_" + std::to_string(cluster_);
    Fd source;
    if (options_.how == How::copy) {
      source = Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
      if (source.get() < 0) {
        problem(where + printable(path) + ": " + std::strerror(errno));
        return;
      }
    }
    if (folder_.get() < 0) {
      if (mkdirat(directory_.get(), folder.c_str(), 0777) != 0) fail("cannot make " + folder);
      folder_ = Fd(openat(directory_.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
      if (folder_.get() < 0) fail("cannot open " + folder);
    }
    if (options_.how == How::link) {
      make_new(path, survivor, "link",
               [&](const char* name) { return symlinkat(path.c_str(), folder_.get(), name) == 0; });
    } else if (!copy(source, path, survivor)) {
      problem(where + printable(path) + ": " + std::strerror(errno));
      return;
    }
    count(cluster_);
  }

  // Makes a file of the next name for the path; returns the name. A target may take more names for the same than we do,
  // by the case of letters beyond ASCII or by how these are composed; one that is full of such names ends the numbers.
  template <class Make>
  std::string make_new(const std::string& path, bool survivor, const char* what, Make make) {
    std::string name = names_.add(path, survivor);
    for (std::size_t left = names_.size(); !make(name.c_str()); --left) {
      if (errno != EEXIST || left == 0) {
        fail(std::string("cannot ") + what + " cluster_" + std::to_string(cluster_) + "/" + printable(name));
      }
      name = names_.again();
    }
    return name;
  }

  // False, with errno, where the source cannot be read; what was written of it is taken away again.
  bool copy(const Fd& source, const std::string& path, bool survivor) {
    struct stat info = {};
    if (fstat(source.get(), &info) != 0) return false;
    Fd target;
    const std::string name = make_new(path, survivor, "write", [&](const char* new_name) {
      target = Fd(
          openat(folder_.get(), new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666 & info.st_mode));
      return target.get() >= 0;
    });
    const auto undo = [&] {
      const int error = errno;
      unlinkat(folder_.get(), name.c_str(), 0);
      errno = error;
    };
    buffer_.resize(1 << 20);
    for (;;) {
      if (interrupt_signal() != 0) {
        undo();
        check_interrupt();
      }
      const ssize_t got = read(source.get(), buffer_.data(), buffer_.size());
      if (got == 0) break;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        undo();
        return false;
      }
      for (ssize_t at = 0; at < got;) {
        const ssize_t put = write(target.get(), buffer_.data() + at, static_cast<std::size_t>(got - at));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) {
          undo();
          fail("cannot write cluster_" + std::to_string(cluster_) + "/" + printable(name));
        }
        at += put;
      }
    }
    const timespec times[2] = {info.st_atim, info.st_mtim};
    futimens(target.get(), times);
    return true;
  }

  void count(std::int64_t cluster) {
    ++files_;
    if (files_ == 1 || cluster != last_) ++clusters_;
    last_ = cluster;
  }

  void problem(const std::string& text) {
    if (++problems_ > 10) return;
    line_.clear();
    std::fprintf(stderr, "  skipped %s\n", text.c_str());
  }

  void summarize() {
    if (problems_ > 10) std::fprintf(stderr, "  ... and %lld more\n", static_cast<long long>(problems_ - 10));
    if (options_.quiet) return;
    const char* what = options_.how == How::link ? "linked" : options_.how == How::copy ? "copied" : "listed";
    // stdout may be the list
    std::fprintf(options_.directory == "-" ? stderr : stdout, "%lld files of %lld clusters %s, %lld skipped\n",
                 static_cast<long long>(files_), static_cast<long long>(clusters_), what,
                 static_cast<long long>(problems_));
  }

  Connection& db_;
  const Job& job_;
  const ExportOptions& options_;
  std::string base_;
  Progress::Mode mode_;
  ProgressLine line_;
  Fd directory_, folder_;
  OutStream list_;
  FileNames names_;
  std::vector<char> buffer_;
  std::int64_t cluster_ = 0, last_ = 0, files_ = 0, clusters_ = 0, problems_ = 0;
  bool started_ = false;
};

}  // namespace

int export_main(int argc, char** argv) {
  ExportOptions options;
  const Option table[] = {{"link", 0, [&] { choose(How::link, options); }},
                          {"copy", 0, [&] { choose(How::copy, options); }},
                          {"list", 0, [&] { choose(How::list, options); }},
                          {"path-column", 0, &options.path_column},
                          {"base", 0, &options.base},
                          options.connection,
                          {"quiet", 'q', &options.quiet}};
  const auto read_rest = [&](Arguments arguments) { read_arguments(arguments, options); };
  if (const auto code = read_command_line(argc, argv, kExportHelp, table, read_rest)) return *code;
  install_interrupt_handlers();
  Connection db(options.connection);
  const Job job = find_job(db, options.job);
  return run_until_signal("export", "; the directory holds what was made so far", [&] {
    Exporter(db, job, options).run();
    return 0;
  });
}

}  // namespace neardup::cli
