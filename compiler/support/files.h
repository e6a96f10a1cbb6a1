// SPDX-License-Identifier: Apache-2.0
// Reading and writing files. The one thing to know: output goes through OutputDirectory, which
// writes aside and renames at the end, so a failed command leaves what was there before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc {

// The bytes of `path`; reports [file-read] when it cannot be read, [file-too-large] over `limit`.
Result<std::vector<uint8_t>> read_file(const std::string& path, Diagnostics& diags,
                                       uint64_t limit = uint64_t{1} << 30);

// Writes one file through a temporary beside it and a rename. Reports [file-write].
Status write_file(const std::string& path, const std::string& content, Diagnostics& diags);

// A set of files written together under one directory. Nothing appears at `path` before commit();
// on commit the whole directory is swapped in. An existing directory is replaced only if it is
// empty, or holds the marker file given (a directory that an earlier run of this program made),
// or `force` is set; otherwise [output-exists].
class OutputDirectory {
 public:
  OutputDirectory(std::string path, std::string marker_file, bool force = false)
      : path_(std::move(path)), marker_(std::move(marker_file)), force_(force) {}

  // `relative` uses '/' and stays inside the directory; a second add of a name replaces the first.
  void add(std::string relative, std::string content, bool executable = false);
  Status commit(Diagnostics& diags);
  const std::string& path() const { return path_; }
  std::vector<std::string> names() const;

 private:
  struct File {
    std::string content;
    bool executable = false;
  };
  std::string path_;
  std::string marker_;
  bool force_;
  std::map<std::string, File> files_;
};

}  // namespace aotc
