// See page.h.
#include "cli/report/page.h"

#include "cli/report/html.h"
#include "cli/report/report_script.h"
#include "cli/report/report_style.h"

namespace neardup::cli {

PageAbout page_about(const Result& about) {
  const auto text = [&](int column) { return std::string(get_text(about, 0, column)); };
  return {text(0), {text(1), text(2)}, text(3)};
}

void begin_page(const std::string& kind, const std::string& name, const PageAbout& about, OutFile& page) {
  page.raw(
          "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline';"
          " script-src '")
      .raw(kReportScriptHash)
      .raw(
          "'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
          "content=\"no-referrer\">\n<title>")
      .raw(escape_html(kind + ": " + name, true))
      .raw("</title>\n<style>")
      .raw(kReportStyle)
      .raw("</style>\n</head>\n<body>\n<main>\n<h1>" + escape_html(kind) + ": ")
      .raw(escape_html(name))
      .raw("</h1>\n<p class=\"soft\">Database ")
      .raw(escape_html(about.database))
      .raw(", ")
      .raw(escape_html(about.now.text))
      .raw("</p>\n");
}

void write_page_search(const std::string& what, OutFile& page) {
  page.raw("<p id=\"search\" hidden><label for=\"find\">Show only " + what +
           " with</label> <input type=\"search\""
           " id=\"find\" autocomplete=\"off\" spellcheck=\"false\"> <output id=\"found\" for=\"find\"></output></p>\n");
}

void end_page(const PageAbout& about, bool with_script, OutFile& page) {
  page.raw("<p class=\"soft\">Made by neardup " + escape_html(about.version) + ".</p>\n</main>\n");
  if (with_script) page.raw("<script>").raw(kReportScript).raw("</script>\n");
  page.raw("</body>\n</html>\n");
}

}  // namespace neardup::cli
