// SPDX-License-Identifier: Apache-2.0
#include "frontends/graph_json/writer.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "frontends/graph_json/structure.h"
#include "ops/external/external.h"
#include "ops/operator.h"
#include "support/text.h"

namespace aotc::graph_json {

namespace {

using graph::Graph;
using graph::TensorId;

class Writer {
 public:
  Writer(const Graph& graph, const GraphJsonInfo* info, Diagnostics& diags)
      : graph_(graph), info_(info), diags_(diags), entry_of_(graph.tensors.size(), {-1, 0}) {}

  Result<Document> write() {
    if (info_) remember();
    for (const graph::Op& op : graph_.ops) add_op(op);
    for (const graph::Port& port : graph_.inputs) add_argument(port.tensor);
    for (const graph::Port& port : graph_.outputs) add_argument(port.tensor);
    if (!good_) return kFailure;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      auto head = entry(graph_.outputs[i].tensor);
      if (info_ && i < info_->document.heads.size()) head.version = info_->document.heads[i].version;
      out_.heads.push_back(head);
    }
    remap_control_deps();
    add_columns();
    if (!info_ || info_->document.node_row_ptr) {
      rows_.push_back({static_cast<int64_t>(tensors_.size()), {}});
      out_.node_row_ptr = std::move(rows_);
    }
    if (info_) out_.others = info_->document.others;
    out_.file = graph_.source_file;
    return std::move(out_);
  }

 private:
  void remember() {
    for (size_t i = 0; i < info_->document.nodes.size(); ++i) before_.emplace(info_->document.nodes[i].name, i);
    for (size_t r = 0; r < info_->entries.size(); ++r) {
      const auto& e = info_->entries[r];
      if (e.index == 0) first_row_.emplace(e.node, r);
      if (e.storage_id) next_storage_ = std::max(next_storage_, *e.storage_id + 1);
    }
    std::vector<bool> used(graph_.tensors.size());
    auto use = [&](TensorId id) {
      if (id.valid()) used[static_cast<size_t>(id.value)] = true;
    };
    for (const graph::Op& op : graph_.ops) std::for_each(op.operands.begin(), op.operands.end(), use);
    for (const graph::Port& port : graph_.inputs) use(port.tensor);
    for (size_t i = 0; i < used.size(); ++i) {
      auto found = before_.find(graph_.tensors[i].name);
      if (used[i] && found != before_.end() && is_argument(info_->document.nodes[found->second]))
        arguments_.emplace_back(found->second, TensorId{static_cast<int32_t>(i)});
    }
    std::sort(arguments_.begin(), arguments_.end());
  }

  // Arguments that were listed before the node that was called `name`.
  void add_arguments_before(const std::string& name) {
    auto found = before_.find(name);
    if (found == before_.end()) return;
    while (next_argument_ < arguments_.size() && arguments_[next_argument_].first < found->second)
      add_argument(arguments_[next_argument_++].second);
  }

  // The node of this name in the document before, or null.
  const Node* before(const std::string& name) const {
    auto found = before_.find(name);
    return found == before_.end() ? nullptr : &info_->document.nodes[found->second];
  }

  Entry entry(TensorId id) const {
    auto [node, index] = entry_of_[static_cast<size_t>(id.value)];
    return {node, index, 0, {}};
  }

  Node& add_node(const char* op, const std::string& name, std::span<const TensorId> results) {
    Node& node = out_.nodes.emplace_back();
    node.op = op;
    node.name = names_.make(name);
    rows_.push_back({static_cast<int64_t>(tensors_.size()), {}});
    for (size_t i = 0; i < results.size(); ++i) {
      entry_of_[static_cast<size_t>(results[i].value)] = {static_cast<int64_t>(out_.nodes.size()) - 1,
                                                          static_cast<int64_t>(i)};
      tensors_.push_back({results[i], static_cast<int>(i), out_.nodes.size() - 1});
    }
    return node;
  }

