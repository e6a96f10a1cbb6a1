// SPDX-License-Identifier: Apache-2.0
// Writes to standard output and standard error, even if they are a full device, a pipe without a reader, or closed.
// Nothing here throws or ends the program: a failed write to standard output is remembered, and `finish_streams` turns
// it into the exit code.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace aotc {

// Must be called first. A closed stream stays unusable, so that no file opened later gets its number. SIGPIPE is
// ignored.
void prepare_streams();

void write_out(std::string_view text);
// Flushes standard output to its reader.
void flush_out();
// Errors are ignored: there is no stream left to report them to.
void write_err(std::string_view text);

template <typename... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  write_out(fmt::vformat(format, fmt::make_format_args(args...)));
}

template <typename... Args>
void print_err(fmt::format_string<Args...> format, Args&&... args) {
  write_err(fmt::vformat(format, fmt::make_format_args(args...)));
}

// The exit code of a program that would end with `code`: 1 instead of 0 if output was lost, which is reported on
// standard error unless the reader of standard output closed it.
int finish_streams(int code);

}  // namespace aotc
