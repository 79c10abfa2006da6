// How far a load is: one line redrawn on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace neardup::cli {

// 1234567 -> "1.2 MB"
std::string human_bytes(double bytes);
// 83 -> "1:23"
std::string human_seconds(double seconds);

class Progress {
 public:
  enum class Mode { quiet, lines, bar };
  // bar when stderr is a terminal, else lines
  static Mode default_mode();

  Progress(Mode mode, std::int64_t total_files, std::int64_t total_bytes);
  ~Progress() { clear(); }

  void advance(std::int64_t files, std::int64_t bytes);
  // Takes the bar away, so that another line can be printed; the next advance() draws it again.
  void clear();
  double seconds() const;

 private:
  void draw(bool redraw);
  Mode mode_;
  std::int64_t total_files_, total_bytes_;
  std::int64_t files_ = 0, bytes_ = 0;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace neardup::cli
