// SPDX-License-Identifier: Apache-2.0
// TemporaryDirectory: a directory that is deleted with its object, and locked while its process lives. Directories of
// killed processes are deleted when the next one is created.
#pragma once

#include <string>

#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  // Reports [file-write] if the directory could not be created.
  Status made(Diagnostics& diags) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;  // empty: the directory could not be created
  int lock_ = -1;
};

}  // namespace aotc::driver
