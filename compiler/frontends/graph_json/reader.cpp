// SPDX-License-Identifier: Apache-2.0
#include "frontends/graph_json/reader.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "frontends/graph_json/problems.h"
#include "frontends/graph_json/structure.h"
#include "ops/external/external.h"
#include "ops/operator.h"
#include "support/text.h"

namespace aotc::graph_json {

namespace {

using graph::Graph;
using graph::TensorId;

constexpr size_t kMostRank = 8;
constexpr size_t kMostDevices = 64;
// Names that a parameter without argument is compared with, and their bytes.
constexpr size_t kMostNamesCompared = 1000, kMostShown = 100;
constexpr int64_t kMostTensorBytes = int64_t{1} << 26;
constexpr int64_t kMostTotalBytes = int64_t{1} << 28;  // of all tensors that are no parameters

class Reader {
 public:
  Reader(Document document, std::vector<Param> params, Diagnostics& diags)
      : doc_(std::move(document)), params_(std::move(params)), problems_(doc_.file, diags) {}

  Result<Graph> read(GraphJsonInfo* info) {
    if (check_structure(doc_, at_, problems_)) make_tensors();
    if (!problems_.any()) bind_params();
    if (!problems_.any()) make_ops();
    if (problems_.any()) return problems_.finish();
    finish();
    if (info) {
      info->document = std::move(doc_);
      info->entries = std::move(entries_);
      info->device_numbers = std::move(devices_);
    }
    return std::move(graph_);
  }

 private:
  Location where(size_t node, Position at) const { return location_of(doc_, node, at); }
  Location where(size_t node) const { return where(node, doc_.nodes[node].at); }

  // --- Tensors -----------------------------------------------------------------------------------

  void make_tensors() {
    for (size_t node = 0; node < doc_.nodes.size(); ++node)
      for (int64_t index = 0; index < at_.results[node]; ++index) {
        size_t r = entries_.size();
        graph::Tensor tensor;
        tensor.name = doc_.nodes[node].name;
        if (index > 0) tensor.name += ":" + std::to_string(index);
        read_dtype(node, r, tensor.type);
        read_shape(node, r, tensor.type);
        GraphJsonInfo::EntryInfo entry;
        entry.node = static_cast<int>(node);
        entry.index = static_cast<int>(index);
        entry.tensor = graph_.add_tensor(std::move(tensor));
        if (at_.storage_id) entry.storage_id = number(*at_.storage_id, r);
        entries_.push_back(std::move(entry));
      }
    read_devices();
  }

  const Json& cell(const Column& column, size_t r) const { return column.data.items[r]; }

  std::optional<int64_t> number(const Column& column, size_t r) {
    auto value = cell(column, r).integer();
    if (!value || *value < 0)
      problems_.error(cell(column, r).at, "graph-column",
                      fmt::format("column '{}' has an element that is not an integer of at least 0", column.name));
    return value;
  }

  void read_dtype(size_t node, size_t r, graph::TensorType& type) {
    const Json& json = cell(*at_.dltype, r);
    if (!json.is(Json::Kind::kString)) {
      problems_.error(where(node, json.at), "graph-column",
                      fmt::format("the element type must be a string, not {}", json.kind_name()));
      return;
    }
    auto data_type = tvm::data_type_from_name(json.text);
    auto dtype = data_type ? data_type->dtype() : std::nullopt;
    if (dtype) {
      type.dtype = *dtype;
      return;
    }
    problems_
        .error(where(node, json.at), "graph-type",
               fmt::format("element type '{}' is not supported", escape_for_display(json.text)))
        .help("the supported types are bool, int8 to int64, uint8 to uint32, float32 and float64");
  }

