// SPDX-License-Identifier: Apache-2.0
// What the commands print. stdout is the product (tables, JSON), stderr is talk (diagnostics,
// progress); colour only on a terminal and never with NO_COLOR set.
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

// What the slugs of the errors imply (a missing tool, a bug, ...), else `otherwise`.
int exit_code_of(const Diagnostics& diags, int otherwise);

// Prints what is in `diags`, and gives the exit code that a command ends with for it.
int fail(const Diagnostics& diags, int otherwise = kExitBadInput);

// Columns padded to the widest cell; numbers and sizes to the right.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

// "1,234 bytes" or "54.2 KiB".
std::string format_bytes(int64_t bytes);
// "154,321 bytes": where sizes are compared, in one unit.
std::string exact_bytes(int64_t bytes);

// A path as a shell takes it.
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
