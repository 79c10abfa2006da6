// The parts of a mail: where their headers and their contents lie. In one pass, and without a copy.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace neardup::cli {

// A mail that would break its parser, or take more memory than a mail may.
struct BadMail : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A header as it lies in the mail.
struct MailHeader {
  enum class End {
    blank,     // an empty line, which bytes has, too
    boundary,  // a boundary, which bytes does not have
    mail,
  };
  std::string_view bytes;
  End end = End::mail;
  bool first = false;      // of the mail itself
  bool in_digest = false;  // its part is one of a multipart/digest
};

// Reads headers for MailParts.
class MailHandler {
 public:
  virtual ~MailHandler() = default;

  struct Kind {
    enum { none, leaf, multipart } is = leaf;  // none: no part
    std::optional<std::string> boundary = {};  // of a multipart
    bool digest = false;
  };
  virtual Kind header(const MailHeader& header) = 0;
  // Gets the content of a leaf, as it lies in the mail, and that of a multipart without parts.
  virtual void content(std::string_view bytes) = 0;
};

// Gives a mail to the handler, part by part; a multipart before its parts. The parts of a multipart that lies in more
// than kMostLevels others are none. Throws BadMail where there are too many parts, or headers are too long.
class MailParts {
 public:
  MailParts(std::string_view mail, MailHandler& handler) : rest_(mail), handler_(handler) {}
  void walk();

  static constexpr std::size_t kMostLevels = 50;
  static constexpr int kMostParts = 10000;
  static constexpr std::size_t kMostHeaderBytes = 512 << 10;  // of all headers

 private:
  struct Level {
    std::string boundary;  // with the dashes before it
    bool digest;
  };
  struct Match {
    std::size_t level;
    bool ends;  // the multipart
  };

  std::string_view next_line() const { return rest_.substr(0, rest_.find('\n')); }
  void pass_line(std::string_view line);
  std::optional<Match> match(std::string_view line) const;
  MailHeader next_header();
  std::string_view next_content();
  void read_part();
  bool find_part();

  std::string_view rest_;
  MailHandler& handler_;
  std::vector<Level> levels_;  // multiparts that are open
  std::optional<Match> at_;    // the boundary with which rest_ begins
  int parts_ = 0;
  std::size_t header_bytes_ = 0;
};

}  // namespace neardup::cli
