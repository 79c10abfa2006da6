// A page of HTML that is written as it is made; nothing of the data can become markup.
#include "cli/html.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>

namespace neardup::cli {
namespace {

// The character at text[i], or -1 where there is none of well-formed UTF-8; size: its bytes, 1 for a bad one.
std::int32_t decode(std::string_view text, std::size_t i, std::size_t& size) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char c = byte(i);
  size = 1;
  if (c < 0x80) return c;
  const std::size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4 || i + length > text.size()) return -1;
  std::int32_t value = c & (0xff >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return -1;
    value = value << 6 | (byte(i + k) & 0x3f);
  }
  const std::int32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return -1;
  size = length;
  return value;
}

bool is_directional(std::int32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

// Where a link leads, so that it stays one. A device or a pipe would be replaced by the file: /dev/null, for root.
std::string target_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) return path;  // opening it tells what is wrong
  if (!std::filesystem::is_regular_file(status)) {
    throw std::runtime_error("cannot write " + path + ": it is there, and no regular file");
  }
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

}  // namespace

std::string html_text(std::string_view text, bool plain) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (std::size_t i = 0, size = 1; i < text.size(); i += size) {
    const std::int32_t c = decode(text, i, size);
    switch (c) {
      case '<':
        out += "&lt;";
        continue;
      case '>':
        out += "&gt;";
        continue;
      case '&':
        out += "&amp;";
        continue;
      case '"':
        out += "&quot;";
        continue;
      case '\'':
        out += "&#39;";
        continue;
      case '\r':
        continue;
      case '\t':
      case '\n':
        out += static_cast<char>(c);
        continue;
      default:
        break;
    }
    const bool control = (c >= 0 && c < 0x20) || (c >= 0x7f && c < 0xa0);
    if (c < 0 || (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef)) {
      out += plain ? "\ufffd" : "<span class=\"ctl\">\ufffd</span>";
    } else if (control || is_directional(c) || c == 0xfeff) {
      char name[48];
      std::snprintf(name, sizeof name, "<span class=\"ctl\">U+%04X</span>", static_cast<unsigned>(c));
      out += plain ? "\ufffd" : name;
    } else {
      out.append(text.substr(i, size));
    }
  }
  return out;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > (number < 0 ? 4u : 3u);) digits.insert(at -= 3, ",");
  return digits;
}

HtmlFile::HtmlFile(const std::string& path)
    : path_(target_of(path)), temporary_(path_ + ".new-" + std::to_string(getpid())) {
  const int fd = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail();
  file_.reset(fdopen(fd, "w"));
  if (!file_) {
    close(fd);
    unlink(temporary_.c_str());
    fail();
  }
}

HtmlFile::~HtmlFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void HtmlFile::fail() const { throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno)); }

HtmlFile& HtmlFile::raw(std::string_view markup) {
  if (std::fwrite(markup.data(), 1, markup.size(), file_.get()) != markup.size()) fail();
  return *this;
}

void HtmlFile::commit() {
  if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0) fail();
  if (std::fclose(file_.release()) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  temporary_.clear();
}

std::string svg_bars(const std::vector<Bar>& bars, const std::string& description) {
  constexpr double kWidth = 720, kHeight = 250, kLeft = 62, kTop = 22, kBottom = 34, kRight = 10;
  std::int64_t most = 1;
  for (const Bar& bar : bars) most = std::max(most, bar.count);
  // three to five lines at round numbers
  std::int64_t step = 1;
  for (int i = 0; most / step > 5; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  const double top = static_cast<double>((most + step - 1) / step * step);
  const double plot = kHeight - kTop - kBottom;
  const double cell = (kWidth - kLeft - kRight) / static_cast<double>(std::max<std::size_t>(bars.size(), 1));
  const auto y_of = [&](double count) { return kTop + plot * (1 - count / top); };

  std::string svg = "<div class=\"chart\"><svg viewBox=\"0 0 720 250\" role=\"img\" aria-label=\"" +
                    html_text(description, true) + "\">\n";
  for (std::int64_t line = 0; static_cast<double>(line) <= top; line += step) {
    const std::string y = number(y_of(static_cast<double>(line)));
    svg += "<line class=\"" + std::string(line == 0 ? "axis" : "grid") + "\" x1=\"62\" x2=\"710\" y1=\"" + y +
           "\" y2=\"" + y + "\"/><text class=\"tick\" text-anchor=\"end\" x=\"55\" y=\"" +
           number(y_of(static_cast<double>(line)) + 4) + "\">" + grouped(line) + "</text>\n";
  }
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double x = kLeft + cell * static_cast<double>(i), gap = std::min(cell * 0.12, 4.0);
    const double height = bars[i].count > 0 ? std::max(plot * static_cast<double>(bars[i].count) / top, 1.5) : 0;
    const double width = std::min(cell - 2 * gap, 72.0), middle = x + cell / 2;
    svg += "<g><title>" + html_text(bars[i].title, true) + "</title><rect class=\"bar\" x=\"" +
           number(middle - width / 2) + "\" y=\"" + number(kTop + plot - height) + "\" width=\"" + number(width) +
           "\" height=\"" + number(height) + "\"/>";
    if (bars.size() <= 14 && bars[i].count > 0) {
      svg += "<text class=\"count\" text-anchor=\"middle\" x=\"" + number(middle) + "\" y=\"" +
             number(kTop + plot - height - 5) + "\">" + grouped(bars[i].count) + "</text>";
    }
    if (!bars[i].label.empty()) {
      svg += "<text class=\"tick\" text-anchor=\"middle\" x=\"" + number(middle) + "\" y=\"" +
             number(kHeight - kBottom + 18) + "\">" + html_text(bars[i].label, true) + "</text>";
    }
    svg += "</g>\n";
  }
  return svg + "</svg></div>\n";
}

}  // namespace neardup::cli
