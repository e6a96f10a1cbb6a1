// SPDX-License-Identifier: Apache-2.0
// Compares two archives: keys of the metadata by value, whatever their order or spelling, and files by their bytes.
// metadata.json is compared as metadata only; files are not compared if either side is a metadata.json without an
// archive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "mlf/archive.h"

namespace aotc::mlf {

struct MetadataChange {
  std::string path;                            // "modules.kws.memory.functions.main[0].device"
  std::optional<nlohmann::ordered_json> a, b;  // nullopt: only the other has it
};
struct FileChange {
  std::string name;
  uint64_t first = 0;  // first byte that differs
  uint64_t size_a = 0, size_b = 0;
};
struct Difference {
  std::vector<MetadataChange> metadata;
  std::vector<std::string> removed, added;  // only in the first, only in the second
  std::vector<FileChange> changed;

  bool equal() const { return metadata.empty() && removed.empty() && added.empty() && changed.empty(); }
};

Difference difference(const Archive& a, const Archive& b);
nlohmann::ordered_json json_of(const Difference& d);

}  // namespace aotc::mlf
