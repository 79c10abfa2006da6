// Unpacks what gzip, zstd, bzip2 or xz has packed, known by its first bytes.
#include "cli/input/unpack.h"

#include <algorithm>
#include <new>
#include <vector>

#include "cli/base/interrupt.h"
#include "cli/input/decoders.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;

// A packed file of any format: members that follow each other, and padding.
class Unpacked final : public ByteSource {
 public:
  Unpacked(ByteSource& packed, std::unique_ptr<Decoder> decoder)
      : packed_(packed), decoder_(std::move(decoder)), input_(kInputBytes) {}

  std::size_t read(char* buffer, std::size_t size) override {
    for (;;) {
      check_interrupt();
      if (between_members_ && !next_member()) {
        if (refill()) continue;
        return 0;
      }
      const Decoder::Step step = decoder_->step(rest_, {buffer, size});
      rest_.remove_prefix(step.taken);
      between_members_ = step.ended;
      if (step.made > 0) return step.made;
      if (step.taken > 0 || step.ended) continue;
      // with no input left, too, it was asked: libraries hold output back
      if (!rest_.empty()) decoder_->fail("damaged");
      if (!refill()) decoder_->fail("ends too early");
    }
  }

 private:
  // False where nothing but padding is left of the input.
  bool next_member() {
    while (!rest_.empty() && rest_.front() == 0) rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    if (!decoder_->begins(rest_.front())) decoder_->fail("garbage after the end");
    decoder_->restart();
    between_members_ = false;
    return true;
  }

  bool refill() {
    const std::size_t got = packed_.read(input_.data(), input_.size());
    rest_ = {input_.data(), got};
    return got > 0;
  }

  ByteSource& packed_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<char> input_;
  std::string_view rest_;  // of input_
  bool between_members_ = false;
};

}  // namespace

Packing detect_packing(std::string_view head) noexcept {
  if (head.starts_with("\x1f\x8b\x08")) return Packing::gzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Packing::zstd;
  if (head.starts_with(std::string_view("\xfd\x37zXZ\0", 6))) return Packing::xz;
  if (head.starts_with("BZh") && head.size() > 4 && head[3] >= '1' && head[3] <= '9' &&
      (head[4] == '1' || head[4] == '\x17'))
    return Packing::bzip2;
  return Packing::none;
}

std::unique_ptr<ByteSource> unpacked(ByteSource& packed, Packing packing) {
  return std::make_unique<Unpacked>(packed, make_decoder(packing));
}

}  // namespace neardup::cli
