// SPDX-License-Identifier: Apache-2.0
// What differs between two archives: keys of the metadata by value, whatever their order or
// spelling, and files by their bytes. The one thing to know: metadata.json counts as metadata only,
// and files are not compared if one of the two is a metadata.json by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "mlf/archive.h"

namespace aotc::mlf {

struct MetadataChange {
  std::string path;  // "modules.kws.memory.functions.main[0].device"
  std::optional<nlohmann::ordered_json> a, b;  // absent: only the other has it
};
struct FileChange {
  std::string name;
  uint64_t first = 0;  // byte at which they part
  uint64_t size_a = 0, size_b = 0;
};
struct Difference {
  std::vector<MetadataChange> metadata;
  std::vector<std::string> removed, added;  // only in the first, only in the second
  std::vector<FileChange> changed;

  bool equal() const {
    return metadata.empty() && removed.empty() && added.empty() && changed.empty();
  }
};

Difference difference(const Archive& a, const Archive& b);
nlohmann::ordered_json json_of(const Difference& d);

}  // namespace aotc::mlf
