// A page of HTML that is one file and loads nothing: its head and its end.
#pragma once

#include <string>

#include "cli/base/database.h"
#include "cli/base/out_file.h"

namespace neardup::cli {

// A time as readers see it, and as ISO 8601 has it, in UTC. Both are empty where there is none.
struct ShownTime {
  std::string text, iso;
};

struct PageAbout {
  std::string database;
  ShownTime now;
  std::string version;  // of the extension
};

// Reads the first columns of page_about() or report_about().
PageAbout page_about(const Result& about);

// From the doctype to the heading, "KIND: NAME", and where it comes from. The page's policy allows the style that is
// written here and the script of end_page().
void begin_page(const std::string& kind, const std::string& name, const PageAbout& about, OutFile& page);

// A box that shows only the elements of class "item" with the words that are typed; what: "pairs and clusters".
// end_page() with a script makes it work.
void write_page_search(const std::string& what, OutFile& page);

void end_page(const PageAbout& about, bool with_script, OutFile& page);

}  // namespace neardup::cli
