// SPDX-License-Identifier: Apache-2.0
// Compares two archives: the metadata key by key, regardless of the order of keys and the layout of the JSON, and all
// other files by their bytes. Files are not compared if either side is a metadata.json without an archive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "mlf/archive.h"

namespace aotc::mlf {

struct MetadataChange {
  std::string path;                            // "modules.kws.memory.functions.main[0].device"
  std::optional<nlohmann::ordered_json> a, b;  // values in the two archives; nullopt: missing there
};
struct FileChange {
  std::string name;
  uint64_t first = 0;  // index of the first byte that differs
  uint64_t size_a = 0, size_b = 0;
};
struct Difference {
  std::vector<MetadataChange> metadata;
  std::vector<std::string> removed, added;  // only in the first archive, only in the second
  std::vector<FileChange> changed;

  bool equal() const { return metadata.empty() && removed.empty() && added.empty() && changed.empty(); }
};

Difference difference(const Archive& a, const Archive& b);
nlohmann::ordered_json json_of(const Difference& d);

}  // namespace aotc::mlf
