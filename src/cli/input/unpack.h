// Unpacks what gzip, zstd, bzip2 or xz has packed, known by its first bytes.
#pragma once

#include <memory>
#include <string_view>

#include "cli/input/byte_source.h"

namespace neardup::cli {

enum class Packing { none, gzip, zstd, bzip2, xz };

// The packing of a file, by its first six bytes, or fewer of a shorter one.
Packing detect_packing(std::string_view head) noexcept;

// The bytes of the packed source, unpacked: all members or frames of it, one after another; zeros after one are passed
// over. Its read() throws SourceError where they are damaged or end too early. Memory: that of the library, at most
// about 256 MB whatever the bytes say. Throws SourceError (no_library) where this build lacks the library.
std::unique_ptr<ByteSource> unpacked(ByteSource& packed, Packing packing);

}  // namespace neardup::cli
