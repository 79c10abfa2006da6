// The visible text of HTML, by libxml2's parser of HTML.
#include "cli/records/html_text.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>

#ifdef NEARDUP_WITH_LIBXML2
#include <libxml/HTMLparser.h>

#include "cli/base/interrupt.h"
#include "cli/input/memory.h"
#include "cli/records/html_attributes.h"
#endif

#include "cli/input/ascii.h"

namespace neardup::cli {

#ifdef NEARDUP_WITH_LIBXML2
namespace {

// An end tag is looked for among all elements that are open.
constexpr int kMostOpen = 2000;
// libxml2 looks for each attribute among those before it in its tag. So many comparisons take tenths of a second;
// 10,000 attributes of one tag need them.
constexpr std::int64_t kMostComparisons = 50'000'000;

// libxml2 keeps the names of elements and attributes; the bytes are those of the memory that it has for them.
constexpr int kMostElementNames = 100'000;
constexpr std::size_t kMostBytesOfNames = 4 << 20;

constexpr std::string_view kHiddenElements[] = {"audio", "canvas",   "datalist", "head",   "iframe",
                                                "math",  "noframes", "object",   "script", "select",
                                                "style", "svg",      "template", "title",  "video"};
constexpr std::string_view kBlockElements[] = {
    "address", "article", "aside", "blockquote", "body",  "br",       "caption",    "center", "dd",     "details",
    "dialog",  "dir",     "div",   "dl",         "dt",    "fieldset", "figcaption", "figure", "footer", "form",
    "h1",      "h2",      "h3",    "h4",         "h5",    "h6",       "header",     "hgroup", "hr",     "html",
    "legend",  "li",      "main",  "menu",       "nav",   "ol",       "option",     "p",      "pre",    "search",
    "section", "summary", "table", "tbody",      "tfoot", "thead",    "tr",         "ul"};
constexpr std::string_view kCellElements[] = {"td", "th"};

template <std::size_t N>
bool is_among(std::string_view name, const std::string_view (&names)[N]) {
  return std::binary_search(std::begin(names), std::end(names), name);
}

bool has_many_names(const xmlParserCtxt* parser) {
  return xmlDictSize(parser->dict) > kMostElementNames || xmlDictGetUsage(parser->dict) > kMostBytesOfNames;
}

// Receives what the parser finds. Nothing may be thrown through the parser, which is C.
class VisibleText {
 public:
  explicit VisibleText(std::size_t size) { text_.reserve(size / 2); }

  void open(xmlParserCtxt* parser, std::string_view name) {
    if (parser->nameNr > kMostOpen || has_many_names(parser) || interrupt_signal() != 0) {
      too_deep_ = parser->nameNr > kMostOpen;
      xmlStopParser(parser);
      return;
    }
    if (hidden_ > 0 || is_among(name, kHiddenElements)) {
      ++hidden_;
    } else {
      boundary(name);
      preformatted_ += name == "pre";
    }
  }

  void close(std::string_view name) {
    if (hidden_ > 0) {
      --hidden_;
    } else {
      boundary(name);
      preformatted_ -= name == "pre" && preformatted_ > 0;
    }
  }

  void characters(std::string_view part) {
    if (hidden_ > 0) return;
    if (preformatted_ > 0) {
      for (const char c : part) {
        if (c == '\n')
          break_line();
        else
          put(c);
      }
      return;
    }
    while (!part.empty()) {
      const auto* const space = std::find_if(part.begin(), part.end(), is_ascii_space);
      if (const auto length = static_cast<std::size_t>(space - part.begin()); length > 0) {
        separate();
        text_.append(part.substr(0, length));
        part.remove_prefix(length);
      }
      while (!part.empty() && is_ascii_space(part.front())) {
        pending_space_ = true;
        part.remove_prefix(1);
      }
    }
  }

  bool too_deep() const { return too_deep_; }
  std::string finish() {
    if (!text_.empty()) text_ += '\n';
    return std::move(text_);
  }

