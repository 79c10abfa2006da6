// `neardup report`: what a job found, as one page of HTML.
#pragma once

namespace neardup::cli {

// The subcommand. argv[0] is "report". Returns the exit code; throws DatabaseError, Interrupted, std::runtime_error.
int report_main(int argc, char** argv);

}  // namespace neardup::cli