  void add_argument(TensorId id) {
    if (!id.valid() || entry_of_[static_cast<size_t>(id.value)].first >= 0) return;
    Node& node = add_node("null", graph_[id].name, {&id, 1});
    out_.arg_nodes.push_back({static_cast<int64_t>(out_.nodes.size()) - 1, {}});
    if (const Node* b = before(graph_[id].name); b && b->op == "null") {
      node.others = b->others;
      node.control_deps = b->control_deps;
      node.attributes_key = b->attributes_key;
      node.attributes = b->attributes;
    }
  }

  void add_op(const graph::Op& op) {
    const ops::Traits traits = ops::definition_of(op).traits();
    bool one = op.operands.size() == 1 && op.operands[0].valid() && op.results.size() == 1;
    bool copy = one && traits.device_copy;
    if (!traits.external && !(one && traits.view) && !copy) {
      diags_
          .error(op.location, "graph-write",
                 fmt::format("{} is not a C function, but a graph can call only C functions", op.name()))
          .help("a .tflite model cannot become a graph of functions; compile it to C");
      good_ = false;
      return;
    }
    const std::string& name = graph_[op.results[0]].name;
    add_arguments_before(name);
    for (TensorId id : op.operands) add_argument(id);
    const Node* b = before(name);
    if (b && b->op != "tvm_op") b = nullptr;
    Node& node = add_node("tvm_op", name, op.results);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      node.inputs.push_back(entry(op.operands[i]));
      if (b && i < b->inputs.size()) node.inputs.back().version = b->inputs[i].version;
    }
    node.attributes_key = b && !b->attributes_key.empty() ? b->attributes_key : "attrs";
    // A copy within a device is a view here; it keeps its name.
    const Attribute* symbol = b ? b->find("func_name") : nullptr;
    bool was_copy =
        symbol && symbol->value == "__copy" && one && graph_[op.operands[0]].type == graph_[op.results[0]].type;
    set_attributes(op, copy || was_copy ? "__copy" : "__nop", node);
    if (!b) return;
    node.others = b->others;
    node.control_deps = b->control_deps;
    keep_order(*b, node);
  }

  void set_attributes(const graph::Op& op, const char* transfer, Node& node) {
    bool external = ops::definition_of(op).traits().external;
    auto set = [&](const char* name, std::string value) { node.attributes.push_back({name, std::move(value), {}}); };
    set("num_outputs", std::to_string(op.results.size()));
    set("num_inputs", std::to_string(op.operands.size()));
    set("flatten_data", external && op.attrs<ops::ExternalAttrs>().flatten ? "1" : "0");
    set("func_name", external ? op.attrs<ops::ExternalAttrs>().symbol : transfer);
    if (!external || op.attrs<ops::ExternalAttrs>().extra.empty()) return;
    Diagnostics quiet;  // what is no object of strings was not read from a graph
    auto extra = parse_json(op.attrs<ops::ExternalAttrs>().extra, "", quiet);
    if (!extra) return;
    for (size_t i = 0; i < extra->keys.size(); ++i)
      if (extra->items[i].is(Json::Kind::kString)) set(extra->keys[i].c_str(), extra->items[i].text);
  }

  // Attributes in the order they had, without those that were not there.
  static void keep_order(const Node& before, Node& node) {
    std::vector<Attribute> out;
    for (const Attribute& a : before.attributes)
      if (const Attribute* now = node.find(a.name)) out.push_back(*now);
      else if (a.name != "func_name") out.push_back(a);
    for (const Attribute& a : node.attributes) {
      bool had = before.find(a.name) != nullptr;
      bool optional = a.name == "flatten_data" || a.name == "num_inputs";
      if (!had && !(optional && a.value != "1")) out.push_back(a);
    }
    node.attributes = std::move(out);
  }

  void remap_control_deps() {
    std::unordered_map<std::string, int64_t> now;
    for (size_t i = 0; i < out_.nodes.size(); ++i) now.emplace(out_.nodes[i].name, static_cast<int64_t>(i));
    for (Node& node : out_.nodes) {
      if (!node.control_deps) continue;
      std::vector<Number> mapped;
      for (const Number& n : *node.control_deps) {
        auto found = now.find(info_->document.nodes[static_cast<size_t>(n.value)].name);
        if (found != now.end()) mapped.push_back({found->second, {}});
      }
      node.control_deps = std::move(mapped);
    }
  }

