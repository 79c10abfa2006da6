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
  void add_line(std::string_view line);
  // Of the first field of that name, which is in lower case; empty where there is none.
  std::string_view get(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpMessage {
  HttpHeader header;
  std::string body;  // without chunks, and unpacked
};

// Nothing, and why, where the body cannot be had: packed in a way that is not known, damaged, or larger than max_size.
std::optional<HttpMessage> parse_http(std::string_view bytes, std::uint64_t max_size, std::string& why);

}  // namespace neardup::cli
