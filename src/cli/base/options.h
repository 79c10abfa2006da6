// One parser of command lines, for the tables of named options of all subcommands.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>

#include "cli/base/database.h"

namespace neardup::cli {

// Wrong usage: exit code 2. Without a message when getopt has said it.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A number from least to most; with_unit: k, M and G are powers of 1024. Throws UsageError.
std::int64_t parse_number(const char* option, const char* text, bool with_unit, std::int64_t least, std::int64_t most);

struct Number {
  std::int64_t* value;
  std::int64_t least, most;
  bool with_unit = false;
};

struct NonEmpty {
  std::string* text;
};

// One row of a table of options. Its target says whether the option takes a value: a bool and a function without a
// parameter get none.
struct Option {
  using Call = std::function<void()>;
  using CallWithValue = std::function<void(const char* value)>;
  using Target = std::variant<bool*, std::string*, NonEmpty, Number, Connection::Options*, Call, CallWithValue>;

  Option(const char* long_name, char short_name, Target place)
      : name(long_name), letter(short_name), target(std::move(place)) {}
  // This row stands for the options that say which database, where it is and who connects.
  // NOLINTNEXTLINE(google-explicit-constructor): so that the options' name alone is a row
  Option(Connection::Options& connection) : target(&connection) {}

  const char* name = nullptr;
  char letter = 0;  // 0: it has none
  Target target;
};

using Arguments = std::span<char* const>;

// The only argument. Throws UsageError, with the hint where there are several.
std::string one_argument(Arguments arguments, const std::string& what, const char* hint = "");

// Sets the targets of the options that are given, in their order, then calls read_arguments() with all that is no
// option; both throw UsageError. --help is an option of every subcommand, behind those of its table. In the help the
// line {connection} stands for the lines of the options that say how to connect. Prints the help or the error, and
// returns the exit code then; nothing when the command is to go on. argv[0] begins the messages: "neardup load".
std::optional<int> read_command_line(int argc, char** argv, const char* help, std::span<const Option> table,
                                     const std::function<void(Arguments)>& read_arguments);

}  // namespace neardup::cli
