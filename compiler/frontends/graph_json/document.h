// SPDX-License-Identifier: Apache-2.0
// Document: the graph JSON of TVM's graph executor, split into nodes, arguments, heads (outputs) and columns, each with
// its position in the text. This file checks only that each key has a value of the right kind; reader.h interprets the
// values. Unknown keys are preserved, so printing a document that was read gives the same JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontends/graph_json/json.h"

namespace aotc::graph_json {

// A number in a list.
struct Number {
  int64_t value = 0;
  Position at;
};

// A result of a node: [node, index] or [node, index, version].
struct Entry {
  int64_t node = 0;
  int64_t index = 0;
  std::optional<int64_t> version;
  Position at;
};

struct Attribute {
  std::string name;
  std::string value;
  Position at;  // of the value
};

struct Node {
  std::string op;  // "null" for arguments, "tvm_op"
  std::string name;
  std::string attributes_key;  // "attrs", in older files "attr"; empty: no attributes
  std::vector<Attribute> attributes;
  std::vector<Entry> inputs;
  std::optional<std::vector<Number>> control_deps;
  Json others = Json::object();  // unknown keys of the node
  Position at, op_at, name_at;

  const Attribute* find(std::string_view attribute) const;
};

// A column: one value for each result of each node, in the order of the nodes. In JSON: ["list_int", [...]].
struct Column {
  std::string name;  // as spelled in the file: "dltype" or an older name
  std::string type;  // "list_str", "list_int", "list_shape"; columns of other types are only copied to the output
  Json data;         // a list if `type` is one of the three above
  Position at;
};

struct Document {
  std::string file;
  std::vector<Node> nodes;
  std::vector<Number> arg_nodes;
  std::vector<Entry> heads;
  std::vector<Column> columns;
  std::optional<std::vector<Number>> node_row_ptr;
  Json others = Json::object();
  Position at;

  // Finds the column "dltype", "shape", "storage_id" or "device_index", also under an older name; null if missing.
  const Column* column(std::string_view name) const;
};

// Reports [graph-syntax], [graph-limit], and [graph-form] for each problem of form, up to a limit.
Result<Document> read_document(const std::string& text, const std::string& file, Diagnostics& diags);

// Prints in TVM's style: a file that TVM wrote is reproduced byte for byte.
std::string print_document(const Document& document);

}  // namespace aotc::graph_json
