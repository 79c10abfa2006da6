// `neardup export`: names of files that are safe, and unique in their folder.
#include "cli/base/utf8.h"
#include "cli/export/export.h"

namespace neardup::cli {
namespace {

constexpr std::string_view kKeep = "KEEP - ";
constexpr std::size_t kLongest = 200;  // bytes; a name has at most 255, and a number may follow

std::string lower(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

// Controls, what Windows refuses, and the characters that turn the direction of writing become _.
std::string safe_name(std::string_view name) {
  const bool utf8 = valid_utf8(name);
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool refused =
        (c >= 0x80 && !utf8) || std::string_view("/\\:*?\"<>|").find(name[i]) != std::string_view::npos;
    const std::size_t bad = refused ? 1 : control_length(name.substr(i));
    if (bad == 0) {
      out += name[i];
    } else {
      out += '_';
      i += bad - 1;
    }
  }
  while (!out.empty() && (out.back() == '.' || out.back() == ' '))
    out.back() == '.' ? out.replace(out.size() - 1, 1, "_") : out.erase(out.size() - 1);
  if (out.empty() || out[0] == '-' || out[0] == ' ') out.insert(out.begin(), '_');
  return out;
}

// Where the extension starts, or the end of the name.
std::size_t extension_start(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 || name.size() - dot > 16 ? name.size() : dot;
}

void shorten(std::string& stem, std::size_t longest) {
  if (stem.size() <= longest) return;
  while (longest > 0 && (static_cast<unsigned char>(stem[longest]) & 0xc0) == 0x80) --longest;
  stem.resize(longest);
}

}  // namespace

std::string FileNames::add(std::string_view path, bool survivor) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  std::string name = safe_name(path.substr(path.rfind('/') + 1));
  if (lower(name).starts_with(lower(kKeep))) name.insert(name.begin(), '_');
  if (survivor) name.insert(0, kKeep);
  const std::size_t at = extension_start(name);
  extension_ = name.substr(at);
  stem_ = name.substr(0, at);
  shorten(stem_, kLongest - extension_.size());
  return again();
}

std::string FileNames::again() {
  for (int& n = next_.try_emplace(lower(stem_) + '/' + lower(extension_), 1).first->second;;) {
    std::string name = n == 1 ? stem_ + extension_ : stem_ + " (" + std::to_string(n) + ")" + extension_;
    ++n;
    if (taken_.insert(lower(name)).second) return name;
  }
}

}  // namespace neardup::cli
