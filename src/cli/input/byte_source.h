// Bytes of a file or of standard input, in order, each once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>

#include "cli/input/skip_reason.h"

namespace neardup::cli {

// Why a file cannot be read on.
struct SourceError : std::runtime_error {
  SourceError(SkipReason what, const std::string& detail) : std::runtime_error(detail), problem(what) {}
  SkipReason problem;
};

class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  // Puts up to size bytes into buffer, and returns how many; 0 at the end only. Throws SourceError, Interrupted.
  virtual std::size_t read(char* buffer, std::size_t size) = 0;
};

// A file as it lies on disk.
class File final : public ByteSource {
 public:
  // "-": standard input. follow_link: the path itself may be a symbolic link. Throws SourceError unless it is a regular
  // file, or standard input.
  File(const std::string& path, bool follow_link);
  ~File() override;
  std::size_t read(char* buffer, std::size_t size) override;

  std::int64_t size() const { return info_.st_size; }  // when it was opened
  std::int64_t mtime() const;                          // file_mtime()
  // True if its size or time is another one by now.
  bool has_changed() const;

 private:
  int fd_;
  struct stat info_ = {};
};

// Bytes in memory, which must live as long.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : rest_(bytes) {}
  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t taken = rest_.copy(buffer, size);
    rest_.remove_prefix(taken);
    return taken;
  }

 private:
  std::string_view rest_;
};

// The bytes of head, which must live as long, and then those of another source.
class Prefixed final : public ByteSource {
 public:
  Prefixed(std::string_view head, ByteSource& rest) : head_(head), rest_(rest) {}
  std::size_t read(char* buffer, std::size_t size) override {
    if (head_.empty()) return rest_.read(buffer, size);
    const std::size_t taken = head_.copy(buffer, size);
    head_.remove_prefix(taken);
    return taken;
  }

 private:
  std::string_view head_;
  ByteSource& rest_;
};

// The path that stands for standard input.
inline constexpr const char* kStandardInput = "-";

}  // namespace neardup::cli
