// Text and histograms for a page of HTML; nothing of the data can become markup.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neardup::cli {

// Text between tags or in a quoted attribute. < > & " ' become entities; controls, directional controls and bytes that
// are not UTF-8 become visible: as <span class="ctl">, or, plain, as U+FFFD.
std::string escape_html(std::string_view text, bool plain = false);

// 1234567 -> "1,234,567"
std::string grouped(std::int64_t number);

// "1,234 rows": with an s unless it is one.
std::string counted(std::int64_t n, const std::string& one);

std::string fixed(double value, int digits);

struct Bar {
  std::string label;  // below the bar; may be empty
  std::string title;  // for the pointer and for readers of the page's text
  std::int64_t count;
};

// A histogram as SVG. Labels and titles are escaped here.
std::string svg_bars(const std::vector<Bar>& bars, const std::string& description);

}  // namespace neardup::cli
