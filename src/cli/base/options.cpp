// See options.h. getopt_long() reads the command line; it begins its messages with argv[0].
#include "cli/base/options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <getopt.h>
#include <string_view>
#include <vector>

namespace neardup::cli {
namespace {

constexpr int kNoLetter = 256;  // codes from here on are of options without a letter

constexpr std::string_view kConnectionPlace = "{connection}\n";
constexpr const char* kConnectionHelp =
    R"(  -d, --dbname DB          database name, connection string or URI (also --conninfo); default: PGDATABASE
  -h, --host HOST          host or socket directory
  -p, --port PORT
  -U, --username USER
)";

template <class... Calls>
struct Overloaded : Calls... {
  using Calls::operator()...;
};
template <class... Calls>
Overloaded(Calls...) -> Overloaded<Calls...>;

bool takes_value(const Option& option) {
  return !std::holds_alternative<bool*>(option.target) && !std::holds_alternative<Option::Call>(option.target);
}

void set_target(const Option& option, const char* value) {
  const std::string name = std::string("--") + option.name;
  std::visit(
      Overloaded{[](bool* flag) { *flag = true; }, [&](std::string* text) { *text = value; },
                 [&](const NonEmpty& place) {
                   if (*value == '\0') throw UsageError(name + " is empty");
                   *place.text = value;
                 },
                 [&](const Number& n) { *n.value = parse_number(name.c_str(), value, n.with_unit, n.least, n.most); },
                 [](Connection::Options*) {}, [](const Option::Call& call) { call(); },
                 [&](const Option::CallWithValue& call) { call(value); }},
      option.target);
}

// The table with the options of a connection in the place of their row.
std::vector<Option> expand_connection(std::span<const Option> table) {
  std::vector<Option> rows;
  for (const Option& row : table) {
    const auto* const connection = std::get_if<Connection::Options*>(&row.target);
    if (connection == nullptr) {
      rows.push_back(row);
      continue;
    }
    for (const char* const name : {"dbname", "conninfo"}) rows.push_back({name, 'd', &(*connection)->conninfo});
    rows.push_back({"host", 'h', &(*connection)->host});
    rows.push_back({"port", 'p', &(*connection)->port});
    rows.push_back({"username", 'U', &(*connection)->user});
  }
  return rows;
}

// Ends at --help; returns whether it was given.
bool read_options(int argc, char** argv, std::span<const Option> table) {
  bool help = false;
  std::vector<Option> rows = expand_connection(table);
  rows.push_back({"help", 0, &help});
  std::string letters;
  std::vector<option> names;
  for (const Option& row : rows) {
    const bool with_value = takes_value(row);
    const int code = row.letter != 0 ? row.letter : kNoLetter + static_cast<int>(names.size());
    names.push_back({row.name, with_value ? required_argument : no_argument, nullptr, code});
    if (row.letter != 0) (letters += row.letter) += with_value ? ":" : "";
  }
  names.push_back({nullptr, 0, nullptr, 0});
  for (int c = 0; !help && (c = getopt_long(argc, argv, letters.c_str(), names.data(), nullptr)) != -1;) {
    const auto named = std::find_if(names.begin(), names.end() - 1, [&](const option& name) { return name.val == c; });
    if (named == names.end() - 1) throw UsageError("");
    set_target(rows[static_cast<std::size_t>(named - names.begin())], optarg);
  }
  return help;
}

void print_help(std::string help) {
  help.replace(help.find(kConnectionPlace), kConnectionPlace.size(), kConnectionHelp);
  std::fputs(help.c_str(), stdout);
}

}  // namespace

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

std::string one_argument(Arguments arguments, const std::string& what, const char* hint) {
  if (arguments.empty()) throw UsageError("no " + what + " given");
  if (arguments.size() > 1)
    throw UsageError("more than one " + what + " given" + hint + ": " + printable(arguments[1]));
  return arguments[0];
}

std::optional<int> read_command_line(int argc, char** argv, const char* help, std::span<const Option> table,
                                     const std::function<void(Arguments)>& read_arguments) {
  try {
    if (read_options(argc, argv, table)) {
      print_help(help);
      return 0;
    }
    read_arguments({argv + optind, argv + argc});
    return std::nullopt;
  } catch (const UsageError& error) {
    if (*error.what() != '\0') std::fprintf(stderr, "%s: %s\n", argv[0], printable_message(error.what()).c_str());
    std::fprintf(stderr, "Try: %s --help\n", argv[0]);
    return 2;
  }
}

}  // namespace neardup::cli
