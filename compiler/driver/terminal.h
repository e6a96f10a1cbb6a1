// SPDX-License-Identifier: Apache-2.0
// Prints the output of the commands. stdout has results (tables, JSON); stderr has diagnostics and progress. Colour is
// used only on a terminal, and never if NO_COLOR is set.
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

// The exit code for the errors, according to their slugs (such as tool-missing); `otherwise` if no slug has an exit
// code.
int exit_code_of(const Diagnostics& diags, int otherwise);

// Prints the diagnostics, and returns the exit code for them.
int fail(const Diagnostics& diags, int otherwise = kExitBadInput);

// Pads the columns to their widest cells; numbers and sizes are right-aligned.
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
