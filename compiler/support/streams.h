// SPDX-License-Identifier: Apache-2.0
// Standard output and standard error, whatever they are: a full device, a pipe that nobody reads,
// or closed. Nothing here throws or ends the program. The one thing to know: what standard output
// did not take is remembered, and `finish_streams` turns it into the exit code.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace aotc {

// To be called first: a closed stream stays one that cannot be used, and no file that is opened
// later gets its number. A reader that goes away ends nothing.
void prepare_streams();

void write_out(std::string_view text);
// What was written reaches who waits for it.
void flush_out();
// What standard error does not take cannot be told to anybody.
void write_err(std::string_view text);

template <typename... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  write_out(fmt::vformat(format, fmt::make_format_args(args...)));
}

template <typename... Args>
void print_err(fmt::format_string<Args...> format, Args&&... args) {
  write_err(fmt::vformat(format, fmt::make_format_args(args...)));
}

// The exit code of a program that would end with `code`: 1 instead of 0 if standard output lost
// something, which is said on standard error unless its reader went away.
int finish_streams(int code);

}  // namespace aotc
