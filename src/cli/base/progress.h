// The progress of a load: one line redrawn on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace neardup::cli {

// 1234567 -> "1.2 MB"
std::string human_bytes(double bytes);
// 83 -> "1:23"
std::string human_seconds(double seconds);

// One line of stderr, redrawn.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  // share: 0..1, with a bar where there is room; below 0: not known
  void draw(double share, std::string text);
  // Takes the line away, so that another one can be printed.
  void clear();
  bool drawn() const { return drawn_; }

 private:
  bool drawn_ = false;
};

class Progress {
 public:
  enum class Mode { quiet, lines, bar };
  // bar when stderr is a terminal, else lines
  static Mode default_mode();

  Progress(Mode mode, std::int64_t total_files, std::int64_t total_bytes);

  void advance(std::int64_t files, std::int64_t bytes);
  // Takes the bar away, so that another line can be printed; the next advance() draws it again.
  void clear() { line_.clear(); }
  double seconds() const;

 private:
  void draw();
  Mode mode_;
  std::int64_t total_files_, total_bytes_;
  std::int64_t files_ = 0, bytes_ = 0;
  ProgressLine line_;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace neardup::cli
