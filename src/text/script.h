// Chinese in simplified and traditional characters, by OpenCC's dictionaries of phrases.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace neardup {

enum class ChineseScript { simplified, traditional };

// One direction of OpenCC with its dictionaries, a few MB. Not thread-safe.
class ScriptConverter {
 public:
  // Error{unsupported} where this build is without OpenCC or the system without its dictionaries.
  static std::unique_ptr<ScriptConverter> open(ChineseScript to);
  virtual ~ScriptConverter() = default;

  // A piece of valid UTF-8. The view holds until the next call. Error{corrupt_data} when OpenCC fails.
  virtual std::string_view convert(std::string_view piece) = 0;
};

// The length of the next piece of the text, about 16 KiB: up to a line end, else an ASCII character or a mark that ends
// a sentence, where no phrase of the dictionaries goes on; so the pieces become what the whole would. A text without
// any of them for 1 MiB is cut there between two characters.
size_t script_piece(std::string_view rest) noexcept;

}  // namespace neardup
