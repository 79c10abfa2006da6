// A file that is written as it is made and is there only when it is whole; or stdout.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace neardup::cli {

// A file, or stdout, which is not closed.
struct CloseUnlessStdout {
  void operator()(std::FILE* file) const {
    if (file != stdout) std::fclose(file);
  }
};
using OutStream = std::unique_ptr<std::FILE, CloseUnlessStdout>;

// Written beside the file that it becomes at commit(); without commit() nothing is left of it. What is there already
// must be a regular file, or a link to one, which stays. "-" is stdout, which has at once what is written.
class OutFile {
 public:
  // Throws std::runtime_error where it cannot be written.
  explicit OutFile(const std::string& path);
  ~OutFile();
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;

  OutFile& raw(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail() const;
  std::string path_, temporary_;  // both empty: stdout
  OutStream file_;
};

// Runs write(), which writes the file `out`, as run_until_signal() does.
int run_writing(const char* subcommand, const std::string& out, const std::function<int()>& write);

// Prints what was made, behind the name of the file; of stdout on stderr, behind the name of what it shows.
void print_summary(const std::string& out, const std::string& shown, const std::string& summary);

}  // namespace neardup::cli
