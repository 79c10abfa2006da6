// One interface to zlib, libzstd, libbz2 and liblzma: a step of unpacking.
#include "cli/input/decoders.h"

#include <algorithm>
#include <climits>
#include <new>
#include <zlib.h>
#ifdef NEARDUP_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif
#ifdef NEARDUP_WITH_BZIP2
#include <bzlib.h>
#endif
#ifdef NEARDUP_WITH_LZMA
#include <lzma.h>
#endif

namespace neardup::cli {
namespace {

constexpr const char* kNoStart = "the library could not start";

// zlib and libbz2 count in unsigned int.
unsigned int part(std::size_t size) { return static_cast<unsigned int>(std::min<std::size_t>(size, INT_MAX)); }

class Gzip final : public Decoder {
 public:
  Gzip() {
    constexpr int kWindowBits = 15, kWithGzipHeader = 16;
    if (inflateInit2(&stream_, kWindowBits + kWithGzipHeader) != Z_OK) fail(kNoStart);
  }
  ~Gzip() override { inflateEnd(&stream_); }

  Step step(std::string_view input, std::span<char> output) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = part(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = part(output.size());
    const unsigned int had_in = stream_.avail_in, had_out = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      fail(stream_.msg != nullptr ? stream_.msg : "damaged");
    return {had_in - stream_.avail_in, had_out - stream_.avail_out, status == Z_STREAM_END};
  }
  void restart() override { inflateReset(&stream_); }
  bool begins(char first) const override { return first == '\x1f'; }
  void fail(const std::string& detail) const override { throw SourceError(SkipReason::bad_gzip, detail); }

 private:
  z_stream stream_ = {};
};

// A packing that says its name in messages.
class Named : public Decoder {
 public:
  explicit Named(const char* name) : name_(name) {}
  void fail(const std::string& detail) const final {
    throw SourceError(SkipReason::bad_packing, std::string(name_) + ": " + detail);
  }

 private:
  const char* name_;
};

#ifdef NEARDUP_WITH_ZSTD
class Zstd final : public Named {
 public:
  Zstd() : Named("zstd"), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (!stream_) fail(kNoStart);
  }

  Step step(std::string_view input, std::span<char> output) override {
    ZSTD_inBuffer in = {input.data(), input.size(), 0};
    ZSTD_outBuffer out = {output.data(), output.size(), 0};
    const std::size_t more = ZSTD_decompressStream(stream_.get(), &out, &in);
    if (ZSTD_getErrorCode(more) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_isError(more) != 0) fail(ZSTD_getErrorName(more));
    return {in.pos, out.pos, more == 0};
  }
  void restart() override { ZSTD_DCtx_reset(stream_.get(), ZSTD_reset_session_only); }
  // a frame, or one that is to be passed over
  bool begins(char first) const override { return first == '\x28' || (first >= '\x50' && first <= '\x5f'); }

 private:
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
};
#endif

#ifdef NEARDUP_WITH_BZIP2
class Bzip2 final : public Named {
 public:
  Bzip2() : Named("bzip2") { start(); }
  ~Bzip2() override { BZ2_bzDecompressEnd(&stream_); }

  Step step(std::string_view input, std::span<char> output) override {
    stream_.next_in = const_cast<char*>(input.data());
    stream_.avail_in = part(input.size());
    stream_.next_out = output.data();
    stream_.avail_out = part(output.size());
    const unsigned int had_in = stream_.avail_in, had_out = stream_.avail_out;
    const int status = BZ2_bzDecompress(&stream_);
    if (status == BZ_MEM_ERROR) throw std::bad_alloc();
    if (status != BZ_OK && status != BZ_STREAM_END) fail("damaged");
    return {had_in - stream_.avail_in, had_out - stream_.avail_out, status == BZ_STREAM_END};
  }
  void restart() override {
    BZ2_bzDecompressEnd(&stream_);
    start();
  }
  bool begins(char first) const override { return first == 'B'; }

 private:
  void start() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) fail(kNoStart);
  }
  bz_stream stream_ = {};
};
#endif

#ifdef NEARDUP_WITH_LZMA
class Xz final : public Named {
 public:
  Xz() : Named("xz") { restart(); }
  ~Xz() override { lzma_end(&stream_); }

  Step step(std::string_view input, std::span<char> output) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
    stream_.avail_out = output.size();
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status == LZMA_MEMLIMIT_ERROR) fail("needs more than 256 MB to be unpacked");
    if (status != LZMA_OK && status != LZMA_STREAM_END && status != LZMA_BUF_ERROR) fail("damaged");
    return {input.size() - stream_.avail_in, output.size() - stream_.avail_out, status == LZMA_STREAM_END};
  }
  void restart() override {
    constexpr std::uint64_t kXzMemory = 256 << 20;
    if (lzma_stream_decoder(&stream_, kXzMemory, 0) != LZMA_OK) fail(kNoStart);
  }
  bool begins(char first) const override { return first == '\xfd'; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};
#endif

[[maybe_unused, noreturn]] void lacks(const char* library, const char* package) {
  throw SourceError(SkipReason::no_library,
                    std::string(library) + ": install " + package + ", and build neardup again");
}

}  // namespace

std::unique_ptr<Decoder> make_decoder(Packing packing) {
  switch (packing) {
    case Packing::zstd:
#ifdef NEARDUP_WITH_ZSTD
      return std::make_unique<Zstd>();
#else
      lacks("libzstd", "libzstd-dev");
#endif
    case Packing::bzip2:
#ifdef NEARDUP_WITH_BZIP2
      return std::make_unique<Bzip2>();
#else
      lacks("libbz2", "libbz2-dev");
#endif
    case Packing::xz:
#ifdef NEARDUP_WITH_LZMA
      return std::make_unique<Xz>();
#else
      lacks("liblzma", "liblzma-dev");
#endif
    case Packing::gzip:
    case Packing::none:
      break;
  }
  return std::make_unique<Gzip>();
}

}  // namespace neardup::cli
