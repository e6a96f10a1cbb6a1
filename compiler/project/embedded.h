// SPDX-License-Identifier: Apache-2.0
// The data folders boards/, templates/ and crt/ as they were when aotc was built, inside the binary.
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

// In order of path.
std::span<const EmbeddedFile> embedded_files();
// nullptr if there is none.
const EmbeddedFile* find_embedded(std::string_view path);
// Those below `folder` ("crt/"), with whole paths.
std::vector<const EmbeddedFile*> embedded_below(std::string_view folder);

}  // namespace aotc::project
