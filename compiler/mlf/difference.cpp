// SPDX-License-Identifier: Apache-2.0
#include "mlf/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace aotc::mlf {

namespace {

using Json = nlohmann::ordered_json;

void compare(const Json& a, const Json& b, const std::string& path, std::vector<MetadataChange>& out);

void compare_objects(const Json& a, const Json& b, const std::string& path, std::vector<MetadataChange>& out) {
  std::map<std::string, std::pair<const Json*, const Json*>> keys;
  for (const auto& [key, value] : a.items()) keys[key].first = &value;
  for (const auto& [key, value] : b.items()) keys[key].second = &value;
  for (const auto& [key, values] : keys) {
    std::string where = path.empty() ? key : path + "." + key;
    if (values.first == nullptr) out.push_back({where, std::nullopt, *values.second});
    else if (values.second == nullptr) out.push_back({where, *values.first, std::nullopt});
    else compare(*values.first, *values.second, where, out);
  }
}

void compare_lists(const Json& a, const Json& b, const std::string& path, std::vector<MetadataChange>& out) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    std::string where = fmt::format("{}[{}]", path, i);
    if (i >= a.size()) out.push_back({where, std::nullopt, b[i]});
    else if (i >= b.size()) out.push_back({where, a[i], std::nullopt});
    else compare(a[i], b[i], where, out);
  }
}

void compare(const Json& a, const Json& b, const std::string& path, std::vector<MetadataChange>& out) {
  if (a.is_object() && b.is_object()) return compare_objects(a, b, path, out);
  if (a.is_array() && b.is_array()) return compare_lists(a, b, path, out);
  if (a != b) out.push_back({path, a, b});
}

}  // namespace

Difference difference(const Archive& a, const Archive& b) {
  Difference out;
  compare(a.metadata, b.metadata, "", out.metadata);
  if (a.files.empty() || b.files.empty()) return out;
  for (const auto& [name, data] : a.files) {
    if (name == kMetadata) continue;
    const std::vector<uint8_t>* other = b.find(name);
    if (other == nullptr) {
      out.removed.push_back(name);
    } else if (*other != data) {
      auto parted = std::mismatch(data.begin(), data.end(), other->begin(), other->end());
      out.changed.push_back({name, static_cast<uint64_t>(parted.first - data.begin()), data.size(), other->size()});
    }
  }
  for (const auto& [name, data] : b.files)
    if (a.find(name) == nullptr) out.added.push_back(name);
  return out;
}

Json json_of(const Difference& d) {
  Json out;
  out["equal"] = d.equal();
  out["metadata"] = Json::array();
  for (const MetadataChange& c : d.metadata) {
    Json change = {{"path", c.path}};
    if (c.a) change["a"] = *c.a;
    if (c.b) change["b"] = *c.b;
    out["metadata"].push_back(change);
  }
  out["files"] = {{"removed", d.removed}, {"added", d.added}, {"changed", Json::array()}};
  for (const FileChange& c : d.changed)
    out["files"]["changed"].push_back(
        {{"name", c.name}, {"first", c.first}, {"bytes_a", c.size_a}, {"bytes_b", c.size_b}});
  return out;
}

}  // namespace aotc::mlf
