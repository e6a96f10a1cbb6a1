// SPDX-License-Identifier: Apache-2.0
#include "mlf/metadata.h"
#include "support/json.h"

#include <fmt/format.h>

#include <functional>
#include <initializer_list>

namespace aotc::mlf {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFirstWithStyle = 4, kFirstWithMemoryObject = 2, kFirstWithExecutors = 5, kFirstWithTargetList = 6,
              kFirstWithModules = 7;

// Nesting and keys within bounds? Both would cost far more than the text's size: the library's
// objects with ordered keys look every key up one by one.
const char* too_much(std::string_view text) {
  std::vector<size_t> keys;  // of each open object or list
  bool string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (string) {
      if (c == '\\') ++i;
      else if (c == '"') string = false;
      continue;
    }
    if (c == '"') string = true;
    if (c == '{' || c == '[') keys.push_back(0);
    if ((c == '}' || c == ']') && !keys.empty()) keys.pop_back();
    if (keys.size() > kMaxMetadataDepth) return "lists or objects nested too deeply";
    if (c == ':' && !keys.empty() && ++keys.back() > kMaxMetadataKeys) return "an object with too many keys";
  }
  return nullptr;
}

// Checks values at paths like "modules.kws.memory"; the one place that words these messages.
class Checker {
 public:
  Checker(const std::string& name, Diagnostics& diags) : name_(name), diags_(diags) {
    where_.file = name;
    if (!name.ends_with(kMetadata)) where_.file += std::string(":") + kMetadata;
  }

  bool failed() const { return failed_; }

  // The value of a required key; nullptr (and an error) if it is not there.
  const Json* need(const Json& object, const std::string& path, const char* key) {
    auto it = object.find(key);
    if (it != object.end()) return &*it;
    failed_ = true;
    diags_
        .error(where_, "mlf-missing-key",
               fmt::format("key '{}' is missing{}", key,
                           path.empty() ? "" : fmt::format(" in '{}'", escape_for_display(path))))
        .help(fmt::format("archives of version {} need this key; create the archive again", version));
    return nullptr;
  }

  bool is(const Json& value, const std::string& path, const char* what, bool good) {
    if (good) return true;
    failed_ = true;
    diags_.error(where_, "mlf-key",
                 fmt::format("'{}' must be {}, not {}", escape_for_display(path), what, value.type_name()));
    return false;
  }

  const Json* string(const Json& object, const std::string& path, const char* key) {
    const Json* v = need(object, path, key);
    return v && is(*v, join(path, key), "a string", v->is_string()) ? v : nullptr;
  }
  const Json* integer(const Json& object, const std::string& path, const char* key) {
    const Json* v = need(object, path, key);
    return v && is(*v, join(path, key), "a number of 0 or more", count(*v)) ? v : nullptr;
  }
  const Json* object(const Json& parent, const std::string& path, const char* key) {
    const Json* v = need(parent, path, key);
    return v && is(*v, join(path, key), "an object", v->is_object()) ? v : nullptr;
  }
  // A list all of whose elements are of a kind.
  const Json* list(const Json& parent, const std::string& path, const char* key, const char* what,
                   bool (*good)(const Json&)) {
    const Json* v = need(parent, path, key);
    if (!v || !is(*v, join(path, key), "a list", v->is_array())) return nullptr;
    for (size_t i = 0; i < v->size(); ++i)
      if (!is((*v)[i], element(join(path, key), i), what, good((*v)[i]))) return nullptr;
    return v;
  }
  // As the functions above, for keys that may be absent.
  void optional_integer(const Json& object, const std::string& path, const char* key) {
    if (object.contains(key)) integer(object, path, key);
  }

  static bool is_object(const Json& v) { return v.is_object(); }
  static bool is_string(const Json& v) { return v.is_string(); }
  static bool count(const Json& v) {
    return v.is_number_integer() &&
           (v.is_number_unsigned() ? v.get<uint64_t>() <= uint64_t{INT64_MAX} : v.get<int64_t>() >= 0);
  }
  static std::string join(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }
  static std::string element(const std::string& path, size_t index) { return fmt::format("{}[{}]", path, index); }

  Diagnostic& error(const char* slug, std::string text) {
    failed_ = true;
    return diags_.error(where_, slug, std::move(text));
  }

  int version = 0;

 private:
  const std::string& name_;
  Diagnostics& diags_;
  Location where_;
  bool failed_ = false;
};

