// SPDX-License-Identifier: Apache-2.0
#include "frontends/graph_json/structure.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "ops/external/external.h"

namespace aotc::graph_json {

namespace {

constexpr size_t kMostNodes = 100'000;
constexpr int64_t kMostResults = 1000;  // of one node
constexpr size_t kMostAttributes = 1000;

// A number as attributes have them: "12".
std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

class Checker {
 public:
  Checker(const Document& document, Structure& out, Problems& problems)
      : doc_(document), out_(out), problems_(problems) {}

  bool run() {
    // What is found wrong in one step makes no sense of the next.
    if (!check_nodes() || !check_rows()) return false;
    check_entries();
    check_arguments();
    check_columns();
    if (!problems_.any()) check_order();
    return !problems_.any();
  }

 private:
  Location where(size_t node, Position at) const { return location_of(doc_, node, at); }
  Location where(size_t node) const { return where(node, doc_.nodes[node].at); }

  // --- Nodes -------------------------------------------------------------------------------------

  bool check_nodes() {
    if (doc_.nodes.size() > kMostNodes) {
      problems_.error(doc_.at, "graph-limit",
                      fmt::format("the graph has {} nodes, but the limit is {}", doc_.nodes.size(), kMostNodes));
      return false;
    }
    std::unordered_map<std::string, size_t> names;
    for (size_t i = 0; i < doc_.nodes.size(); ++i) {
      const Node& node = doc_.nodes[i];
      out_.results.push_back(1);
      if (node.attributes.size() > kMostAttributes) {
        problems_.error(
            node.at, "graph-limit",
            fmt::format("the node has {} attributes, but the limit is {}", node.attributes.size(), kMostAttributes));
        return false;
      }
      if (node.op == "tvm_op") {
        check_operator(i);
      } else if (node.op != "null") {
        problems_
            .error(where(i, node.op_at), "graph-op",
                   fmt::format("unknown kind of node '{}'", escape_for_display(node.op)))
            .help("TVM's graphs have 'null' for arguments and 'tvm_op' for operators");
      } else if (!node.inputs.empty()) {
        problems_.error(where(i, node.inputs[0].at), "graph-op", "an argument has inputs");
      }
      auto [first, fresh] = names.emplace(node.name, i);
      if (!fresh)
        problems_.error(where(i, node.name_at), "graph-name",
                        fmt::format("node {} has this name already", first->second));
    }
    return !problems_.any();
  }

  // An attribute that is a number within [least, most]; `otherwise` where it is missing, if given.
  int64_t attribute(size_t i, const char* name, int64_t least, int64_t most, std::optional<int64_t> otherwise) {
    const Node& node = doc_.nodes[i];
    const Attribute* found = node.find(name);
    if (!found) {
      if (!otherwise) problems_.error(where(i), "graph-op", fmt::format("attribute '{}' is missing", name));
      return otherwise.value_or(least);
    }
    auto value = number_of(found->value);
    if (value && *value >= least && *value <= most) return *value;
    problems_.error(where(i, found->at), "graph-op",
                    fmt::format("attribute '{0}' must be a number from {2} to {3}, but it is '{1}'", name,
                                escape_for_display(found->value), least, most));
    return otherwise.value_or(least);
  }

  void check_operator(size_t i) {
    const Node& node = doc_.nodes[i];
    int64_t inputs = static_cast<int64_t>(node.inputs.size());
    out_.results[i] = attribute(i, "num_outputs", 1, kMostResults, std::nullopt);
    int64_t announced = attribute(i, "num_inputs", 0, INT32_MAX, inputs);
    (void)attribute(i, "flatten_data", 0, 1, 0);
    if (announced != inputs)
      problems_.error(where(i, node.find("num_inputs")->at), "graph-op",
                      fmt::format("num_inputs is {}, but the node lists {} inputs", announced, inputs));
    const Attribute* symbol = node.find("func_name");
    if (!symbol) {
      problems_.error(where(i), "graph-op", "attribute 'func_name' is missing");
    } else if (is_transfer(symbol->value)) {
      if (inputs != 1 || out_.results[i] != 1)
        problems_.error(where(i), "graph-op",
                        fmt::format("{} must have 1 input and 1 result, but it has {} and {}", symbol->value, inputs,
                                    out_.results[i]));
    } else if (!ops::is_c_symbol(symbol->value)) {
      problems_.error(where(i, symbol->at), "graph-op",
                      fmt::format("'{}' cannot be the name of a C function", escape_for_display(symbol->value)));
    }
  }