  void read_shape(size_t node, size_t r, graph::TensorType& type) {
    const Json& json = cell(*at_.shape, r);
    bool list = json.is(Json::Kind::kArray) && json.items.size() <= kMostRank;
    int64_t bytes = size_of(type.dtype);
    for (size_t i = 0; list && i < json.items.size(); ++i) {
      auto dimension = json.items[i].integer();
      if (!dimension || *dimension < 1 || *dimension > kMostTensorBytes / bytes) {
        problems_
            .error(where(node, json.items[i].at), "graph-type",
                   fmt::format("dimension {} is not an integer of at least 1, or the tensor exceeds {} bytes", i,
                               kMostTensorBytes))
            .help("build the graph with fixed shapes");
        return;
      }
      bytes *= *dimension;
      type.shape.push_back(*dimension);
    }
    if (!list)
      problems_.error(where(node, json.at), "graph-type",
                      fmt::format("a shape must be a list of at most {} numbers", kMostRank));
  }

  // The host comes first: TVM's number 1 (CPU), or 0 where devices are simply counted.
  void read_devices() {
    if (!at_.device_index) return;
    std::set<int64_t> numbers;
    std::vector<int64_t> given;
    for (size_t r = 0; r < entries_.size(); ++r) {
      given.push_back(number(*at_.device_index, r).value_or(0));
      numbers.insert(given.back());
    }
    if (numbers.empty()) return;
    if (numbers.size() > kMostDevices)
      problems_.error(at_.device_index->at, "graph-limit",
                      fmt::format("the graph has {} devices, but the limit is {}", numbers.size(), kMostDevices));
    devices_.assign(numbers.begin(), numbers.end());
    std::map<int64_t, int> device;
    for (size_t i = 0; i < devices_.size(); ++i) device[devices_[i]] = static_cast<int>(i);
    for (size_t r = 0; r < entries_.size(); ++r) graph_[entries_[r].tensor].device = device[given[r]];
  }

  // --- Parameters --------------------------------------------------------------------------------

  void bind_params() {
    std::unordered_map<std::string, size_t> arguments;
    std::vector<std::string> names;
    for (const Number& n : doc_.arg_nodes) {
      const std::string& name = doc_.nodes[static_cast<size_t>(n.value)].name;
      arguments.emplace(name, static_cast<size_t>(n.value));
      if (name.size() < kMostShown && names.size() < kMostNamesCompared) names.push_back(name);
    }
    int strangers = 0;
    for (Param& param : params_) {
      auto found = arguments.find(param.name);
      if (found != arguments.end()) {
        bind(found->second, param);
        continue;
      }
      Location at;
      at.file = doc_.file;
      at.tensor = param.name;
      Diagnostic& d = problems_.error(at, "graph-params", "the graph has no argument with the name of this parameter");
      if (param.name.size() >= kMostShown || ++strangers > 20) continue;
      for (const std::string& near : closest(param.name, names, 1))
        d.help(fmt::format("did you mean '{}'?", escape_for_display(near)));
    }
    int64_t total = 0;
    for (GraphJsonInfo::EntryInfo& entry : entries_) {
      size_t node = static_cast<size_t>(entry.node);
      entry.is_param = graph_.is_constant(entry.tensor);
      entry.is_input = is_argument(doc_.nodes[node]) && !entry.is_param;
      if (entry.is_param) continue;
      total += graph_[entry.tensor].type.bytes();
      if (total <= kMostTotalBytes) continue;
      problems_.error(where(node), "graph-limit",
                      fmt::format("all tensors up to this node together take more than {} bytes", kMostTotalBytes));
      return;
    }
  }

  void bind(size_t node, Param& param) {
    graph::Tensor& tensor = graph_[entries_[at_.row(static_cast<int64_t>(node))].tensor];
    if (param.type.dtype() != tensor.type.dtype || param.shape != tensor.type.shape) {
      problems_.error(where(node), "graph-params",
                      fmt::format("the parameter is {} {}, but the argument in the graph is {} {}", param.type.str(),
                                  graph::to_string(param.shape), DataType::of(tensor.type.dtype).str(),
                                  graph::to_string(tensor.type.shape)));
      return;
    }
    tensor.constant = graph::own_bytes(std::move(param.bytes));
  }

  // --- Operators ---------------------------------------------------------------------------------