// The style of the whole archive, or nothing after an error.
std::optional<std::string> style_of(const Json& m, std::string_view wanted, Checker& check) {
  std::vector<std::pair<std::string, const Json*>> styles;  // where, what
  auto modules = m.find("modules");
  if (m.contains("style")) styles.emplace_back("style", &m["style"]);
  if (modules != m.end() && modules->is_object())
    for (const auto& [name, module] : modules->items())
      if (module.is_object() && module.contains("style"))
        styles.emplace_back("modules." + name + ".style", &module["style"]);
  for (const auto& [path, style] : styles) {
    if (!check.is(*style, path, "a string", style->is_string())) return std::nullopt;
    auto text = style->get<std::string>();
    if (text != kFullModel && text != kOperator) {
      check.error("mlf-style", fmt::format("'{}' is '{}', but a style must be '{}' or '{}'", escape_for_display(path),
                                           escape_for_display(text), kFullModel, kOperator));
      return std::nullopt;
    }
    bool in_module = path != "style";
    if (in_module && text != kFullModel) {
      check.error("mlf-style", fmt::format("'{}' is '{}', but the style of a module must be '{}'",
                                           escape_for_display(path), text, kFullModel));
      return std::nullopt;
    }
    if (!wanted.empty() && text != wanted) {
      check.error("mlf-style", fmt::format("the archive has style '{}', but this command needs '{}'", text, wanted))
          .help(wanted == kOperator ? "'aotc compile --style operator' writes such an archive"
                                    : "'aotc compile --format mlf' writes such an archive");
      return std::nullopt;
    }
  }
  // Absent: full models of versions 1 to 3 have none; later ones are told of the missing key.
  if (styles.empty()) {
    if (!wanted.empty() && wanted != kFullModel && !m.contains("modules") && m.contains("version") &&
        m["version"].is_number_integer() && m["version"].get<int64_t>() < kFirstWithStyle) {
      check.error(
          "mlf-style",
          fmt::format("the archive has style '{}' (as all archives before version {}), but this command needs '{}'",
                      kFullModel, kFirstWithStyle, wanted));
      return std::nullopt;
    }
    return std::string();
  }
  return styles[0].second->get<std::string>();
}

std::optional<int> version_of(const Json& m, Checker& check) {
  check.version = kVersion;
  const Json* v = check.need(m, "", "version");
  if (v == nullptr) return std::nullopt;
  if (!check.is(*v, "version", "a number", v->is_number_integer())) return std::nullopt;
  bool known = v->is_number_unsigned() ? v->get<uint64_t>() <= kVersion : true;
  if (!known || v->get<int64_t>() < 1) {
    check
        .error("mlf-version",
               fmt::format("version {} of the archive format is not supported; supported versions are 1 to {}",
                           json_text(*v), kVersion))
        .help(known ? "the archive is damaged; write it again with the tool that made it"
                    : "use a newer aotc, which may read the archive");
    return std::nullopt;
  }
  check.version = v->get<int>();
  return check.version;
}

void check_target(const Json& m, const std::string& path, Checker& check) {
  if (check.version >= kFirstWithTargetList) {
    check.list(m, path, "target", "a string", Checker::is_string);
    return;
  }
  const Json* target = check.object(m, path, "target");
  if (target == nullptr) return;
  for (const auto& [key, value] : target->items())
    check.is(value, Checker::join(Checker::join(path, "target"), key), "a string", value.is_string());
}

void check_ports(const Json& main, const std::string& path, const char* key, Checker& check) {
  if (!main.contains(key)) return;
  const Json* ports = check.object(main, path, key);
  if (ports == nullptr) return;
  std::string base = Checker::join(path, key);
  for (const auto& [name, port] : ports->items()) {
    std::string where = Checker::join(base, name);
    if (!check.is(port, where, "an object", port.is_object())) continue;
    check.integer(port, where, "size");
    check.string(port, where, "dtype");
  }
}

void check_storage_ids(const Json& sids, const std::string& path, Checker& check) {
  for (size_t i = 0; i < sids.size(); ++i) {
    std::string where = Checker::element(path, i);
    check.integer(sids[i], where, "storage_id");
    check.integer(sids[i], where, "size_bytes");
  }
}

