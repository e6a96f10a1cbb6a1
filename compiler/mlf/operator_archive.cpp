// SPDX-License-Identifier: Apache-2.0
#include "mlf/operator_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mlf/archive.h"
#include "mlf/full_model.h"
#include "ops/operator.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::mlf {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSeparator = "# operator ";
// Offsets of names in a registry are 16 bits wide.
constexpr size_t kMostNameBytes = 65535;
// Begins the names of what is static; not the model's, which no text of an operator may depend on.
constexpr const char* kStaticPrefix = "aotc";

// The function as its own text has it, so that its parameters are called as everybody reads them.
Result<tir::FunctionPtr> as_printed(const tir::Function& lowered, const std::string& name, Diagnostics& diags) {
  tir::Function named = lowered;
  named.name = name;
  auto parsed = tir::parse(tir::print(named), name, diags);
  if (!parsed || tir::structurally_equal(**parsed, lowered)) return parsed;
  Location where;
  where.file = name;
  diags.error(where, "internal", "the text form of an operator does not parse to the same function");
  return kFailure;
}

std::string plain(std::string_view name) {
  std::string out;
  for (char c : name) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

class Collector {
 public:
  Collector(const graph::Graph& graph, const OperatorChoice& choice, const std::vector<passes::Device>& devices,
            Diagnostics& diags)
      : graph_(graph), choice_(choice), devices_(devices), diags_(diags) {}

  Result<std::vector<OperatorEntry>> run() {
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      ops::Traits traits = ops::definition_of(graph_.ops[i]).traits();
      if (traits.view || traits.external || traits.device_copy) continue;
      if (!add(static_cast<int>(i))) return kFailure;
    }
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const OperatorEntry& a, const OperatorEntry& b) { return a.device < b.device; });
    if (!choice_.wanted.empty() && !select()) return kFailure;
    if (!entries_.empty()) return std::move(entries_);
    diags_.error(where(), "op-none", "the model has no operator for which aotc generates code")
        .help("operators that only rename a tensor, and operators in C, have no generated code");
    return kFailure;
  }

 private:
  Location where() const {
    Location out;
    out.file = graph_.source_file;
    return out;
  }

  Status add(int index) {
    const graph::Op& op = graph_.ops[static_cast<size_t>(index)];
    ops::TargetInfo target = choice_.target;
    target.asked = ops::find_schedule(choice_.schedules, op.location.op_index, parts_[static_cast<size_t>(index)]);
    ops::Lowered lowered = ops::lower({graph_, op}, target);
    std::string name = entry_name(*lowered.function);
    // Functions of one name on two devices are two.
    if (op.device > 0) name += "_" + devices_[static_cast<size_t>(op.device)].name;
    auto known = std::find_if(entries_.begin(), entries_.end(), [&](const OperatorEntry& e) { return e.name == name; });
    if (known != entries_.end()) {
      known->ops.push_back(index);
      return success();
    }
    auto function = as_printed(*lowered.function, name, diags_);
    if (!function) return kFailure;
    entries_.push_back({name, std::move(*function), op.device, {index}});
    return success();
  }

  bool is_meant(const std::string& wanted, const OperatorEntry& entry) const {
    if (wanted == entry.name) return true;
    for (int i : entry.ops) {
      const graph::Op& op = graph_.ops[static_cast<size_t>(i)];
      if (wanted == std::to_string(op.location.op_index) || plain(wanted) == op.name() ||
          plain(wanted) == plain(op.location.op_type))
        return true;
    }
    return false;
  }

  bool select() {
    std::vector<bool> kept(entries_.size(), false);
    bool good = true;
    for (const std::string& wanted : choice_.wanted) {
      bool found = false;
      for (size_t e = 0; e < entries_.size(); ++e)
        if (is_meant(wanted, entries_[e])) kept[e] = found = true;
      if (!found) tell_unknown(wanted);
      good = good && found;
    }
    std::vector<OperatorEntry> chosen;
    for (size_t e = 0; e < entries_.size(); ++e)
      if (kept[e]) chosen.push_back(std::move(entries_[e]));
    entries_ = std::move(chosen);
    return good;
  }

  void tell_unknown(const std::string& wanted) {
    std::set<int> indices;
    std::vector<std::string> names;
    for (const OperatorEntry& e : entries_) {
      names.push_back(e.name);
      for (int i : e.ops) {
        const graph::Op& op = graph_.ops[static_cast<size_t>(i)];
        if (op.location.op_index >= 0) indices.insert(op.location.op_index);
        names.emplace_back(op.name());
      }
    }
    auto& d = diags_.error(where(), "op-unknown",
                           fmt::format("there is no operator '{}' to export", escape_for_display(wanted)));
    d.note(fmt::format("operators with generated code have the indices {}", fmt::join(indices, ", ")));
    for (const std::string& near : closest(wanted, names, 1)) d.help(fmt::format("did you mean '{}'?", near));
    d.help("give the index of an operator in the model's file, a type such as conv_2d, or the name of an entry");
  }

  const graph::Graph& graph_;
  const std::vector<int> parts_ = plan::parts_of(graph_);
  const OperatorChoice& choice_;
  const std::vector<passes::Device>& devices_;
  Diagnostics& diags_;
  std::vector<OperatorEntry> entries_;
};

