// SPDX-License-Identifier: Apache-2.0
// A directory that goes away with the object that made it. The one thing to know: it is locked as
// long as its process lives; those that killed runs left are cleared when the next one is made.
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

  // Reports [file-write] if there is none.
  Status made(Diagnostics& diags) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;  // empty: it could not be made
  int lock_ = -1;
};

}  // namespace aotc::driver
