// What the command lines of the subcommands have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/base/database.h"

namespace neardup::cli {

// Wrong usage: exit code 2. Without a message when getopt has said it.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A number from least to most; with_unit: k, M and G are powers of 1024. Throws UsageError.
std::int64_t parse_number(const char* option, const char* text, bool with_unit, std::int64_t least, std::int64_t most);

// For struct option, after which come 'd', 'h', 'p' and 'U'.
#define NEARDUP_CONNECTION_LONG_OPTIONS                                                       \
  {"dbname", required_argument, nullptr, 'd'}, {"conninfo", required_argument, nullptr, 'd'}, \
      {"host", required_argument, nullptr, 'h'}, {"port", required_argument, nullptr, 'p'}, { \
    "username", required_argument, nullptr, 'U'                                               \
  }
#define NEARDUP_CONNECTION_SHORT_OPTIONS "d:h:p:U:"

// Takes the option when it is one of the connection's.
bool take_connection_option(int option, const char* argument, Connection::Options& connection);

// The one argument JOB that getopt has left. Throws UsageError.
std::string job_argument(int argc, char** argv);

// Calls parse(), which throws UsageError and returns false when help was asked for. Prints the help or the error, and
// returns the exit code then; nothing when the command is to go on.
std::optional<int> read_command_line(const char* subcommand, const char* help, const std::function<bool()>& parse);

}  // namespace neardup::cli
