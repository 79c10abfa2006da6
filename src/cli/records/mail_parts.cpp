// The parts of a mail: where their headers and their contents lie. In one pass, and without a copy.
#include "cli/records/mail_parts.h"

#include <algorithm>

namespace neardup::cli {
namespace {

constexpr std::string_view kDashes = "--";

bool is_blank(std::string_view line) { return line.empty() || line == "\r"; }

// True if nothing but white space follows.
bool is_boundary(std::string_view line, std::string_view boundary) {
  return line.starts_with(boundary) && line.find_first_not_of(" \t\r", boundary.size()) == std::string_view::npos;
}

// The end of the last line belongs to the boundary behind it.
void remove_line_end(std::string_view& content) {
  if (content.ends_with('\n')) content.remove_suffix(1);
  if (content.ends_with('\r')) content.remove_suffix(1);
}

}  // namespace

// The innermost multipart that the line belongs to.
std::optional<MailParts::Match> MailParts::match(std::string_view line) const {
  if (!line.starts_with(kDashes)) return std::nullopt;
  for (std::size_t i = levels_.size(); i-- > 0;) {
    const std::string& boundary = levels_[i].boundary;
    if (!line.starts_with(boundary)) continue;
    if (line.substr(boundary.size()).starts_with(kDashes) && is_boundary(line.substr(boundary.size()), kDashes))
      return Match{i, true};
    if (is_boundary(line, boundary)) return Match{i, false};
  }
  return std::nullopt;
}

void MailParts::pass_line(std::string_view line) { rest_.remove_prefix(std::min(line.size() + 1, rest_.size())); }

MailHeader MailParts::next_header() {
  MailHeader header;
  const std::string_view all = rest_;
  const auto taken = [&] { return static_cast<std::size_t>(rest_.data() - all.data()); };
  while (!rest_.empty() && header_bytes_ + taken() <= kMostHeaderBytes) {
    const std::string_view line = next_line();
    if (is_blank(line)) {
      header.end = MailHeader::End::blank;
      pass_line(line);
      break;
    }
    if ((at_ = match(line))) {
      header.end = MailHeader::End::boundary;
      break;
    }
    pass_line(line);
  }
  header_bytes_ += taken();
  if (header_bytes_ > kMostHeaderBytes)
    throw BadMail("headers of more than " + std::to_string(kMostHeaderBytes) + " bytes");
  header.bytes = all.substr(0, taken());
  header.first = parts_ == 0;
  header.in_digest = !levels_.empty() && levels_.back().digest;
  return header;
}

// Reads up to the next boundary.
std::string_view MailParts::next_content() {
  const std::string_view all = rest_;
  if (levels_.empty()) rest_ = {};
  while (!rest_.empty() && !at_) {
    if ((at_ = match(next_line()))) break;
    const std::size_t next = rest_.find("\n--");
    rest_.remove_prefix(next == std::string_view::npos ? rest_.size() : next + 1);
  }
  if (!at_) return all;
  std::string_view content = all.substr(0, static_cast<std::size_t>(rest_.data() - all.data()));
  remove_line_end(content);
  return content;
}

void MailParts::read_part() {
  if (parts_ == kMostParts) throw BadMail("more than " + std::to_string(kMostParts) + " parts");
  const MailHandler::Kind kind = handler_.header(next_header());
  ++parts_;
  const bool has_parts = kind.is == MailHandler::Kind::multipart && kind.boundary;
  const bool too_deep = has_parts && levels_.size() == kMostLevels;
  if (has_parts && !too_deep) {
    levels_.push_back({std::string(kDashes) + *kind.boundary, kind.digest});
    at_.reset();  // what ends the header may be a boundary of this one
  }
  const std::string_view content = next_content();
  if (kind.is == MailHandler::Kind::leaf || too_deep) handler_.content(content);
}

// Goes on to where the next part begins.
bool MailParts::find_part() {
  while (at_) {
    const Match found = *at_;
    at_.reset();
    pass_line(next_line());
    levels_.resize(found.level + (found.ends ? 0 : 1));
    if (!found.ends) return true;
    next_content();
  }
  return false;
}

void MailParts::walk() {
  do read_part();
  while (find_part());
}

}  // namespace neardup::cli
