// SPDX-License-Identifier: Apache-2.0
#include "support/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace aotc {

namespace {

int first_error = 0;  // of standard output

}  // namespace

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  for (int fd : {0, 1, 2}) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // Takes the number, and refuses what the stream is for.
    if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) return;
  }
}

void write_out(std::string_view text) {
  if (first_error != 0 || std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  first_error = errno;
}

void flush_out() {
  if (first_error == 0 && std::fflush(stdout) != 0) first_error = errno;
}

void write_err(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

int finish_streams(int code) {
  if (first_error == 0 && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) first_error = errno;
  if (first_error == 0) return code;
  if (first_error != EPIPE)
    print_err("standard output: error: cannot write: {} [file-write]\n", std::strerror(first_error));
  return code == 0 ? 1 : code;
}

}  // namespace aotc