  // --- Entries -----------------------------------------------------------------------------------

  bool check_rows() {
    out_.rows.push_back(0);
    for (int64_t n : out_.results) out_.rows.push_back(out_.rows.back() + n);
    if (!doc_.node_row_ptr) return true;
    const std::vector<Number>& given = *doc_.node_row_ptr;
    if (given.size() != out_.rows.size()) {
      problems_.error(given.empty() ? doc_.at : given.back().at, "graph-index",
                      fmt::format("node_row_ptr has {} numbers, but {} nodes need {}", given.size(), doc_.nodes.size(),
                                  out_.rows.size()));
      return false;
    }
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      if (given[i].value == out_.rows[i]) continue;
      problems_.error(given[i].at, "graph-index",
                      fmt::format("node_row_ptr[{}] is {}, but the nodes before have {} results in total", i,
                                  given[i].value, out_.rows[i]));
      return false;  // all that follow are wrong as well
    }
    return true;
  }

  bool node_exists(int64_t node) const { return node >= 0 && static_cast<uint64_t>(node) < doc_.nodes.size(); }

  // What is wrong with a reference to a result; empty if nothing is.
  std::string bad_entry(int64_t node, int64_t index) const {
    if (!node_exists(node))
      return fmt::format("there is no node {}; the last node is {}", node, static_cast<int64_t>(doc_.nodes.size()) - 1);
    int64_t results = out_.results[static_cast<size_t>(node)];
    if (index >= 0 && index < results) return "";
    return fmt::format("node {0} has {1} results, but the graph refers to its result {2}", node, results, index);
  }

  // `user`: the node that refers to it, if one does.
  bool check_entry(int64_t node, int64_t index, Position at, std::optional<size_t> user) {
    std::string bad = bad_entry(node, index);
    if (bad.empty()) return true;
    problems_.error(user ? where(*user, at) : problems_.where(at), "graph-index", bad);
    return false;
  }

  void check_entries() {
    for (size_t i = 0; i < doc_.nodes.size(); ++i) {
      for (const Entry& e : doc_.nodes[i].inputs) check_entry(e.node, e.index, e.at, i);
      if (!doc_.nodes[i].control_deps) continue;
      for (const Number& n : *doc_.nodes[i].control_deps) check_entry(n.value, 0, n.at, i);
    }
    if (doc_.heads.empty()) problems_.error(doc_.at, "graph-form", "the graph has no heads");
    for (const Entry& e : doc_.heads) check_entry(e.node, e.index, e.at, std::nullopt);
  }

  void check_arguments() {
    std::vector<bool> listed(doc_.nodes.size());
    for (const Number& n : doc_.arg_nodes) {
      if (!check_entry(n.value, 0, n.at, std::nullopt)) continue;
      size_t node = static_cast<size_t>(n.value);
      if (!is_argument(doc_.nodes[node]))
        problems_.error(where(node, n.at), "graph-argument", "arg_nodes lists a node that is not an argument");
      else if (listed[node]) problems_.error(where(node, n.at), "graph-argument", "arg_nodes lists a node twice");
      listed[node] = true;
    }
    for (size_t i = 0; i < doc_.nodes.size(); ++i)
      if (is_argument(doc_.nodes[i]) && !listed[i])
        problems_.error(where(i), "graph-argument", "arg_nodes does not list this argument");
  }

  // --- Columns -----------------------------------------------------------------------------------

  void check_columns() {
    out_.dltype = check_column("dltype", "list_str", true);
    out_.shape = check_column("shape", "list_shape", true);
    out_.storage_id = check_column("storage_id", "list_int", false);
    out_.device_index = check_column("device_index", "list_int", false);
  }

