// See progress.h.
#include "cli/base/progress.h"

#include <algorithm>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace neardup::cli {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr Seconds kBarEvery{0.1};
constexpr Seconds kLineEvery{5};

std::size_t terminal_width() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

}  // namespace

std::string human_bytes(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || bytes >= 99.95 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

std::string human_seconds(double seconds) {
  const auto whole = static_cast<long long>(std::clamp(seconds, 0.0, 359999.0) + 0.5);
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

void ProgressLine::draw(double share, std::string text) {
  const std::size_t width = terminal_width() - 1;
  if (share >= 0) {
    share = std::clamp(share, 0.0, 1.0);
    char percent[16];
    std::snprintf(percent, sizeof percent, "%3.0f%% ", share * 100);
    text = percent + text;
    if (text.size() + 14 <= width) {
      const std::size_t cells = std::min<std::size_t>(30, width - text.size() - 3);
      const auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
      text = "[" + std::string(full, '#') + std::string(cells - full, '.') + "] " + text;
    }
  }
  text.resize(std::min(text.size(), width));
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

Progress::Mode Progress::default_mode() { return isatty(STDERR_FILENO) != 0 ? Mode::bar : Mode::lines; }

Progress::Progress(Mode mode, std::int64_t total_files, std::int64_t total_bytes)
    : mode_(mode),
      total_files_(total_files),
      total_bytes_(total_bytes),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

double Progress::seconds() const { return Seconds(std::chrono::steady_clock::now() - start_).count(); }

void Progress::advance(std::int64_t files, std::int64_t bytes) {
  files_ += files;
  bytes_ += bytes;
  if (mode_ == Mode::quiet) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (mode_ == Mode::bar ? kBarEvery : kLineEvery) && (line_.drawn() || mode_ == Mode::lines)) return;
  last_ = now;
  draw();
}

void Progress::draw() {
  const double elapsed = std::max(seconds(), 1e-3);
  // Half by bytes, half by files: many small files cost more than their bytes.
  const double by_bytes = total_bytes_ > 0 ? static_cast<double>(bytes_) / static_cast<double>(total_bytes_) : 1;
  const double by_files = total_files_ > 0 ? static_cast<double>(files_) / static_cast<double>(total_files_) : 1;
  const double share = std::clamp((by_bytes + by_files) / 2, 0.0, 1.0);
  std::string line = std::to_string(files_) + "/" + std::to_string(total_files_) + " files, " +
                     human_bytes(static_cast<double>(bytes_)) + " of " +
                     human_bytes(static_cast<double>(total_bytes_)) + ", " +
                     human_bytes(static_cast<double>(bytes_) / elapsed) + "/s";
  if (share > 0.01) line += ", " + human_seconds(elapsed * (1 - share) / share) + " left";
  if (mode_ == Mode::bar)
    line_.draw(share, std::move(line));
  else
    std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace neardup::cli
