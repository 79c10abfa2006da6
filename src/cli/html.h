// A page of HTML that is written as it is made; nothing of the data can become markup.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace neardup::cli {

// Text between tags or in a quoted attribute. < > & " ' become entities; controls, directional controls and bytes that
// are not UTF-8 become visible: as <span class="ctl">, or, plain, as U+FFFD.
std::string html_text(std::string_view text, bool plain = false);

// 1234567 -> "1,234,567"
std::string grouped(std::int64_t number);

// Written beside the file that it becomes at commit(); without commit() nothing is left of it. What is there already
// must be a regular file, or a link to one, which stays.
class HtmlFile {
 public:
  // Throws std::runtime_error where it cannot be written.
  explicit HtmlFile(const std::string& path);
  ~HtmlFile();
  HtmlFile(const HtmlFile&) = delete;
  HtmlFile& operator=(const HtmlFile&) = delete;

  HtmlFile& raw(std::string_view markup);
  HtmlFile& text(std::string_view text) { return raw(html_text(text)); }
  void commit();

 private:
  [[noreturn]] void fail() const;
  std::string path_, temporary_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

struct Bar {
  std::string label;  // below the bar; may be empty
  std::string title;  // for the pointer and for readers of the page's text
  std::int64_t count;
};

// A histogram as SVG. Labels and titles are escaped here.
std::string svg_bars(const std::vector<Bar>& bars, const std::string& description);

}  // namespace neardup::cli