  const Column* check_column(const char* name, const char* type, bool needed) {
    const Column* column = doc_.column(name);
    if (!column) {
      if (needed) problems_.error(doc_.at, "graph-column", fmt::format("column '{}' is missing", name));
      return nullptr;
    }
    int64_t count = static_cast<int64_t>(column->data.items.size());
    if (column->type != type)
      problems_.error(column->at, "graph-column",
                      fmt::format("column '{0}' must be of type '{2}', not '{1}'", column->name, column->type, type));
    else if (count != out_.rows.back())
      problems_.error(column->data.at, "graph-column",
                      fmt::format("column '{}' has {} entries, but the nodes have {} results", column->name, count,
                                  out_.rows.back()));
    return column;
  }

  // --- Order -------------------------------------------------------------------------------------

  std::vector<int64_t> before(size_t node) const {
    std::vector<int64_t> out;
    for (const Entry& e : doc_.nodes[node].inputs) out.push_back(e.node);
    if (doc_.nodes[node].control_deps)
      for (const Number& n : *doc_.nodes[node].control_deps) out.push_back(n.value);
    return out;
  }

  // TVM runs nodes in the order they are listed in.
  void check_order() {
    std::vector<size_t> early;  // nodes that read one that is not yet computed
    for (size_t i = 0; i < doc_.nodes.size(); ++i)
      for (int64_t from : before(i))
        if (from >= static_cast<int64_t>(i) && (early.empty() || early.back() != i)) early.push_back(i);
    if (early.empty()) return;
    std::vector<size_t> cycle = find_cycle();
    if (cycle.empty()) {
      for (size_t i : early) problems_.error(where(i), "graph-order", "the node reads a node that is listed after it");
      return;
    }
    Diagnostic& d =
        problems_.error(where(cycle[0]), "graph-cycle",
                        cycle.size() == 1 ? "the node reads its own result" : "the node depends on its own result");
    constexpr size_t kShown = 8;
    for (size_t i = 1; i < std::min(cycle.size(), kShown); ++i)
      d.note(fmt::format("through node {} '{}'", cycle[i], escape_for_display(doc_.nodes[cycle[i]].name)));
    if (cycle.size() > kShown) d.note(fmt::format("and {} more", cycle.size() - kShown));
  }

  // Nodes of one cycle, the one listed first in front, then what it reads and so on; empty if there
  // is none. What is left after all nodes whose inputs are known have gone is on a cycle or behind
  // one.
  std::vector<size_t> find_cycle() const {
    size_t count = doc_.nodes.size();
    std::vector<size_t> waiting(count), ready;
    std::vector<std::vector<size_t>> users(count);
    for (size_t i = 0; i < count; ++i) {
      for (int64_t from : before(i)) {
        users[static_cast<size_t>(from)].push_back(i);
        ++waiting[i];
      }
      if (waiting[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      size_t i = ready.back();
      ready.pop_back();
      for (size_t user : users[i])
        if (--waiting[user] == 0) ready.push_back(user);
    }
    auto start = std::find_if(waiting.begin(), waiting.end(), [](size_t n) { return n > 0; });
    if (start == waiting.end()) return {};
    // Going from node to a node it waits for must come round.
    std::vector<size_t> path, at(count, count);
    size_t i = static_cast<size_t>(start - waiting.begin());
    while (at[i] == count) {
      at[i] = path.size();
      path.push_back(i);
      for (int64_t from : before(i))
        if (waiting[static_cast<size_t>(from)] > 0) i = static_cast<size_t>(from);
    }
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(at[i]));
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    return path;
  }

  const Document& doc_;
  Structure& out_;
  Problems& problems_;
};

}  // namespace

bool check_structure(const Document& document, Structure& out, Problems& problems) {
  return Checker(document, out, problems).run();
}

Location location_of(const Document& document, size_t node, Position at) {
  const Node& n = document.nodes[node];
  const Attribute* symbol = n.find("func_name");
  Location out;
  out.file = document.file;
  out.line = at.line;
  out.column = at.column;
  out.op_index = static_cast<int>(node);
  out.op_type = is_argument(n) ? "argument" : symbol ? symbol->value : n.op;
  out.tensor = n.name;
  return out;
}

}  // namespace aotc::graph_json
