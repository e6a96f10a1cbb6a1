// SPDX-License-Identifier: Apache-2.0
// Writes to standard output and standard error. A write can fail, because the stream is a full device, a pipe without a
// reader, or closed. No function throws or ends the program: a failed write to standard output is recorded, and
// `finish_streams` turns it into the exit code.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace aotc {

// Must be called before any file is opened. If a stream is closed, reserves its file descriptor, so that no other file
// gets it. Ignores SIGPIPE.
void prepare_streams();

void write_out(std::string_view text);
// Flushes standard output.
void flush_out();
// Errors are ignored, because there is no other stream on which to report them.
void write_err(std::string_view text);

template <typename... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  write_out(fmt::vformat(format, fmt::make_format_args(args...)));
}

template <typename... Args>
void print_err(fmt::format_string<Args...> format, Args&&... args) {
  write_err(fmt::vformat(format, fmt::make_format_args(args...)));
}

// Returns the exit code of a program that would end with `code`: 1 instead of 0 if output was lost. Reports the loss on
// standard error, unless the reader of standard output closed the pipe.
int finish_streams(int code);

}  // namespace aotc
