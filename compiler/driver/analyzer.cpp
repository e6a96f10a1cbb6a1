// SPDX-License-Identifier: Apache-2.0
#include "driver/analyzer.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "support/process.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

constexpr const char kName[] = "aotc-analyze";

bool is_program(const fs::path& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> find_analyzer(Diagnostics& diags) {
  Location where;
  where.file = kName;
  const char* given = std::getenv("AOTC_ANALYZE");
  if (given != nullptr && given[0] != '\0') {
    std::string program = find_program(given);
    if (is_program(program)) return program;
    where.file = given;
    diags
        .error(where, "tool-missing",
               "the environment variable AOTC_ANALYZE names this file, which is not an executable program")
        .help("set AOTC_ANALYZE to the path of aotc-analyze, or unset it");
    return kFailure;
  }
  std::error_code ec;
  fs::path beside = fs::read_symlink("/proc/self/exe", ec).parent_path() / kName;
  if (!ec && is_program(beside)) return beside.string();
  std::string found = find_program(kName);
  if (is_program(found)) return found;
  diags.error(where, "tool-missing", "aotc-analyze is not installed, but aotc needs it to read C sources")
      .help(
          "build aotc-analyze with 'ninja aotc-analyze' (needs clang-19, llvm-19-dev, libclang-19-dev and "
          "libclang-cpp19-dev); put it beside aotc or in PATH, or set AOTC_ANALYZE to its path");
  return kFailure;
}

}  // namespace aotc::driver
