// Packed files: several members, padding between them, ends at every place; read by pieces of any size.
#include "cli/input/unpack.h"

#include <gtest/gtest.h>
#include <vector>
#include <zlib.h>
#ifdef NEARDUP_WITH_ZSTD
#include <zstd.h>
#endif
#ifdef NEARDUP_WITH_BZIP2
#include <bzlib.h>
#endif
#ifdef NEARDUP_WITH_LZMA
#include <lzma.h>
#endif

#include "unit/byte_sources.h"

namespace neardup::cli::unpack_test {
namespace {

using test::AllBytes;
using test::kPieceSizes;
using test::Pieces;
using test::read_all;

std::string packed_gzip(const std::string& text) {
  constexpr int kWindowBits = 15 + 16;
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, kWindowBits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned int>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<unsigned int>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::vector<Packing> packings() {
  return {
      Packing::gzip,
#ifdef NEARDUP_WITH_ZSTD
      Packing::zstd,
#endif
#ifdef NEARDUP_WITH_BZIP2
      Packing::bzip2,
#endif
#ifdef NEARDUP_WITH_LZMA
      Packing::xz,
#endif
  };
}

std::string packed(Packing packing, const std::string& text) {
  std::string out(2 * text.size() + 1000, '\0');
  std::size_t size = 0;
  switch (packing) {
#ifdef NEARDUP_WITH_ZSTD
    case Packing::zstd:
      size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
      break;
#endif
#ifdef NEARDUP_WITH_BZIP2
    case Packing::bzip2: {
      auto made = static_cast<unsigned int>(out.size());
      EXPECT_EQ(BZ2_bzBuffToBuffCompress(out.data(), &made, const_cast<char*>(text.data()),
                                         static_cast<unsigned int>(text.size()), 1, 0, 0),
                BZ_OK);
      size = made;
      break;
    }
#endif
#ifdef NEARDUP_WITH_LZMA
    case Packing::xz:
      EXPECT_EQ(
          lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                  text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
          LZMA_OK);
      break;
#endif
    default:
      return packed_gzip(text);
  }
  out.resize(size);
  return out;
}

std::string random_text(std::mt19937_64& random, std::size_t size) {
  std::string text;
  while (text.size() < size) text += static_cast<char>('a' + random() % 17);
  return text;
}

AllBytes unpacked_by(const std::string& bytes, Packing packing, std::size_t piece, std::size_t buffer) {
  Pieces source(bytes, piece, bytes.size() + buffer);
  try {
    return read_all(*unpacked(source, packing), buffer);
  } catch (const SourceError& error) {
    return {"", error.what()};
  }
}

TEST(Unpack, MembersByPieces) {
  std::mt19937_64 random(7);
  for (const Packing packing : packings()) {
    for (int turn = 0; turn < 12; ++turn) {
      std::string bytes, text;
      const std::size_t members = 1 + random() % 4;
      for (std::size_t i = 0; i < members; ++i) {
        const std::string part = random_text(random, std::vector<std::size_t>{0, 1, 9, 200, 5000}[random() % 5]);
        bytes += packed(packing, part);
        text += part;
        // Padding of xz is a multiple of 4 bytes
        if (random() % 3 == 0) bytes += std::string(4 * (random() % 3), '\0');
      }
      for (const std::size_t piece : kPieceSizes) {
        for (const std::size_t buffer : {std::size_t{1}, std::size_t{100}, text.size() + 1}) {
          ASSERT_EQ(unpacked_by(bytes, packing, piece, buffer).bytes, text);
          ASSERT_EQ(unpacked_by(bytes, packing, piece, buffer).wrong, "");
        }
      }
    }
  }
}

// A file that ends at any place has an error, unless it ends behind a member, which nothing but another follows.
TEST(Unpack, EndsAnywhere) {
  std::mt19937_64 random(8);
  for (const Packing packing : packings()) {
    std::string bytes, text;
    std::vector<std::pair<std::size_t, std::size_t>> ends;  // packed, unpacked
    for (std::size_t size : {40, 0, 90}) {
      const std::string part = random_text(random, size);
      bytes += packed(packing, part);
      text += part;
      ends.emplace_back(bytes.size(), text.size());
    }
    for (std::size_t end = 1; end <= bytes.size(); ++end) {
      const auto at = std::find_if(ends.begin(), ends.end(), [&](const auto& member) { return member.first == end; });
      for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, bytes.size()}) {
        const AllBytes got = unpacked_by(bytes.substr(0, end), packing, piece, 64);
        SCOPED_TRACE(std::to_string(static_cast<int>(packing)) + ", ends at " + std::to_string(end));
        if (at != ends.end()) {
          ASSERT_EQ(got.bytes, text.substr(0, at->second));
          ASSERT_EQ(got.wrong, "");
          const AllBytes more = unpacked_by(bytes.substr(0, end) + "x", packing, piece, 64);
          ASSERT_NE(more.wrong, "");
        } else {
          ASSERT_NE(got.wrong, "");
        }
      }
    }
  }
}

// The end of the first member, and zeros behind it, at each place around the end of the buffer of packed bytes.
TEST(Unpack, MembersEndWithTheBuffer) {
  std::mt19937_64 random(9);
  constexpr std::size_t kBuffer = 256 * 1024;
  const std::string last = packed_gzip("the last");
  for (std::size_t more = 0; more < 4; ++more) {
    std::string text(kBuffer + 40, '\0');
    for (char& c : text) c = static_cast<char>(random());
    std::string member = packed_gzip(text);
    // Random bytes are stored as they are: the size of the member follows theirs.
    const std::size_t over = member.size() - (kBuffer - 2 + more);
    text.resize(text.size() - over);
    member = packed_gzip(text);
    for (std::size_t zeros = 0; zeros < 4; ++zeros) {
      const std::string bytes = member + std::string(zeros, '\0') + last;
      MemorySource whole(bytes);
      const AllBytes got = read_all(*unpacked(whole, Packing::gzip), 1000);
      ASSERT_EQ(got.wrong, "") << member.size();
      ASSERT_TRUE(got.bytes == text + "the last") << member.size();
    }
  }
}

TEST(Unpack, KnownByTheFirstBytes) {
  for (const Packing packing : packings()) {
    const std::string bytes = packed(packing, "text");
    EXPECT_EQ(detect_packing(bytes), packing);
    for (std::size_t size = 0; size < 3; ++size) EXPECT_EQ(detect_packing(bytes.substr(0, size)), Packing::none);
  }
}

}  // namespace
}  // namespace neardup::cli::unpack_test