 private:
  void boundary(std::string_view name) {
    if (is_among(name, kBlockElements))
      break_line();
    else if (is_among(name, kCellElements))
      pending_space_ = true;
  }
  // Lines and spaces wait for the text that they separate from the text before.
  void break_line() { pending_line_ = true; }
  void separate() {
    if (!text_.empty()) {
      if (pending_line_)
        text_ += '\n';
      else if (pending_space_)
        text_ += ' ';
    }
    pending_line_ = pending_space_ = false;
  }
  void put(char c) {
    separate();
    text_ += c;
  }

  std::string text_;
  int hidden_ = 0, preformatted_ = 0;  // elements that are open
  bool pending_line_ = false, pending_space_ = false, too_deep_ = false;
};

VisibleText& receiver(void* parser) {
  return *static_cast<VisibleText*>(static_cast<xmlParserCtxt*>(parser)->_private);
}

std::string_view view(const xmlChar* text) { return reinterpret_cast<const char*>(text); }

htmlSAXHandler handler() {
  htmlSAXHandler calls = {};
  calls.startElement = [](void* parser, const xmlChar* name, const xmlChar**) {
    receiver(parser).open(static_cast<xmlParserCtxt*>(parser), view(name));
  };
  calls.endElement = [](void* parser, const xmlChar* name) { receiver(parser).close(view(name)); };
  calls.characters = [](void* parser, const xmlChar* text, int length) {
    receiver(parser).characters({reinterpret_cast<const char*>(text), static_cast<std::size_t>(length)});
  };
  calls.ignorableWhitespace = calls.characters;
  return calls;
}

}  // namespace

bool html_is_available() noexcept { return true; }

std::string visible_text(std::string_view html) {
  if (needs_more_comparisons(html, kMostComparisons))
    throw std::runtime_error("HTML has tags with too many attributes: 10000 in one, or many of thousands");
  constexpr std::size_t kHtmlParserBytes = 1 << 20;
  need_memory(kHtmlParserBytes + 3 * html.size());  // without it, libxml2 might end in the middle
  VisibleText visible(html.size());
  htmlParserCtxtPtr parser = htmlNewParserCtxt();
  if (parser == nullptr) throw std::bad_alloc();
  xmlDictSetLimit(parser->dict, kMostBytesOfNames);
  *parser->sax = handler();
  parser->_private = &visible;
  xmlFreeDoc(htmlCtxtReadMemory(parser, html.data(), static_cast<int>(html.size()), nullptr, "UTF-8",
                                HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                    HTML_PARSE_IGNORE_ENC | HTML_PARSE_NODEFDTD));
  const bool many_names = has_many_names(parser), no_memory = parser->errNo == XML_ERR_NO_MEMORY;
  htmlFreeParserCtxt(parser);
  check_interrupt();
  if (no_memory) throw std::bad_alloc();
  if (many_names)
    throw std::runtime_error("HTML has more than " + std::to_string(kMostElementNames) +
                             " names of elements and attributes, or " + std::to_string(kMostBytesOfNames) +
                             " bytes of them");
  if (visible.too_deep()) throw std::runtime_error("HTML is nested too deep");
  return visible.finish();
}

#else

bool html_is_available() noexcept { return false; }

std::string visible_text(std::string_view) {
  throw std::runtime_error("HTML needs libxml2: install libxml2-dev, and build neardup again");
}

#endif

std::string charset_parameter(std::string_view media_type) {
  constexpr std::string_view kParameter = "charset";
  const std::string lower = ascii_lower(media_type);
  for (std::size_t at = 0; (at = lower.find(kParameter, at)) != std::string::npos;) {
    at = lower.find_first_not_of(" \t\r\n", at + kParameter.size());
    if (at == std::string::npos || lower[at] != '=') continue;
    at = lower.find_first_not_of(" \t\r\n\"'", at + 1);
    if (at == std::string::npos) break;
    return std::string(media_type.substr(at, lower.find_first_of(" \t\r\n\"';/>", at) - at));
  }
  return {};
}

std::string html_charset(std::string_view html) {
  constexpr std::size_t kLookedAt = 4096;
  html = html.substr(0, kLookedAt);
  const std::string lower = ascii_lower(html);
  for (std::size_t at = 0; (at = lower.find("<meta", at)) != std::string::npos; ++at) {
    std::string name = charset_parameter(html.substr(at, lower.find('>', at) - at));
    if (!name.empty()) return name;
  }
  return {};
}

}  // namespace neardup::cli