void check_functions(const Json& functions, const std::string& path, Checker& check) {
  if (const Json* main = check.list(functions, path, "main", "an object", Checker::is_object)) {
    for (size_t i = 0; i < main->size(); ++i) {
      std::string where = Checker::element(Checker::join(path, "main"), i);
      const Json& m = (*main)[i];
      check.integer(m, where, "device");
      check.integer(m, where, "workspace_size_bytes");
      check.optional_integer(m, where, "constants_size_bytes");
      check.optional_integer(m, where, "io_size_bytes");
      check.optional_integer(m, where, "state_size_bytes");
      check_ports(m, where, "inputs", check);
      check_ports(m, where, "outputs", check);
    }
  }
  const Json* list = check.list(functions, path, "operator_functions", "an object", Checker::is_object);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    std::string where = Checker::element(Checker::join(path, "operator_functions"), i);
    check.string((*list)[i], where, "function_name");
    const Json* work = check.list((*list)[i], where, "workspace", "an object", Checker::is_object);
    for (size_t k = 0; work != nullptr && k < work->size(); ++k) {
      std::string at = Checker::element(Checker::join(where, "workspace"), k);
      check.integer((*work)[k], at, "device");
      check.integer((*work)[k], at, "workspace_size_bytes");
    }
  }
}

void check_model_memory(const Json& m, const std::string& path, Checker& check) {
  std::string where = Checker::join(path, "memory");
  if (check.version < kFirstWithMemoryObject) {
    if (const Json* list = check.list(m, path, "memory", "an object", Checker::is_object))
      check_storage_ids(*list, where, check);
    return;
  }
  const Json* memory = check.object(m, path, "memory");
  if (memory == nullptr) return;
  if (memory->contains("sids"))
    if (const Json* sids = check.list(*memory, where, "sids", "an object", Checker::is_object))
      check_storage_ids(*sids, Checker::join(where, "sids"), check);
  if (const Json* functions = check.object(*memory, where, "functions"))
    check_functions(*functions, Checker::join(where, "functions"), check);
}

void check_operator_memory(const Json& m, Checker& check) {
  const Json* memory = check.object(m, "", "memory");
  if (memory == nullptr) return;
  for (const auto& [name, unused] : memory->items()) {
    const Json* list = check.list(*memory, "memory", name.c_str(), "an object", Checker::is_object);
    std::string base = Checker::join("memory", name);
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const Json& parameter = (*list)[i];
      std::string where = Checker::element(base, i);
      check.integer(parameter, where, "size_bytes");
      check.list(parameter, where, "shape", "a number of 0 or more", Checker::count);
      check.string(parameter, where, "dtype");
      if (const Json* binding = check.need(parameter, where, "input_binding"))
        check.is(*binding, Checker::join(where, "input_binding"), "a string or null",
                 binding->is_string() || binding->is_null());
    }
  }
}

// The keys that stand at the top before version 7 and of operators, in each module since.
void check_common(const Json& m, const std::string& path, Checker& check) {
  check.string(m, path, "model_name");
  check.string(m, path, "export_datetime");
  if (check.version >= kFirstWithStyle) check.string(m, path, "style");
  check_target(m, path, check);
  check.list(m, path, check.version >= kFirstWithExecutors ? "executors" : "runtimes", "a string", Checker::is_string);
  if (!m.contains("external_dependencies")) return;
  check.list(m, path, "external_dependencies", "an object", Checker::is_object);
}

}  // namespace

Result<Json> parse_metadata(std::string_view text, const std::string& name, Diagnostics& diags) {
  Location where;
  where.file = name;
  if (!name.ends_with(kMetadata)) where.file += std::string(":") + kMetadata;
  const char* limit = text.size() > kMaxMetadataBytes ? "too many bytes" : too_much(text);
  if (limit != nullptr) {
    diags.error(where, "mlf-limit", fmt::format("the metadata holds {}", limit));
    return kFailure;
  }
  Json metadata;
  if (auto problem = parse_json(text, metadata)) {
    diags.error(where, "mlf-metadata", "the metadata is not JSON: " + escape_for_display(problem->what))
        .help("create the archive again");
    return kFailure;
  }
  if (metadata.is_object()) return metadata;
  diags.error(where, "mlf-metadata", fmt::format("the metadata must be an object, not {}", metadata.type_name()));
  return kFailure;
}

Status check_metadata(Archive& archive, const std::string& name, std::string_view wanted_style, Diagnostics& diags) {
  Checker check(name, diags);
  const Json& m = archive.metadata;
  auto style = style_of(m, wanted_style, check);
  if (!style) return kFailure;
  auto version = version_of(m, check);
  if (!version) return kFailure;
  archive.version = *version;
  archive.style = *style;
  if (style->empty()) {
    // A module without a style, or a flat file without one: the check of keys below says where.
    archive.style = kFullModel;
    if (*version >= kFirstWithStyle && !m.contains("modules")) {
      check.need(m, "", "style");
      return kFailure;
    }
  }
  if (archive.style == kOperator) {
    check_common(m, "", check);
    check_operator_memory(m, check);
  } else if (*version < kFirstWithModules) {
    check_common(m, "", check);
    check_model_memory(m, "", check);
  } else if (const Json* modules = check.object(m, "", "modules")) {
    for (const auto& [module, body] : modules->items()) {
      std::string path = "modules." + module;
      if (!check.is(body, path, "an object", body.is_object())) continue;
      check_common(body, path, check);
      check_model_memory(body, path, check);
    }
  }
  if (check.failed()) return kFailure;
  return success();
}

