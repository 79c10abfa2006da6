// A response of HTTP, as WARC keeps it.
#include "cli/records/http.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "cli/input/ascii.h"
#include "cli/input/byte_source.h"
#include "cli/input/unpack.h"

namespace neardup::cli {
namespace {

std::string_view cut_line(std::string_view& bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// Chunks put together. Many archives have done so before, and left the header as it was: then the bytes are as they
// are.
std::string without_chunks(std::string bytes) {
  std::string_view rest = bytes;
  std::string whole;
  for (;;) {
    const std::string_view line = cut_line(rest);
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    const bool good = error == std::errc() && (end == line.data() + line.size() || *end == ';' || *end == ' ');
    if (!good || size > rest.size()) return bytes;
    if (size == 0) return whole;
    whole.append(rest.substr(0, size));
    rest.remove_prefix(size);
    if (!cut_line(rest).empty()) return bytes;
  }
}

bool unpack(std::string& body, Packing packing, std::uint64_t max_size, std::string& why) {
  std::string whole;
  try {
    MemorySource packed(body);
    const std::unique_ptr<ByteSource> source = unpacked(packed, packing);
    std::vector<char> chunk(64 * 1024);
    while (const std::size_t got = source->read(chunk.data(), chunk.size())) {
      whole.append(chunk.data(), got);
      if (whole.size() > max_size) {
        why = "its body is too large, unpacked";
        return false;
      }
    }
  } catch (const SourceError& error) {
    why = std::string("its packed body: ") + error.what();
    return false;
  }
  body = std::move(whole);
  return true;
}

}  // namespace

bool HttpHeader::add_line(std::string_view line) {
  bytes_ += line.size();
  if (++lines_ > kMostLines || bytes_ > kMostHttpBytes) return false;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return true;
  fields_.emplace_back(ascii_lower(trim_ascii(line.substr(0, colon))), trim_ascii(line.substr(colon + 1)));
  return true;
}

std::string HttpHeader::too_large() {
  return "a header of more than " + std::to_string(kMostLines) + " lines or " + std::to_string(kMostHttpBytes) +
         " bytes";
}

std::string_view HttpHeader::get(std::string_view name) const {
  for (const auto& [known, value] : fields_) {
    if (known == name) return value;
  }
  return {};
}

std::optional<HttpMessage> parse_http(std::string_view bytes, std::uint64_t max_size, std::string& why) {
  HttpMessage message;
  std::string_view rest = bytes;
  cut_line(rest);  // the status
  for (;;) {
    if (rest.empty()) break;
    const std::string_view line = cut_line(rest);
    if (line.empty()) break;
    if (!message.header.add_line(line)) {
      why = "HTTP: " + HttpHeader::too_large();
      return std::nullopt;
    }
  }
  message.body = rest;
  if (ascii_lower(message.header.get("transfer-encoding")).find("chunked") != std::string::npos)
    message.body = without_chunks(std::move(message.body));
  // archives that unpack leave the header as it was, too
  const std::string encoding = ascii_lower(message.header.get("content-encoding"));
  const Packing packing = detect_packing(message.body);
  if ((packing == Packing::gzip || packing == Packing::zstd) && !unpack(message.body, packing, max_size, why))
    return std::nullopt;
  if (packing == Packing::none && (encoding == "br" || encoding == "deflate") &&
      message.body.substr(0, 4096).find_first_of(std::string_view("\0\1\2\3\4\5\6", 7)) != std::string::npos) {
    why = "packed with " + encoding;
    return std::nullopt;
  }
  return message;
}

}  // namespace neardup::cli
