// stdin, stdout and stderr: open from the start, and looked at in the end.
#pragma once

namespace neardup::cli {

// Fills the places of those that are closed, which a connection or a file would get otherwise, and with it what is
// printed. Printing there raises an error, as on a closed stream. main() calls it first.
void fill_standard_streams();

// Writes what stdout has buffered. False, with errno, where something was lost, now or before.
bool flush_stdout();

}  // namespace neardup::cli
