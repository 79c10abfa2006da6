// stdin, stdout and stderr: open from the start, and looked at in the end.
#include "cli/base/standard_streams.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace neardup::cli {

void fill_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    // the lowest number that is free: fd itself
    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

bool flush_stdout() {
  if (std::fflush(stdout) != 0) return false;
  if (std::ferror(stdout) == 0) return true;
  errno = EIO;  // what it was is forgotten
  return false;
}

}  // namespace neardup::cli
