// A response of HTTP, as WARC keeps it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace neardup::cli {

// Names and values; lines that are neither are passed over.
class HttpHeader {
 public:
  static constexpr int kMostLines = 1000;
  static constexpr std::size_t kMostHttpBytes = 256 << 10;

  // False where there are more lines or bytes.
  [[nodiscard]] bool add_line(std::string_view line);
  // The value of the first field of that name, which is in lower case; empty where there is none.
  std::string_view get(std::string_view name) const;

  // The message about a header for which add_line() was false: "a header of more than 1000 lines or ..."
  static std::string too_large();

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
  int lines_ = 0;
  std::size_t bytes_ = 0;
};

struct HttpMessage {
  HttpHeader header;
  std::string body;  // without chunks, and unpacked
};

// Nothing, and why, where the header is too large, or the body cannot be had: packed in a way that is not known,
// damaged, or larger than max_size.
std::optional<HttpMessage> parse_http(std::string_view bytes, std::uint64_t max_size, std::string& why);

}  // namespace neardup::cli
