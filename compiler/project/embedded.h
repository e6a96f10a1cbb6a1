// SPDX-License-Identifier: Apache-2.0
// The data folders boards/, templates/ and crt/, embedded in the binary at build time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aotc::project {

struct EmbeddedFile {
  std::string_view path;  // "boards/host/board.json"
  std::string_view content;
};

// All embedded files, sorted by path.
std::span<const EmbeddedFile> embedded_files();
// nullptr if there is no such file.
inline const EmbeddedFile* find_embedded(std::string_view path) {
  for (const EmbeddedFile& f : embedded_files())
    if (f.path == path) return &f;
  return nullptr;
}
// The files below `folder` ("crt/"), with full paths.
inline std::vector<const EmbeddedFile*> embedded_below(std::string_view folder) {
  std::vector<const EmbeddedFile*> out;
  for (const EmbeddedFile& f : embedded_files())
    if (f.path.starts_with(folder)) out.push_back(&f);
  return out;
}

}  // namespace aotc::project
