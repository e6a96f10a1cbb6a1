// SPDX-License-Identifier: Apache-2.0
// Reading and writing files. The one thing to know: output goes through OutputDirectory and
// write_file, which make the new beside the old and swap the two at the end. A command that fails
// or is killed leaves what was there before; the next one that writes there clears what is left of
// it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc {

// The bytes of `path`, a regular file that is measured before it is read. Reports [file-read] when
// it cannot be read, [file-too-large] over `limit`.
Result<std::vector<uint8_t>> read_file(const std::string& path, Diagnostics& diags,
                                       uint64_t limit = uint64_t{1} << 30);

// Standard input up to its end, with the same messages.
Result<std::vector<uint8_t>> read_standard_input(Diagnostics& diags,
                                                 uint64_t limit = uint64_t{1} << 30);

// Writes one file, all or nothing, as OutputDirectory does; into a device or a pipe as it comes.
// Reports [file-write], [output-busy].
Status write_file(const std::string& path, const std::string& content, Diagnostics& diags);

// Writes a file that goes away with the directory it is in: neither swapped in nor brought to the
// disk. Reports [file-write].
Status write_scratch_file(const std::string& path, const std::string& content, Diagnostics& diags);

// A directory at the top of an output that holds a file of this name was made from the output by
// aotc (by building it) and goes when the output is made again.
inline constexpr const char* kDerivedMarker = ".made-by-aotc";

// A set of files written together under one directory. Nothing appears at `path` before commit(),
// which swaps the whole directory in. A list of what was written, with checksums, is kept in the
// file `list_file` (JSON, among the files added; none: no list). By it the next commit knows what
// is aotc's and untouched, which it replaces; anything else is reported as [output-exists]. With
// `force` that is no obstacle: files of the names that are written are replaced ([output-replaced],
// a warning), all others stay.
class OutputDirectory {
 public:
  OutputDirectory(std::string path, std::string list_file, bool force = false)
      : path_(std::move(path)), list_file_(std::move(list_file)), force_(force) {}

  // `relative` uses '/' and stays inside the directory; a second add of a name replaces the first.
  void add(std::string relative, std::string content, bool executable = false);
  // The directory will be gone in a moment: do not bring it to the disk.
  void set_scratch() { scratch_ = true; }
  // Also reports [file-write] and [output-busy].
  Status commit(Diagnostics& diags);
  const std::string& path() const { return path_; }
  std::vector<std::string> names() const;

  struct File {
    std::string content;
    bool executable = false;
  };

 private:
  std::string path_;
  std::string list_file_;
  bool force_;
  bool scratch_ = false;
  std::map<std::string, File> files_;
};

}  // namespace aotc
