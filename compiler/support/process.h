// SPDX-License-Identifier: Apache-2.0
// Runs other programs (toolchains and emulators) without a shell.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace aotc {

// Limit on the stored output of a program in bytes. If the output is longer, its beginning is dropped.
inline constexpr size_t kMostProcessOutput = size_t{8} << 20;

struct ProcessResult {
  bool started = false;    // false: the program was not found or could not be started
  bool timed_out = false;  // killed after the limit
  bool stopped = false;    // killed because `on_output` returned false
  int exit_code = -1;      // 128 + signal if a signal ended the program
  std::string output;      // stdout and stderr in order of arrival; the last kMostProcessOutput bytes
};

// Runs argv[0] (looked up in PATH) in `directory` (empty: the current one), without standard input. `on_output`
// receives pieces of output as they arrive; if it returns false, the program is killed.
ProcessResult run_process(const std::vector<std::string>& argv, const std::string& directory = "",
                          int timeout_seconds = 600,
                          const std::function<bool(const std::string&)>& on_output = nullptr);

// Called in a forked child process: replaces it by the program at path `program`. The program runs in `directory`
// (empty: the current one), in its own process group, with the file descriptors `in`, `out` and `error` as standard
// input, output and error. On failure the child exits with 127. The program is killed when its parent ends, however the
// parent ends.
[[noreturn]] void become_program(const std::vector<std::string>& argv, const std::string& program,
                                 const std::string& directory, int in, int out, int error);

// Returns the full path of a program in PATH; empty if there is none.
std::string find_program(const std::string& name);

}  // namespace aotc