  void make_ops() {
    for (size_t i = 0; i < doc_.nodes.size(); ++i) {
      if (is_argument(doc_.nodes[i])) continue;
      graph::Op op;
      op.location = where(i);
      for (const Entry& e : doc_.nodes[i].inputs) op.operands.push_back(entries_[at_.row(e.node, e.index)].tensor);
      for (int64_t k = 0; k < at_.results[i]; ++k)
        op.results.push_back(entries_[at_.row(static_cast<int64_t>(i), k)].tensor);
      op.device = graph_[op.results[0]].device;
      for (size_t k = 1; k < op.results.size(); ++k)
        if (graph_[op.results[k]].device != op.device)
          problems_.error(op.location, "graph-column", "the results of one operator are on different devices");
      const std::string& symbol = doc_.nodes[i].find("func_name")->value;
      if (is_transfer(symbol)) make_transfer(i, symbol, op);
      else make_external(i, symbol, op);
      graph_.ops.push_back(std::move(op));
    }
  }

  void make_external(size_t i, const std::string& symbol, graph::Op& op) {
    auto attributes = std::make_shared<ops::ExternalAttrs>();
    attributes->symbol = symbol;
    Json extra = Json::object();
    for (const Attribute& a : doc_.nodes[i].attributes) {
      if (a.name == "flatten_data") attributes->flatten = a.value == "1";
      else if (a.name != "func_name" && a.name != "num_inputs" && a.name != "num_outputs")
        extra.add(a.name, Json::string(a.value));
    }
    if (!extra.keys.empty()) attributes->extra = print_json_compact(extra);
    op.definition = ops::operators().find("external");
    op.attributes = std::move(attributes);
  }

  // `__nop` gives the same bytes another shape; `__copy` takes them to another device. Within a
  // device it has nothing to do.
  void make_transfer(size_t i, const std::string& symbol, graph::Op& op) {
    const graph::TensorType& from = graph_[op.operands[0]].type;
    const graph::TensorType& to = graph_[op.results[0]].type;
    bool copy = symbol == "__copy";
    if (from.dtype != to.dtype || from.elements() != to.elements() || (copy && from.shape != to.shape)) {
      problems_.error(
          where(i), "graph-op",
          fmt::format("{0} cannot convert {2} to {1}", symbol, graph::to_string(to), graph::to_string(from)));
      return;
    }
    bool crosses = graph_[op.operands[0]].device != op.device;
    if (!copy && crosses) {
      problems_.error(where(i), "graph-op", "__nop cannot move data to another device: use __copy");
      return;
    }
    op.definition = ops::operators().find(crosses ? "device_copy" : "reshape");
    if (crosses) op.device = 0;  // the host copies
    auto attributes = op.definition->default_attributes();
    if (!crosses) (void)attributes->parse("shape", graph::attribute_text::print(to.shape));
    op.attributes = std::move(attributes);
  }

  void finish() {
    graph_.name = std::filesystem::path(doc_.file).stem().string();
    graph_.source_file = doc_.file;
    for (const Number& n : doc_.arg_nodes) {
      const auto& entry = entries_[at_.row(n.value)];
      if (entry.is_input) graph_.inputs.push_back({entry.tensor, graph_[entry.tensor].name});
    }
    for (const Entry& e : doc_.heads) {
      TensorId id = entries_[at_.row(e.node, e.index)].tensor;
      graph_.outputs.push_back({id, graph_[id].name});
    }
  }

  Document doc_;
  std::vector<Param> params_;
  Problems problems_;
  Structure at_;
  Graph graph_;
  std::vector<GraphJsonInfo::EntryInfo> entries_;
  std::vector<int64_t> devices_ = {0};
};

}  // namespace

Result<Graph> read_graph_json(const std::string& text, const std::string& file, std::vector<Param> params,
                              GraphJsonInfo* info, Diagnostics& diags) {
  auto document = read_document(text, file, diags);
  if (!document) return kFailure;
  return Reader(std::move(*document), std::move(params), diags).read(info);
}

}  // namespace aotc::graph_json
