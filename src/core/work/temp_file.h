// Temporary files as the core sees them: append, then read anywhere. The host decides where they live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/error.h"

namespace neardup {

// A byte file that lives as long as the object. Not thread-safe. Every call may throw Error.
class TempFile {
 public:
  virtual ~TempFile() = default;

  virtual void append(const void* data, size_t n) = 0;

  // Reads exactly n bytes at the offset; reading past the end is Error{corrupt_data}.
  // Increasing offsets are cheap: implementations buffer a block.
  virtual void read(uint64_t offset, void* out, size_t n) = 0;
};

class TempFileFactory {
 public:
  virtual std::unique_ptr<TempFile> create() = 0;

 protected:
  ~TempFileFactory() = default;
};

}  // namespace neardup
