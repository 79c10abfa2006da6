// JSON that is written: strings escaped, objects put together.
#pragma once

#include <string>
#include <string_view>

namespace neardup::cli {

// Appends the UTF-8 text as a JSON string, in quotes.
inline void append_json_string(std::string& out, std::string_view text) {
  constexpr const char* kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

// An object that grows by members; empty while it has none.
class JsonObject {
 public:
  // Where the value is to be appended.
  std::string& member(std::string_view name) {
    json_ += json_.empty() ? '{' : ',';
    append_json_string(json_, name);
    json_ += ':';
    return json_;
  }
  void add(std::string_view name, std::string_view text) { append_json_string(member(name), text); }
  std::string finish() {
    if (!json_.empty()) json_ += '}';
    return std::move(json_);
  }

 private:
  std::string json_;
};

}  // namespace neardup::cli
