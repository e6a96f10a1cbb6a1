// SPDX-License-Identifier: Apache-2.0
#include "project/embedded.h"

namespace aotc::project {

const EmbeddedFile* find_embedded(std::string_view path) {
  for (const EmbeddedFile& f : embedded_files())
    if (f.path == path) return &f;
  return nullptr;
}

std::vector<const EmbeddedFile*> embedded_below(std::string_view folder) {
  std::vector<const EmbeddedFile*> out;
  for (const EmbeddedFile& f : embedded_files())
    if (f.path.starts_with(folder)) out.push_back(&f);
  return out;
}

}  // namespace aotc::project
