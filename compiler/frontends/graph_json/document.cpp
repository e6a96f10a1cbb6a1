// SPDX-License-Identifier: Apache-2.0
#include "frontends/graph_json/document.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontends/graph_json/problems.h"

namespace aotc::graph_json {

namespace {

using Kind = Json::Kind;
constexpr char kForm[] = "graph-form";

// Spellings of columns; the first is the one of today.
constexpr std::string_view kKeySpellings[][2] = {
    {"dltype", "dtype"}, {"shape", "shape"}, {"storage_id", "storage_id"}, {"device_index", "device_type"}};

bool is_list_type(std::string_view type) { return type == "list_str" || type == "list_int" || type == "list_shape"; }

class DocumentReader {
 public:
  DocumentReader(const std::string& file, Diagnostics& diags) : problems_(file, diags) { document_.file = file; }

  Result<Document> read(const Json& root) {
    document_.at = root.at;
    if (expect(root, Kind::kObject, "the graph")) read_members(root);
    if (problems_.any()) return problems_.finish();
    return std::move(document_);
  }

 private:
  bool expect(const Json& value, Kind kind, const std::string& what) {
    if (value.is(kind)) return true;
    Json wanted;
    wanted.kind = kind;
    problems_.error(value.at, kForm, fmt::format("{} must be {}, not {}", what, wanted.kind_name(), value.kind_name()));
    return false;
  }

  void read_members(const Json& root) {
    for (const char* key : {"nodes", "arg_nodes", "heads", "attrs"})
      if (!root.find(key)) problems_.error(root.at, kForm, fmt::format("the graph has no \"{}\"", key));
    for (size_t i = 0; i < root.keys.size(); ++i) {
      const std::string& key = root.keys[i];
      const Json& value = root.items[i];
      if (key == "nodes") {
        if (!expect(value, Kind::kArray, "\"nodes\"")) continue;
        for (const Json& node : value.items) read_node(node);
      } else if (key == "arg_nodes") {
        document_.arg_nodes = read_numbers(value, "\"arg_nodes\"");
      } else if (key == "heads") {
        document_.heads = read_entries(value, "\"heads\"");
      } else if (key == "node_row_ptr") {
        document_.node_row_ptr = read_numbers(value, "\"node_row_ptr\"");
      } else if (key == "attrs") {
        if (!expect(value, Kind::kObject, "\"attrs\"")) continue;
        for (size_t c = 0; c < value.keys.size(); ++c) read_column(value.keys[c], value.items[c]);
      } else {
        document_.others.add(key, value);
      }
    }
  }

  void read_node(const Json& json) {
    std::string what = fmt::format("node {}", document_.nodes.size());
    Node& node = document_.nodes.emplace_back();
    node.at = json.at;
    if (!expect(json, Kind::kObject, what)) return;
    for (const char* key : {"op", "name", "inputs"})
      if (!json.find(key)) problems_.error(json.at, kForm, fmt::format("{} has no \"{}\"", what, key));
    for (size_t i = 0; i < json.keys.size(); ++i) {
      const std::string& key = json.keys[i];
      const Json& value = json.items[i];
      std::string of = fmt::format("\"{}\" of {}", escape_for_display(key), what);
      if (key == "op" || key == "name") {
        if (!expect(value, Kind::kString, of)) continue;
        (key == "op" ? node.op : node.name) = value.text;
        (key == "op" ? node.op_at : node.name_at) = value.at;
      } else if (key == "inputs") {
        node.inputs = read_entries(value, of);
      } else if (key == "control_deps") {
        node.control_deps = read_numbers(value, of);
      } else if ((key == "attrs" || key == "attr") && node.attributes_key.empty()) {
        node.attributes_key = key;
        read_attributes(value, of, node);
      } else {
        node.others.add(key, value);
      }
    }
  }

  void read_attributes(const Json& json, const std::string& what, Node& node) {
    if (!expect(json, Kind::kObject, what)) return;
    for (size_t i = 0; i < json.keys.size(); ++i)
      if (expect(json.items[i], Kind::kString, fmt::format("attribute '{}'", escape_for_display(json.keys[i]))))
        node.attributes.push_back({json.keys[i], json.items[i].text, json.items[i].at});
  }

  std::optional<int64_t> integer(const Json& json, const std::string& what) {
    auto value = json.integer();
    if (!value)
      problems_.error(json.at, kForm, fmt::format("{} contains {} instead of an integer", what, json.kind_name()));
    return value;
  }

  std::vector<Number> read_numbers(const Json& json, const std::string& what) {
    std::vector<Number> out;
    if (!expect(json, Kind::kArray, what)) return out;
    for (const Json& item : json.items)
      if (auto value = integer(item, what)) out.push_back({*value, item.at});
    return out;
  }

