// SPDX-License-Identifier: Apache-2.0
#include "driver/counted_cycles.h"

#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "driver/summary.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using Json = nlohmann::ordered_json;

std::string file_of(const ProjectDir& project) { return project.path + "/build/cycles.json"; }

// What is no count was not written by aotc.
bool take_count(const Json& from, const char* key, Json& to, const char* as) {
  constexpr int64_t kMost = int64_t{1} << 53;
  auto it = from.find(key);
  if (it == from.end() || !it->is_number_integer() || *it < 0 || *it > kMost) return false;
  to[as] = *it;
  return true;
}

}  // namespace

void save_cycles(const ProjectDir& project, const Json& found) {
  Json j = {{"image", image_hash(project)}};
  for (const char* key : {"cpu", "costs", "cycles", "instructions", "llvm_cycles"})
    if (found.contains(key)) j[key] = found[key];
  j["layers"] = Json::array();
  for (const Json& layer : found["layers"]) {
    Json row = Json::object();
    if (layer.is_object() && take_count(layer, "cycles", row, "cycles"))
      take_count(layer, "instructions", row, "instructions");
    j["layers"].push_back(std::move(row));
  }
  Diagnostics ignored;  // a report without them is still a report
  (void)!write_file(file_of(project), json_text(j, 1), ignored);
}

void add_counted_cycles(const ProjectDir& project, Json& report) {
  std::ifstream in(file_of(project));
  if (!in) return;
  const std::string text(std::istreambuf_iterator<char>(in), {});
  Json j;
  (void)parse_json(text, j);  // null if it is no JSON
  if (!j.is_object() || j.value("image", Json()) != image_hash(project)) return;
  Json counted = Json::object();
  if (!take_count(j, "cycles", counted, "cycles") || !take_count(j, "instructions", counted, "instructions")) return;
  take_count(j, "llvm_cycles", counted, "llvm_cycles");
  for (const char* key : {"cpu", "costs"})
    if (j.contains(key) && j[key].is_string()) counted[key] = escape_for_display(j[key].get<std::string>());
  report["counted"] = std::move(counted);
  const Json layers = j.value("layers", Json());
  if (!layers.is_array() || layers.size() != report["layers"].size()) return;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].is_object()) continue;  // inlined
    take_count(layers[i], "cycles", report["layers"][i], "counted_cycles");
    take_count(layers[i], "instructions", report["layers"][i], "counted_instructions");
  }
}

}  // namespace aotc::driver
