// Texts that come from the GPU module.
#pragma once

#include "gpu/neardup_gpu.h"

namespace neardup {

// Text from outside becomes a Datum in whatever encoding the database has: keep printable ASCII, end it, mark the rest.
inline void make_plain(char (&text)[NEARDUP_GPU_TEXT]) noexcept {
  text[NEARDUP_GPU_TEXT - 1] = '\0';
  for (char* p = text; *p != '\0'; ++p) {
    if (*p < ' ' || *p > '~') *p = '?';
  }
}

}  // namespace neardup
