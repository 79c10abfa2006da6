// `neardup run`: refreshes a table of duplicates and shows how far it is.
#pragma once

namespace neardup::cli {

// The subcommand. Returns the exit code; throws DatabaseError, Interrupted, std::runtime_error.
int run_main(int argc, char** argv);

}  // namespace neardup::cli
