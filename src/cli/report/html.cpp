// Text and histograms for a page of HTML; nothing of the data can become markup.
#include "cli/report/html.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>

#include "cli/base/utf8.h"

namespace neardup::cli {
namespace {

struct Written {
  std::int32_t character;
  const char* html;
};
constexpr Written kWritten[] = {{'<', "&lt;"},   {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"},
                                {'\'', "&#39;"}, {'\r', ""},    {'\t', "\t"},   {'\n', "\n"}};

bool is_directional(std::int32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string number(double value) { return fixed(value, 1); }

}  // namespace

std::string escape_html(std::string_view text, bool plain) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (std::size_t i = 0, size = 1; i < text.size(); i += size) {
    const std::int32_t c = decode_utf8(text, i, size);
    if (const auto* const written = std::ranges::find(kWritten, c, &Written::character);
        written != std::end(kWritten)) {
      out += written->html;
      continue;
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

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string counted(std::int64_t n, const std::string& one) { return grouped(n) + " " + one + (n == 1 ? "" : "s"); }

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > (number < 0 ? 4u : 3u);) digits.insert(at -= 3, ",");
  return digits;
}

namespace {

// Says which texts on one line, which come from left to right, do not touch the one before.
class LineOfTexts {
 public:
  bool has_room(double middle, std::string_view text) {
    constexpr double kCharacter = 7.5, kBetween = 6;  // of a font of 13 units
    const double half = kCharacter * static_cast<double>(text.size()) / 2;
    if (middle - half < end_) return false;
    end_ = middle + half + kBetween;
    return true;
  }

 private:
  double end_ = 0;
};

// The bars with their labels and counts; each is cell wide, from left on, and the highest of top units plot high.
std::string svg_cells(const std::vector<Bar>& bars, double left, double cell, double base, double plot, double top) {
  constexpr double kWidest = 72, kMostGap = 4, kLeastHeight = 1.5;
  std::string svg;
  LineOfTexts labels;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double middle = left + cell * (static_cast<double>(i) + 0.5);
    const double width = std::min(cell - 2 * std::min(cell * 0.12, kMostGap), kWidest);
    const double height = bar.count > 0 ? std::max(plot * static_cast<double>(bar.count) / top, kLeastHeight) : 0;
    svg += "<g><title>" + escape_html(bar.title, true) + "</title><rect class=\"bar\" x=\"" +
           number(middle - width / 2) + "\" y=\"" + number(base - height) + "\" width=\"" + number(width) +
           "\" height=\"" + number(height) + "\"/>";
    const auto text = [&](const char* name, double y, const std::string& words) {
      svg += "<text class=\"" + std::string(name) + "\" text-anchor=\"middle\" x=\"" + number(middle) + "\" y=\"" +
             number(y) + "\">" + escape_html(words, true) + "</text>";
    };
    const std::string count = grouped(bar.count);
    if (bar.count > 0 && LineOfTexts().has_room(cell / 2, count)) text("count", base - height - 5, count);
    if (!bar.label.empty() && labels.has_room(middle, bar.label)) text("tick", base + 18, bar.label);
    svg += "</g>\n";
  }
  return svg;
}

}  // namespace

std::string svg_bars(const std::vector<Bar>& bars, const std::string& description) {
  constexpr double kChartWidth = 560, kChartHeight = 250, kLeft = 62, kTop = 22, kBottom = 34, kRight = 10;
  std::int64_t most = 1;
  for (const Bar& bar : bars) most = std::max(most, bar.count);
  // three to five lines at round numbers
  std::int64_t step = 1;
  for (int i = 0; most / step > 5; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  const double top = static_cast<double>((most + step - 1) / step * step);
  const double plot = kChartHeight - kTop - kBottom;
  const double cell = (kChartWidth - kLeft - kRight) / static_cast<double>(std::max<std::size_t>(bars.size(), 1));

  std::string svg = "<div class=\"chart\"><svg viewBox=\"0 0 " + number(kChartWidth) + " " + number(kChartHeight) +
                    "\" role=\"img\" aria-label=\"" + escape_html(description, true) + "\">\n";
  for (std::int64_t line = 0; static_cast<double>(line) <= top; line += step) {
    const double y = kTop + plot * (1 - static_cast<double>(line) / top);
    svg += "<line class=\"" + std::string(line == 0 ? "axis" : "grid") + "\" x1=\"" + number(kLeft) + "\" x2=\"" +
           number(kChartWidth - kRight) + "\" y1=\"" + number(y) + "\" y2=\"" + number(y) +
           "\"/><text class=\"tick\" text-anchor=\"end\" x=\"" + number(kLeft - 7) + "\" y=\"" + number(y + 4) + "\">" +
           grouped(line) + "</text>\n";
  }
  return svg + svg_cells(bars, kLeft, cell, kTop + plot, plot, top) + "</svg></div>\n";
}

}  // namespace neardup::cli
