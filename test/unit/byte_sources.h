// Sources of bytes that give as much or as little at a time as they like, which readers must not see.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "cli/input/byte_source.h"

namespace neardup::test {

// 1 to `most` bytes a call, by chance.
class Pieces final : public cli::MemorySource {
 public:
  Pieces(std::string_view bytes, std::size_t most, std::uint64_t seed)
      : MemorySource(bytes), most_(most), random_(seed) {}
  std::size_t read(char* buffer, std::size_t size) override {
    return MemorySource::read(buffer, std::min<std::size_t>(size, 1 + random_() % most_));
  }

 private:
  std::size_t most_;
  std::mt19937_64 random_;
};

// Behind the bytes of another source it cannot be read on.
class Damaged final : public cli::ByteSource {
 public:
  explicit Damaged(cli::ByteSource& bytes) : bytes_(bytes) {}
  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t got = bytes_.read(buffer, size);
    if (got == 0) throw cli::SourceError(cli::SkipReason::unreadable, "damaged");
    return got;
  }

 private:
  cli::ByteSource& bytes_;
};

// Reads it to its end, `size` bytes at a time at most; and what is wrong, where something is.
struct AllBytes {
  std::string bytes, wrong;
  bool operator==(const AllBytes&) const = default;
};
inline AllBytes read_all(cli::ByteSource& source, std::size_t size) {
  AllBytes all;
  std::string buffer(size, '\0');
  try {
    while (const std::size_t got = source.read(buffer.data(), size)) all.bytes.append(buffer.data(), got);
  } catch (const cli::SourceError& error) {
    all.wrong = error.what();
  }
  return all;
}

inline constexpr std::size_t kPieceSizes[] = {1, 2, 3, 7, 60, 4096};

}  // namespace neardup::test
