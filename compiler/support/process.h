// SPDX-License-Identifier: Apache-2.0
// Runs other programs (toolchains and emulators) without a shell.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace aotc {

// Bytes of a program's output that are kept; the end is kept, the beginning is dropped.
inline constexpr size_t kMostProcessOutput = size_t{8} << 20;

struct ProcessResult {
  bool started = false;    // false: the program was not found or could not be started
  bool timed_out = false;  // killed after the limit
  bool stopped = false;    // killed because `on_output` returned false
  int exit_code = -1;      // 128 + signal if it died of one
  std::string output;      // stdout and stderr as they came; the last kMostProcessOutput bytes
};

// Runs argv[0] (looked up in PATH) in `directory` (empty: the current one), without standard input. `on_output`
// receives pieces of output as they arrive; the program is killed if it returns false.
ProcessResult run_process(const std::vector<std::string>& argv, const std::string& directory = "",
                          int timeout_seconds = 600,
                          const std::function<bool(const std::string&)>& on_output = nullptr);

// Called in a forked child: replaces it by the program at the path `program` with these file descriptors as standard
// input, output and error, in `directory` (empty: the current one) and in a process group of its own. Exits with 127 on
// failure. The program is killed when its parent ends, however that ends.
[[noreturn]] void become_program(const std::vector<std::string>& argv, const std::string& program,
                                 const std::string& directory, int in, int out, int error);

// Full path of a program in PATH, empty if there is none.
std::string find_program(const std::string& name);

}  // namespace aotc
