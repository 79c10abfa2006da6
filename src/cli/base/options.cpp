// What the command lines of the subcommands have in common.
#include "cli/base/options.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <getopt.h>

namespace neardup::cli {

std::int64_t parse_number(const char* option, const char* text, bool with_unit, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const char* const end = text + std::strlen(text);
  auto [rest, error] = std::from_chars(text, end, value);
  bool good = error == std::errc() && rest != text;
  if (good && with_unit && rest + 1 == end && std::strchr("kKmMgG", *rest) != nullptr) {
    const int shift = *rest == 'k' || *rest == 'K' ? 10 : *rest == 'm' || *rest == 'M' ? 20 : 30;
    good = !__builtin_mul_overflow(value, std::int64_t{1} << shift, &value);
    ++rest;
  }
  if (!good || rest != end || value < least || value > most) {
    throw UsageError(std::string(option) + " must be a number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ": " + printable(text));
  }
  return value;
}

bool take_connection_option(int option, const char* argument, Connection::Options& connection) {
  switch (option) {
    case 'd':
      connection.conninfo = argument;
      return true;
    case 'h':
      connection.host = argument;
      return true;
    case 'p':
      connection.port = argument;
      return true;
    case 'U':
      connection.user = argument;
      return true;
    default:
      return false;
  }
}

std::string job_argument(int argc, char** argv) {
  if (optind >= argc) throw UsageError("no job given");
  if (optind + 1 < argc) throw UsageError("more than one job given: " + printable(argv[optind + 1]));
  return argv[optind];
}

std::optional<int> read_command_line(const char* subcommand, const char* help, const std::function<bool()>& parse) {
  try {
    if (parse()) return std::nullopt;
    std::fputs(help, stdout);
    return 0;
  } catch (const UsageError& error) {
    if (*error.what() != '\0')
      std::fprintf(stderr, "neardup %s: %s\n", subcommand, printable_message(error.what()).c_str());
    std::fprintf(stderr, "Try: neardup %s --help\n", subcommand);
    return 2;
  }
}

}  // namespace neardup::cli