  struct Row {
    TensorId tensor;
    int index;
    size_t node;  // in the new document
  };

  const GraphJsonInfo::EntryInfo* entry_before(const Row& row) const {
    if (!info_) return nullptr;
    auto found = before_.find(out_.nodes[row.node].name);
    if (found == before_.end()) return nullptr;
    auto first = first_row_.find(static_cast<int>(found->second));
    if (first == first_row_.end()) return nullptr;
    size_t r = first->second + static_cast<size_t>(row.index);
    if (r >= info_->entries.size() || info_->entries[r].node != first->first) return nullptr;
    return &info_->entries[r];
  }

  int64_t device_number(int device) const {
    if (!info_) return device;
    const auto& numbers = info_->device_numbers;
    if (static_cast<size_t>(device) < numbers.size()) return numbers[static_cast<size_t>(device)];
    return *std::max_element(numbers.begin(), numbers.end()) + device - static_cast<int>(numbers.size()) + 1;
  }

  void add_columns() {
    std::vector<std::string> names = {"dltype", "device_index", "storage_id", "shape"};
    bool devices =
        std::any_of(graph_.tensors.begin(), graph_.tensors.end(), [](const graph::Tensor& t) { return t.device != 0; });
    bool storage = true;
    if (info_) {
      const Document& d = info_->document;
      devices = devices || d.column("device_index");
      storage = d.column("storage_id") != nullptr;
      // In the order and under the names they had.
      auto place = [&](const std::string& name) {
        const Column* c = d.column(name);
        return c ? c - d.columns.data() : static_cast<std::ptrdiff_t>(d.columns.size());
      };
      std::stable_sort(names.begin(), names.end(),
                       [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
    }
    for (const std::string& name : names) {
      if ((name == "device_index" && !devices) || (name == "storage_id" && !storage)) continue;
      const Column* b = info_ ? info_->document.column(name) : nullptr;
      const char* type = name == "dltype" ? "list_str" : name == "shape" ? "list_shape" : "list_int";
      Column& column = out_.columns.emplace_back(Column{b ? b->name : name, type, Json::array(), {}});
      for (const Row& row : tensors_) column.data.items.push_back(cell(name, row));
    }
  }

  Json cell(const std::string& column, const Row& row) {
    const graph::Tensor& tensor = graph_[row.tensor];
    const auto* b = entry_before(row);
    if (column == "dltype") return Json::string(DataType::of(tensor.type.dtype).str());
    if (column == "device_index") return Json::number(device_number(tensor.device));
    if (column == "storage_id") return Json::number(b && b->storage_id ? *b->storage_id : next_storage_++);
    Json shape = Json::array();
    for (int64_t d : tensor.type.shape) shape.items.push_back(Json::number(d));
    return shape;
  }

  const Graph& graph_;
  const GraphJsonInfo* info_;
  Diagnostics& diags_;
  Document out_;
  std::vector<std::pair<int64_t, int64_t>> entry_of_;  // node and index of each tensor
  std::vector<Row> tensors_;
  std::vector<Number> rows_;
  UniqueNames names_;
  std::vector<std::pair<size_t, TensorId>> arguments_;  // by their node in the document before
  size_t next_argument_ = 0;
  std::unordered_map<std::string, size_t> before_;
  std::unordered_map<int, size_t> first_row_;
  int64_t next_storage_ = 0;
  bool good_ = true;
};

}  // namespace

Result<Document> write_graph_json(const Graph& graph, const GraphJsonInfo* info, Diagnostics& diags) {
  return Writer(graph, info, diags).write();
}

std::vector<Param> params_of(const Graph& graph) {
  std::vector<Param> out;
  std::vector<bool> done(graph.tensors.size());
  for (const graph::Op& op : graph.ops)
    for (TensorId id : op.operands) {
      if (!graph.is_constant(id) || done[static_cast<size_t>(id.value)]) continue;
      done[static_cast<size_t>(id.value)] = true;
      const graph::Tensor& t = graph[id];
      out.push_back(
          {t.name, DataType::of(t.type.dtype), t.type.shape, {t.constant->bytes.begin(), t.constant->bytes.end()}});
    }
  return out;
}

}  // namespace aotc::graph_json
