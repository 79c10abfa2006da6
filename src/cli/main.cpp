// The program `neardup`: a table of subcommands.
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>

#include "cli/base/database.h"
#include "cli/base/interrupt.h"
#include "cli/base/standard_streams.h"
#include "cli/export/export.h"
#include "cli/load/load.h"
#include "cli/passages/passages.h"
#include "cli/report/report.h"
#include "cli/run.h"

#ifndef NEARDUP_VERSION
#error "the Makefile and CMakeLists.txt define NEARDUP_VERSION from neardup.control"
#endif

namespace {

using neardup::cli::Interrupted;
using neardup::cli::printable_message;

struct Subcommand {
  const char* name;
  int (*main)(int argc, char** argv);
  const char* summary;
};

constexpr Subcommand kSubcommands[] = {
    {"load", neardup::cli::load_main, "load text files into a table"},
    {"run", neardup::cli::run_main, "bring a table of duplicates up to date"},
    {"report", neardup::cli::report_main, "write a page about a table of duplicates"},
    {"passages", neardup::cli::passages_main, "write a page about repeated passages"},
    {"export", neardup::cli::export_main, "clusters as folders of links, of copies, or as a list"},
};

void print_usage(std::FILE* out) {
  std::fputs("usage: neardup COMMAND ...\n\n", out);
  for (const Subcommand& subcommand : kSubcommands) {
    std::fprintf(out, "  %-8s %s\n", subcommand.name, subcommand.summary);
  }
  std::fputs("\nneardup COMMAND --help lists the options of a command, neardup --version prints the version.\n", out);
}

int run_program(int argc, char** argv) {
  if (argc < 2) {
    print_usage(stderr);
    return 2;
  }
  if (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "help") == 0) {
    print_usage(stdout);
    return 0;
  }
  if (std::strcmp(argv[1], "--version") == 0) {
    std::puts("neardup " NEARDUP_VERSION);
    return 0;
  }
  for (const Subcommand& subcommand : kSubcommands) {
    if (std::strcmp(argv[1], subcommand.name) != 0) continue;
    // getopt() begins its messages with the name of the program
    std::string name = std::string("neardup ") + subcommand.name;
    argv[1] = name.data();
    try {
      return subcommand.main(argc - 1, argv + 1);
    } catch (const Interrupted& interrupted) {
      std::fprintf(stderr, "neardup %s: stopped; what was committed stays, run it again to go on\n", subcommand.name);
      return 128 + interrupted.signal;
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "neardup %s: out of memory\n", subcommand.name);
    } catch (const std::exception& error) {
      if (neardup::cli::interrupt_signal() != 0) return 128 + neardup::cli::interrupt_signal();
      std::fprintf(stderr, "neardup %s: %s\n", subcommand.name, printable_message(error.what()).c_str());
      const auto* const of_database = dynamic_cast<const neardup::cli::DatabaseError*>(&error);
      if (of_database != nullptr && !of_database->hint().empty())
        std::fprintf(stderr, "hint: %s\n", printable_message(of_database->hint()).c_str());
    }
    return 1;
  }
  std::fprintf(stderr, "neardup: unknown command: %s\n", neardup::cli::printable(argv[1]).c_str());
  print_usage(stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  neardup::cli::fill_standard_streams();
  // fnmatch patterns see characters, not bytes
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const int code = run_program(argc, argv);
  if (neardup::cli::flush_stdout() || code != 0) return code;
  std::fprintf(stderr, "neardup: cannot write to standard output: %s\n", std::strerror(errno));
  return 1;
}
