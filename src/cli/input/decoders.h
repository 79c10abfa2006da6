// One interface to zlib, libzstd, libbz2 and liblzma: a step of unpacking.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cli/input/byte_source.h"
#include "cli/input/unpack.h"

namespace neardup::cli {

class Decoder {
 public:
  Decoder() = default;
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The bytes that a step read and made. ended: a member is complete.
  struct Step {
    std::size_t taken, made;
    bool ended;
  };
  // Throws SourceError where the input is damaged.
  virtual Step step(std::string_view input, std::span<char> output) = 0;
  // Another member follows.
  virtual void restart() = 0;
  virtual bool begins(char first) const = 0;
  [[noreturn]] virtual void fail(const std::string& detail) const = 0;
};

// Throws SourceError (no_library) where this build lacks the library.
std::unique_ptr<Decoder> make_decoder(Packing packing);

}  // namespace neardup::cli
