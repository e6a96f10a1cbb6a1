// SPDX-License-Identifier: Apache-2.0
#include "driver/temporary.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace aotc::driver {

namespace fs = std::filesystem;

TemporaryDirectory::TemporaryDirectory() {
  std::error_code ec;
  fs::path parent = fs::temp_directory_path(ec);
  std::string pattern = (parent / "aotc-XXXXXX").string();
  if (!ec) path_ = mkdtemp(pattern.data()) ? pattern : "";
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ec;
  if (!path_.empty()) fs::remove_all(path_, ec);
}

Status TemporaryDirectory::made(Diagnostics& diags) const {
  if (!path_.empty()) return success();
  Location where;
  const char* parent = std::getenv("TMPDIR");
  where.file = parent != nullptr ? parent : "/tmp";
  diags.error(where, "file-write", "cannot make a temporary directory")
      .help("set TMPDIR to a directory that is writable and has room");
  return kFailure;
}

}  // namespace aotc::driver