  std::vector<Entry> read_entries(const Json& json, const std::string& what) {
    std::vector<Entry> out;
    if (!expect(json, Kind::kArray, what)) return out;
    for (const Json& item : json.items) {
      if (!item.is(Kind::kArray) || item.items.size() < 2 || item.items.size() > 3) {
        problems_.error(item.at, kForm, fmt::format("{} has an element that is not [node, index, version]", what));
        continue;
      }
      auto node = integer(item.items[0], what), index = integer(item.items[1], what);
      if (!node || !index) continue;
      Entry& entry = out.emplace_back(Entry{*node, *index, std::nullopt, item.at});
      if (item.items.size() == 3) entry.version = integer(item.items[2], what);
    }
    return out;
  }

  void read_column(const std::string& name, const Json& json) {
    std::string what = fmt::format("column '{}'", escape_for_display(name));
    bool pair = json.is(Kind::kArray) && json.items.size() == 2 && json.items[0].is(Kind::kString);
    if (!pair) {
      problems_.error(json.at, kForm, fmt::format("{} is not [type, values]", what));
      return;
    }
    Column column{name, json.items[0].text, json.items[1], json.at};
    if (is_list_type(column.type)) (void)expect(column.data, Kind::kArray, "the values of " + what);
    document_.columns.push_back(std::move(column));
  }

  Document document_;
  Problems problems_;
};

Json to_json(const std::vector<Number>& numbers) {
  Json out = Json::array();
  for (const Number& n : numbers) out.items.push_back(Json::number(n.value));
  return out;
}

Json to_json(const std::vector<Entry>& entries) {
  Json out = Json::array();
  for (const Entry& e : entries) {
    Json& item = out.items.emplace_back(Json::array());
    item.items.push_back(Json::number(e.node));
    item.items.push_back(Json::number(e.index));
    if (e.version) item.items.push_back(Json::number(*e.version));
  }
  return out;
}

void add_others(Json& to, const Json& others) {
  for (size_t i = 0; i < others.keys.size(); ++i) to.add(others.keys[i], others.items[i]);
}

Json to_json(const Node& node) {
  Json out = Json::object();
  out.add("op", Json::string(node.op));
  out.add("name", Json::string(node.name));
  if (!node.attributes_key.empty()) {
    Json attributes = Json::object();
    for (const Attribute& a : node.attributes) attributes.add(a.name, Json::string(a.value));
    out.add(node.attributes_key, std::move(attributes));
  }
  out.add("inputs", to_json(node.inputs));
  if (node.control_deps) out.add("control_deps", to_json(*node.control_deps));
  add_others(out, node.others);
  return out;
}

// The text of a member of the whole, whose key and colon the caller writes.
std::string print_columns(const std::vector<Column>& columns) {
  std::string out = "{\n";
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& c = columns[i];
    out += "    " + print_json_compact(Json::string(c.name)) + ": [\n      " +
           print_json_compact(Json::string(c.type)) + ", \n      ";
    if (c.type == "list_shape" && c.data.is(Kind::kArray) && !c.data.items.empty()) {
      out += "[\n";
      for (size_t k = 0; k < c.data.items.size(); ++k) {
        out += "        ";
        print_json(c.data.items[k], 8, true, out);
        out += k + 1 < c.data.items.size() ? ", \n" : "\n";
      }
      out += "      ]";
    } else {
      print_json(c.data, 6, false, out);
    }
    out += i + 1 < columns.size() ? "\n    ], \n" : "\n    ]\n";
  }
  return columns.empty() ? "{}" : out + "  }";
}

}  // namespace

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& a : attributes)
    if (a.name == attribute) return &a;
  return nullptr;
}

const Column* Document::column(std::string_view name) const {
  for (const auto& spellings : kKeySpellings) {
    if (spellings[0] != name) continue;
    for (std::string_view spelling : spellings)
      for (const Column& c : columns)
        if (c.name == spelling && is_list_type(c.type)) return &c;
  }
  return nullptr;
}

Result<Document> read_document(const std::string& text, const std::string& file, Diagnostics& diags) {
  auto root = parse_json(text, file, diags);
  if (!root) return kFailure;
  return DocumentReader(file, diags).read(*root);
}

std::string print_document(const Document& document) {
  std::vector<std::pair<std::string, std::string>> members;
  auto add = [&](std::string key, const Json& value) {
    std::string text;
    print_json(value, 2, false, text);
    members.emplace_back(std::move(key), std::move(text));
  };
  Json nodes = Json::array();
  for (const Node& node : document.nodes) nodes.items.push_back(to_json(node));
  add("nodes", nodes);
  add("arg_nodes", to_json(document.arg_nodes));
  add("heads", to_json(document.heads));
  members.emplace_back("attrs", print_columns(document.columns));
  if (document.node_row_ptr) add("node_row_ptr", to_json(*document.node_row_ptr));
  for (size_t i = 0; i < document.others.keys.size(); ++i) add(document.others.keys[i], document.others.items[i]);
  std::string out = "{\n";
  for (size_t i = 0; i < members.size(); ++i)
    out += "  " + print_json_compact(Json::string(members[i].first)) + ": " + members[i].second +
           (i + 1 < members.size() ? ", \n" : "\n");
  return out + "}";
}

}  // namespace aotc::graph_json
