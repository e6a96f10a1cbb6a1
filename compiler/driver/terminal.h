// SPDX-License-Identifier: Apache-2.0
// Prints for the commands. stdout is the product (tables, JSON), stderr has diagnostics and progress; colour only on a
// terminal and never with NO_COLOR set.
#pragma once

#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc::driver {

// Exit codes of every command.
enum ExitCode {
  kExitDone = 0,
  kExitBadInput = 1,
  kExitUsage = 2,
  kExitDoesNotFit = 3,
  kExitVerifyFailed = 4,
  kExitToolMissing = 5,
  kExitDevice = 6,
  kExitInternal = 70,
};

void print_diagnostics(const Diagnostics& diags);

// The exit code that the slugs of the errors imply (a missing tool, a bug, ...), else `otherwise`.
int exit_code_of(const Diagnostics& diags, int otherwise);

// Prints the diagnostics, and returns the exit code for them.
int fail(const Diagnostics& diags, int otherwise = kExitBadInput);

// Columns padded to the widest cell; numbers and sizes right-aligned.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

// "1,234 bytes" or "54.2 KiB".
std::string format_bytes(int64_t bytes);
// "154,321 bytes": one unit, for comparing sizes.
std::string exact_bytes(int64_t bytes);

// Quotes a path for a shell.
std::string shell_quoted(const std::string& path);

// A line on stderr that is overwritten by the next one on a terminal; elsewhere only done() shows.
class Progress {
 public:
  explicit Progress(bool quiet);
  void step(const std::string& what);
  void bar(const std::string& what, int64_t done, int64_t total);
  void done(const std::string& what);
  void clear();
  ~Progress();

 private:
  bool quiet_, terminal_, open_ = false;
};

}  // namespace aotc::driver
