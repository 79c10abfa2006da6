// `neardup report`: one pair of documents of the page, side by side, with the words marked that differ.
#pragma once

#include <string>
#include <string_view>

#include "cli/base/out_file.h"
#include "cli/report/report_reader.h"

namespace neardup::cli {

// Rounded down, so that only what is 1 is shown as 1.
std::string similarity_text(std::optional<double> similarity);

// The first bytes of an id, as HTML.
std::string id_html(std::string_view id);

// Why a document is not shown that is not there, as HTML.
std::string absence_html(DocumentState state);

// with_texts: false where no documents could be read; the pair is then its ids alone.
void write_pair_html(const ReportPair& pair, bool with_texts, OutFile& page);

}  // namespace neardup::cli