Json memory_of(const tir::Function& function) {
  Json out = Json::array();
  for (const tir::BufferPtr& b : function.params) {
    Json parameter;
    parameter["size_bytes"] = b->elements * size_of(b->dtype);
    parameter["shape"] = {b->elements};
    parameter["dtype"] = dtype_text(b->dtype);
    parameter["input_binding"] = b->name;
    out.push_back(std::move(parameter));
  }
  return out;
}

// One line with the blanks that archives of operators have.
std::string one_line(const Json& value) {
  std::string out;
  if (value.is_object()) {
    for (const auto& [key, v] : value.items())
      out += (out.empty() ? "" : ", ") + json_text(Json(key), -1, JsonCharacters::kAscii) + ": " + one_line(v);
    return "{" + out + "}";
  }
  if (value.is_array()) {
    for (const Json& v : value) out += (out.empty() ? "" : ", ") + one_line(v);
    return "[" + out + "]";
  }
  return json_text(value, -1, JsonCharacters::kAscii);
}

}  // namespace

std::string entry_name(const tir::Function& lowered) {
  return fmt::format("{}_{:016x}", c_identifier(lowered.name, "op"), tir::structural_hash(lowered));
}

Result<std::vector<OperatorEntry>> collect_operators(const graph::Graph& graph, const OperatorChoice& choice,
                                                     const std::vector<passes::Device>& devices, Diagnostics& diags) {
  return Collector(graph, choice, devices, diags).run();
}

Result<std::map<std::string, std::string>> operator_files(const std::vector<OperatorEntry>& entries,
                                                          const std::vector<passes::Device>& devices,
                                                          const OperatorArchive& archive, Diagnostics& diags) {
  std::map<std::string, std::string> out;
  std::vector<tir::FunctionPtr> functions;
  std::vector<std::string> names;
  size_t name_bytes = 2;
  Json memory = Json::object();
  for (const OperatorEntry& e : entries) {
    functions.push_back(e.function);
    names.push_back(e.name);
    name_bytes += e.name.size() + 1;
    memory[e.name] = memory_of(*e.function);
    int type = devices[static_cast<size_t>(e.device)].type;
    out[fmt::format("src/tir-{}.txt", type)] += fmt::format("{}{}\n{}\n", kSeparator, e.name, tir::print(*e.function));
  }
  if (name_bytes > kMostNameBytes) {
    Location where;
    where.file = archive.name;
    diags
        .error(where, "mlf-too-many",
               fmt::format("the names of {} operators exceed the size of a registry", names.size()))
        .help("export fewer operators with --op");
    return kFailure;
  }
  codegen::CodegenOptions options;
  options.prefix = kStaticPrefix;
  options.kernels = archive.kernels;
  options.version = archive.version;
  codegen::OperatorLibrary sources = codegen::print_operators(functions, names, options);
  out["codegen/host/src/lib0.c"] = std::move(sources.registry);
  out["codegen/host/src/lib1.c"] = std::move(sources.operators);
  Json metadata;
  metadata["version"] = kVersion;
  metadata["model_name"] = archive.name;
  metadata["export_datetime"] = date_text(archive.date);
  metadata["memory"] = std::move(memory);
  metadata["target"] = archive.targets;
  metadata["executors"] = Json::array();
  metadata["style"] = kOperator;
  out[kMetadata] = one_line(metadata);
  return out;
}

Result<std::vector<tir::FunctionPtr>> parse_operators(const std::string& text, const std::string& file,
                                                      Diagnostics& diags) {
  std::vector<tir::FunctionPtr> out;
  std::string rest = "\n" + text;  // every separator is behind a line's end
  const std::string separator = std::string("\n") + kSeparator;
  for (size_t begin = rest.find(separator); begin != std::string::npos;) {
    size_t body = std::min(rest.find('\n', begin + 1), rest.size());
    size_t end = rest.find(separator, body);
    auto function = tir::parse(rest.substr(body, end - body), file, diags);
    if (!function) return kFailure;
    out.push_back(std::move(*function));
    begin = end;
  }
  return out;
}

}  // namespace aotc::mlf
