// Memory that a library is about to take.
#pragma once

#include <cstddef>

namespace neardup::cli {

// Throws std::bad_alloc where the process cannot have that many bytes more. For libraries that end the program where
// they get none, as GLib does.
void need_memory(std::size_t bytes);

}  // namespace neardup::cli