namespace {

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> out;
  for (const Json& s : list) out.push_back(s.get<std::string>());
  return out;
}

void read_ports(const Json& main, const char* key, std::vector<PortInfo>& out) {
  if (!main.contains(key)) return;
  for (const auto& [name, port] : main[key].items())
    out.push_back({name, port["dtype"].get<std::string>(), port["size"].get<int64_t>()});
}

void read_model_memory(const Json& memory, ModuleInfo& out) {
  const Json* sids = memory.is_array() ? &memory : memory.contains("sids") ? &memory["sids"] : nullptr;
  if (sids != nullptr) {
    out.storage_ids = static_cast<int64_t>(sids->size());
    for (const Json& s : *sids) {
      int64_t sum = 0;
      if (__builtin_add_overflow(out.storage_bytes, s["size_bytes"].get<int64_t>(), &sum)) sum = INT64_MAX;
      out.storage_bytes = sum;
    }
  }
  if (memory.is_array()) return;
  const Json& functions = memory["functions"];
  for (const Json& m : functions["main"]) {
    MainMemory figures{m["device"].get<int64_t>(), m["workspace_size_bytes"].get<int64_t>(), {}, {}, {}};
    if (m.contains("constants_size_bytes")) figures.constants_bytes = m["constants_size_bytes"].get<int64_t>();
    if (m.contains("io_size_bytes")) figures.io_bytes = m["io_size_bytes"].get<int64_t>();
    if (m.contains("state_size_bytes")) figures.state_bytes = m["state_size_bytes"].get<int64_t>();
    out.main.push_back(figures);
    read_ports(m, "inputs", out.inputs);
    read_ports(m, "outputs", out.outputs);
  }
  for (const Json& f : functions["operator_functions"])
    for (const Json& w : f["workspace"])
      out.functions.push_back({f["function_name"].get<std::string>(), w["device"].get<int64_t>(),
                               w["workspace_size_bytes"].get<int64_t>()});
}

ModuleInfo module_of(const Json& m, const std::string& style, const std::string& name) {
  ModuleInfo out;
  out.name = name.empty() ? m["model_name"].get<std::string>() : name;
  out.export_datetime = m["export_datetime"].get<std::string>();
  out.executors = strings_of(m.contains("executors") ? m["executors"] : m["runtimes"]);
  if (m["target"].is_array()) {
    out.targets = strings_of(m["target"]);
  } else {
    for (const auto& [device, target] : m["target"].items())
      out.targets.push_back(fmt::format("{}: {}", device, target.get<std::string>()));
  }
  if (m.contains("external_dependencies"))
    for (const Json& d : m["external_dependencies"])
      if (d.contains("short_name") && d["short_name"].is_string())
        out.external_dependencies.push_back(d["short_name"].get<std::string>());
  if (style == kFullModel) read_model_memory(m["memory"], out);
  return out;
}

}  // namespace

std::vector<ModuleInfo> modules_of(const Archive& archive) {
  std::vector<ModuleInfo> out;
  if (archive.version < kFirstWithModules || archive.style != kFullModel) {
    out.push_back(module_of(archive.metadata, archive.style, ""));
    return out;
  }
  for (const auto& [name, module] : archive.metadata["modules"].items())
    out.push_back(module_of(module, archive.style, name));
  return out;
}

std::vector<OperatorInfo> operators_of(const Archive& archive) {
  std::vector<OperatorInfo> out;
  if (archive.style != kOperator) return out;
  for (const auto& [name, list] : archive.metadata["memory"].items()) {
    OperatorInfo op{name, {}};
    for (const Json& p : list) {
      OperatorParameter parameter;
      if (p["input_binding"].is_string()) parameter.binding = p["input_binding"].get<std::string>();
      parameter.dtype = p["dtype"].get<std::string>();
      for (const Json& d : p["shape"]) parameter.shape.push_back(d.get<int64_t>());
      parameter.bytes = p["size_bytes"].get<int64_t>();
      op.parameters.push_back(std::move(parameter));
    }
    out.push_back(std::move(op));
  }
  return out;
}

}  // namespace aotc::mlf
