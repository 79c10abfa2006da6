// Bit strings like the hashes of images, as rows of COPY: number, then x and hexadecimal digits.
//   make_bit_codes ROWS [BITS [SKEW]]
// SKEW 0: bits of equal chance, each on its own. Above 0, hashes of pictures: each bit says whether a sum of some
// hidden properties of the picture, SKEW times as large as noise of the bit's own, is above the middle one of all sums;
// so half of the bits are set, and bits depend on each other. One row in 20 is another one with up to an eighth of its
// bits flipped.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kProperties = 32;
constexpr int kNearPart = 20;
constexpr size_t kRemembered = 4096;  // rows that others are made of

using Code = std::vector<uint8_t>;  // a bit an element

class Codes {
 public:
  Codes(size_t bits, double skew) : bits_(bits), skew_(skew) {
    for (int p = 0; p < kProperties; ++p)
      for (size_t i = 0; i < bits; ++i) weights_.push_back(static_cast<float>(normal_(random_) / std::sqrt(1.0 + p)));
  }

  Code next() {
    if (!before_.empty() && random_() % kNearPart == 0) {
      Code near = before_[random_() % before_.size()];
      for (size_t flips = random_() % (bits_ / 8 + 1); flips > 0; --flips) near[random_() % bits_] ^= 1;
      return near;
    }
    Code code = skew_ > 0 ? picture_code() : unrelated();
    if (before_.size() < kRemembered)
      before_.push_back(code);
    else
      before_[random_() % kRemembered] = code;
    return code;
  }

 private:
  Code unrelated() {
    Code code(bits_);
    for (uint8_t& bit : code) bit = random_() & 1;
    return code;
  }

  Code picture_code() {
    std::vector<float> sums(bits_);
    for (float& sum : sums) sum = static_cast<float>(normal_(random_) / skew_);
    for (int p = 0; p < kProperties; ++p) {
      const auto property = static_cast<float>(normal_(random_));
      for (size_t i = 0; i < bits_; ++i) sums[i] += property * weights_[p * bits_ + i];
    }
    std::vector<float> sorted = sums;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(bits_ / 2), sorted.end());
    Code code(bits_);
    for (size_t i = 0; i < bits_; ++i) code[i] = sums[i] > sorted[bits_ / 2];
    return code;
  }

  size_t bits_;
  double skew_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_;
  std::vector<float> weights_;
  std::vector<Code> before_;
};

}  // namespace

int main(int argc, char** argv) {
  const long rows = argc > 1 ? std::atol(argv[1]) : 0;
  const long bits = argc > 2 ? std::atol(argv[2]) : 256;
  const double skew = argc > 3 ? std::atof(argv[3]) : 0;
  if (rows <= 0 || bits < 64 || bits > 4096 || bits % 4 != 0) {
    std::fprintf(stderr, "usage: make_bit_codes ROWS [BITS, 64 to 4096, a multiple of 4 [SKEW]]\n");
    return 2;
  }
  Codes codes(static_cast<size_t>(bits), skew);
  std::string line;
  for (long row = 1; row <= rows; ++row) {
    const Code code = codes.next();
    line = std::to_string(row) + "\tx";
    for (size_t i = 0; i < code.size(); i += 4)
      line += "0123456789abcdef"[code[i] << 3 | code[i + 1] << 2 | code[i + 2] << 1 | code[i + 3]];
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  return 0;
}
