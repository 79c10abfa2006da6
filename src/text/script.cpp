// See script.h.
#include "text/script.h"

#include <algorithm>
#include <cstdint>

#ifdef NEARDUP_WITH_OPENCC
#include <opencc.h>
#endif

namespace neardup {

size_t script_piece(std::string_view rest) noexcept {
  constexpr size_t kUsualPiece = 16 * 1024;
  constexpr size_t kMostPiece = 1 << 20;
  if (rest.size() <= kUsualPiece) return rest.size();
  if (const size_t newline = rest.rfind('\n', kUsualPiece - 1); newline != rest.npos) return newline + 1;
  for (size_t i = kUsualPiece; i-- > 0;)
    if (static_cast<uint8_t>(rest[i]) < 0x80) return i + 1;
  if (const size_t stop = rest.rfind("\xe3\x80\x82", kUsualPiece - 3); stop != rest.npos)
    return stop + 3;  // ideographic full stop
  for (size_t i = kUsualPiece; i < std::min(rest.size(), kMostPiece); ++i) {
    if (static_cast<uint8_t>(rest[i]) < 0x80) return i + 1;
    if (rest.substr(i, 3) == "\xe3\x80\x82") return i + 3;
  }
  if (rest.size() <= kMostPiece) return rest.size();
  size_t cut = kMostPiece;
  while ((static_cast<uint8_t>(rest[cut]) & 0xc0) == 0x80) --cut;
  return cut;
}

#ifdef NEARDUP_WITH_OPENCC

namespace {

class OpenCc final : public ScriptConverter {
 public:
  explicit OpenCc(ChineseScript to)
      : converter_(opencc_open(to == ChineseScript::simplified ? "t2s.json" : "s2t.json")) {
    // It returns (opencc_t) -1 on failure.
    if (reinterpret_cast<intptr_t>(converter_) == -1)
      throw Error(Errc::unsupported, "the dictionaries of OpenCC cannot be opened", opencc_error(),
                  "Install libopencc-data.");
  }
  OpenCc(const OpenCc&) = delete;
  OpenCc& operator=(const OpenCc&) = delete;
  ~OpenCc() override { opencc_close(converter_); }

  std::string_view convert(std::string_view piece) override {
    // No dictionary changes ASCII.
    if (std::all_of(piece.begin(), piece.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; })) return piece;
    struct Free {
      void operator()(char* text) const { opencc_convert_utf8_free(text); }
    };
    const std::unique_ptr<char, Free> text(opencc_convert_utf8(converter_, piece.data(), piece.size()));
    if (text == nullptr) throw Error(Errc::corrupt_data, "OpenCC cannot convert this text", opencc_error());
    result_.assign(text.get());
    return result_;
  }

 private:
  opencc_t converter_;
  std::string result_;
};

}  // namespace

std::unique_ptr<ScriptConverter> ScriptConverter::open(ChineseScript to) { return std::make_unique<OpenCc>(to); }

#else

std::unique_ptr<ScriptConverter> ScriptConverter::open(ChineseScript) {
  throw Error(Errc::unsupported, "this build of neardup cannot convert between Chinese scripts", {},
              "Install libopencc-dev and build and install neardup again.");
}

#endif

}  // namespace neardup
