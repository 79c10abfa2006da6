// A file that is written as it is made and is there only when it is whole; or stdout.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace neardup::cli {

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
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };
  [[noreturn]] void fail() const;
  std::string path_, temporary_;  // both empty: stdout
  std::unique_ptr<std::FILE, Close> file_;
};

// Runs write(), which writes the file `out`, and returns its exit code. A signal ends it: says what is left then.
int run_writing(const char* subcommand, const std::string& out, const std::function<int()>& write);

}  // namespace neardup::cli
