// SPDX-License-Identifier: Apache-2.0
#include "passes/devices.h"
#include "support/json.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/text.h"

namespace aotc::passes {

namespace {

using nlohmann::json;

constexpr size_t kMostDevices = 64;
constexpr const char* kHooks[] = {"Activate", "Open", "Close", "Deactivate", "Copy"};

// Linear in both: '*' is tried again from the last place it stood for nothing.
bool glob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

class Reader {
 public:
  Reader(const std::string& file, Diagnostics& diags) : diags_(diags) { where_.file = file; }

  Result<DeviceSet> read(const std::string& text) {
    json root;
    if (auto problem = parse_json(text, root)) {
      where_.line = problem->place.line;
      where_.column = problem->place.column;
      return error("the file", problem->is_number ? "is not JSON: " + problem->what : "is not JSON"), kFailure;
    }
    if (!object(root, "the file")) return kFailure;
    only(root, "the file", {"devices", "fallback"});
    if (!root.contains("devices") || !root["devices"].is_array() || root["devices"].empty() ||
        root["devices"].size() > kMostDevices)
      return error("devices", fmt::format("must be a list of 1 to {} devices", kMostDevices)), kFailure;
    out_.devices.clear();
    for (size_t i = 0; i < root["devices"].size(); ++i) read_device(root["devices"][i], fmt::format("devices[{}]", i));
    if (good_) read_fallback(root);
    if (!good_) return kFailure;
    return out_;
  }

 private:
  void error(const std::string& path, const std::string& what) {
    good_ = false;
    diags_.error(where_, "devices-invalid", fmt::format("{} {}", path, what))
        .help("docs/devices.md describes the members");
  }

  bool object(const json& j, const std::string& path) {
    if (j.is_object()) return true;
    error(path, "must be an object");
    return false;
  }

  void only(const json& j, const std::string& path, const std::vector<std::string>& known) {
    for (const auto& [key, value] : j.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      auto near = closest(key, known, 1);
      error(path, fmt::format("has an unknown member '{}'{}", escape_for_display(key),
                              near.empty() ? "" : fmt::format("; did you mean '{}'?", near[0])));
    }
  }

  std::string text_of(const json& j, const char* key, const std::string& path) {
    if (!j.contains(key)) return "";
    if (j[key].is_string()) return j[key].get<std::string>();
    error(fmt::format("{}.{}", path, key), "must be a string");
    return "";
  }

  void read_device(const json& j, const std::string& path) {
    if (!object(j, path)) return;
    only(j, path, {"name", "type", "operators", "pool", "hooks", "launch"});
    Device d;
    d.name = text_of(j, "name", path);
    if (d.name.empty() || c_identifier(d.name) != d.name) error(path + ".name", "must be a C identifier in lower case");
    for (const Device& other : out_.devices)
      if (other.name == d.name || other.camel_name() == d.camel_name())
        error(path + ".name", fmt::format("'{}' gives the same names in the C as an earlier device", d.name));
    if (j.contains("type")) {
      if (j["type"].is_number_integer() && j["type"] >= 1 && j["type"] <= INT16_MAX) d.type = j["type"].get<int>();
      else error(path + ".type", "must be a DLDeviceType, such as 1 for a CPU");
    }
    d.pool = text_of(j, "pool", path);
    if (!d.pool.empty() && c_identifier(d.pool) != d.pool)
      error(path + ".pool", "must be a C identifier in lower case");
    std::string launch = text_of(j, "launch", path);
    if (launch == "sync") d.launch = Launch::kSync;
    else if (launch == "async") d.launch = Launch::kAsync;
    else if (!launch.empty() && launch != "none") error(path + ".launch", "must be none, sync or async");
    read_hooks(j, d, path);
    read_operators(j, d, path);
    if (out_.devices.empty() && (d.has_context() || !d.operators.empty()))
      error(path, "is the host, which must not have operators, hooks or launch");
    out_.devices.push_back(std::move(d));
  }

  void read_hooks(const json& j, Device& d, const std::string& path) {
    if (!j.contains("hooks")) return;
    if (!j["hooks"].is_array()) return error(path + ".hooks", "must be a list of strings");
    for (const json& h : j["hooks"]) {
      bool known = h.is_string() && std::any_of(std::begin(kHooks), std::end(kHooks),
                                                [&](const char* k) { return h.get<std::string>() == k; });
      if (known) d.hooks.insert(h.get<std::string>());
      else error(path + ".hooks", "may contain only Activate, Open, Close, Deactivate and Copy");
    }
  }

  void read_operators(const json& j, Device& d, const std::string& path) {
    if (!j.contains("operators")) return;
    if (!j["operators"].is_array()) return error(path + ".operators", "must be a list of patterns");
    for (size_t i = 0; i < j["operators"].size(); ++i) {
      const json& p = j["operators"][i];
      std::string at = fmt::format("{}.operators[{}]", path, i);
      if (p.is_string()) {
        d.operators.push_back({p.get<std::string>(), "", "", ""});
        continue;
      }
      if (!object(p, at)) continue;
      only(p, at, {"op", "type", "shape", "tensor"});
      d.operators.push_back(
          {text_of(p, "op", at), text_of(p, "type", at), text_of(p, "shape", at), text_of(p, "tensor", at)});
    }
  }

  void read_fallback(const json& root) {
    if (!root.contains("fallback")) return;
    std::string name = text_of(root, "fallback", "the file");
    for (size_t i = 0; i < out_.devices.size(); ++i) {
      if (out_.devices[i].name != name) continue;
      out_.fallback = static_cast<int>(i);
      return;
    }
    error("fallback", fmt::format("names a device that does not exist: '{}'", escape_for_display(name)));
  }

  Diagnostics& diags_;
  Location where_;
  DeviceSet out_;
  bool good_ = true;
};

}  // namespace

std::string Device::camel_name() const { return camel_case(name); }

Result<DeviceSet> parse_devices(const std::string& text, const std::string& file, Diagnostics& diags) {
  return Reader(file, diags).read(text);
}

bool fits(const OperatorPattern& pattern, const graph::Graph& graph, const graph::Op& op) {
  if (!pattern.op.empty() && !glob(pattern.op, op.name()) && !glob(pattern.op, op.location.op_type)) return false;
  if (op.results.empty()) return pattern.type.empty() && pattern.shape.empty() && pattern.tensor.empty();
  const graph::TensorType& type = graph[op.results[0]].type;
  if (!pattern.tensor.empty() && !glob(pattern.tensor, graph[op.results[0]].name)) return false;
  if (!pattern.type.empty() && !glob(pattern.type, name_of(type.dtype))) return false;
  return pattern.shape.empty() || glob(pattern.shape, graph::to_string(type.shape));
}

}  // namespace aotc::passes
