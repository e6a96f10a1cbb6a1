// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace aotc::frontends::onnx {

namespace {

// Reads messages into structs that may hold fields already: a message that is there twice is one.
class MessageReader {
 public:
  bool model(Bytes bytes, Model& out);

  const char* problem() const { return problem_; }
  bool too_much() const { return too_much_; }

 private:
  // each(field) for every field; false if the bytes are no message, or `each` says so.
  template <typename Each>
  bool fields(Bytes bytes, const char* what, Each each);
  // A message within a message of the same list.
  template <typename T, typename Read>
  bool append(std::vector<T>& to, const Field& field, Read read);
  bool integers(const Field& field, std::vector<int64_t>& to);
  bool reals(const Field& field, std::vector<float>& to);

  bool graph(Bytes bytes, Graph& out);
  bool node(Bytes bytes, Node& out);
  bool attribute(Bytes bytes, Attribute& out);
  bool tensor(Bytes bytes, Tensor& out);
  bool value_info(Bytes bytes, ValueInfo& out);
  bool type(Bytes bytes, ValueInfo& out);
  bool tensor_type(Bytes bytes, ValueInfo& out);
  bool dimension(Bytes bytes, Dimension& out);
  bool opset(Bytes bytes, Opset& out);
  bool function(Bytes bytes, Function& out);

  bool fail(const char* problem) {
    if (problem_ == nullptr) problem_ = problem;
    return false;
  }
  bool exhausted() {
    too_much_ = true;
    return fail("the file has too many messages, or nests messages too deeply");
  }

  const char* problem_ = nullptr;
  bool too_much_ = false;
  int messages_ = 0;
  int64_t numbers_ = 0;
  int depth_ = 0;
};

template <typename Each>
bool MessageReader::fields(Bytes bytes, const char* what, Each each) {
  if (++messages_ > limits::kMaxMessages) return exhausted();
  WireReader reader(bytes);
  Field field;
  while (reader.next(field))
    if (!each(field)) return fail(what);
  return !reader.damaged() || fail(what);
}

template <typename T, typename Read>
bool MessageReader::append(std::vector<T>& to, const Field& field, Read read) {
  if (field.wire != Wire::kBytes) return false;
  to.emplace_back();
  return (this->*read)(field.bytes, to.back());
}

// A list may be packed, or one field a number; both are legal for any reader.
bool MessageReader::integers(const Field& field, std::vector<int64_t>& to) {
  if (field.wire == Wire::kVarint) {
    to.push_back(field.integer());
    return ++numbers_ <= limits::kMaxNumbers || exhausted();
  }
  if (field.wire != Wire::kBytes) return false;
  WireReader reader(field.bytes);
  uint64_t value = 0;
  while (reader.next_varint(value)) {
    if (++numbers_ > limits::kMaxNumbers) return exhausted();
    to.push_back(static_cast<int64_t>(value));
  }
  return !reader.damaged();
}

bool MessageReader::reals(const Field& field, std::vector<float>& to) {
  if (field.wire != Wire::kBytes && field.wire != Wire::kFixed32) return false;
  if (field.bytes.size() % 4 != 0) return false;
  for (size_t at = 0; at < field.bytes.size(); at += 4) {
    if (++numbers_ > limits::kMaxNumbers) return exhausted();
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; ++i) bits |= uint32_t{field.bytes[at + i]} << (8 * i);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    to.push_back(value);
  }
  return true;
}

bool MessageReader::model(Bytes bytes, Model& out) {
  return fields(bytes, "the model", [&](const Field& f) {
    switch (f.number) {
      case 1: out.ir_version = f.integer(); return true;
      case 2: out.producer = f.text(); return true;
      case 7: out.has_graph = true; return f.wire == Wire::kBytes && graph(f.bytes, out.graph);
      case 8: return append(out.opsets, f, &MessageReader::opset);
      case 25: return append(out.functions, f, &MessageReader::function);
      default: return true;
    }
  });
}

bool MessageReader::opset(Bytes bytes, Opset& out) {
  return fields(bytes, "the list of operator sets", [&](const Field& f) {
    if (f.number == 1) out.domain = f.text();
    if (f.number == 2) out.version = f.integer();
    return true;
  });
}

bool MessageReader::function(Bytes bytes, Function& out) {
  return fields(bytes, "a function", [&](const Field& f) {
    switch (f.number) {
      case 1: out.name = f.text(); return true;
      case 4: out.inputs.push_back(f.text()); return true;
      case 5: out.outputs.push_back(f.text()); return true;
      case 7: return append(out.nodes, f, &MessageReader::node);
      case 9: return append(out.opsets, f, &MessageReader::opset);
      case 10: out.domain = f.text(); return true;
      case 11: return append(out.defaults, f, &MessageReader::attribute);
      case 13: out.overload = f.text(); return true;
      default: return true;
    }
  });
}

bool MessageReader::graph(Bytes bytes, Graph& out) {
  if (++depth_ > limits::kMaxDepth) return exhausted();
  bool good = fields(bytes, "a graph", [&](const Field& f) {
    switch (f.number) {
      case 1: return append(out.nodes, f, &MessageReader::node);
      case 2: out.name = f.text(); return true;
      case 5: return append(out.initializers, f, &MessageReader::tensor);
      case 11: return append(out.inputs, f, &MessageReader::value_info);
      case 12: return append(out.outputs, f, &MessageReader::value_info);
      case 13: return append(out.values, f, &MessageReader::value_info);
      case 15: out.sparse = true; return true;
      default: return true;
    }
  });
  --depth_;
  return good;
}

bool MessageReader::node(Bytes bytes, Node& out) {
  return fields(bytes, "an operator", [&](const Field& f) {
    switch (f.number) {
      case 1: out.inputs.push_back(f.text()); return ++messages_ <= limits::kMaxMessages || exhausted();
      case 2: out.outputs.push_back(f.text()); return ++messages_ <= limits::kMaxMessages || exhausted();
      case 3: out.name = f.text(); return true;
      case 4: out.type = f.text(); return true;
      case 5: return append(out.attributes, f, &MessageReader::attribute);
      case 7: out.domain = f.text(); return true;
      case 8: out.overload = f.text(); return true;
      default: return true;
    }
  });
}

bool MessageReader::attribute(Bytes bytes, Attribute& out) {
  return fields(bytes, "an attribute", [&](const Field& f) {
    switch (f.number) {
      case 1: out.name = f.text(); return true;
      case 2: out.f = f.real(); return true;
      case 3: out.i = f.integer(); return true;
      case 4: out.s = f.text(); return true;
      case 5:
        if (!out.tensor) out.tensor = std::make_shared<Tensor>();
        return f.wire == Wire::kBytes && tensor(f.bytes, *out.tensor);
      case 6:
        if (!out.graph) out.graph = std::make_shared<Graph>();
        return f.wire == Wire::kBytes && graph(f.bytes, *out.graph);
      case 7: return reals(f, out.floats);
      case 8: return integers(f, out.ints);
      case 9: out.strings.push_back(f.text()); return ++messages_ <= limits::kMaxMessages || exhausted();
      case 20: out.kind = static_cast<int32_t>(f.integer()); return true;
      case 21: out.reference = f.text(); return true;
      case 10:
      case 11:
      case 14:
      case 15:
      case 22:
      case 23: out.other = true; return true;
      default: return true;
    }
  });
}

bool MessageReader::tensor(Bytes bytes, Tensor& out) {
  // Runs are not taken apart here; `append_run` only keeps where they are.
  auto append_run = [&](Runs& runs, const Field& f) {
    if (++numbers_ > limits::kMaxNumbers) return exhausted();
    runs.push_back(f.bytes);
    return true;
  };
  return fields(bytes, "a tensor", [&](const Field& f) {
    switch (f.number) {
      case 1: return integers(f, out.dims);
      case 2: out.type = static_cast<int32_t>(std::clamp<int64_t>(f.integer(), 0, 1 << 20)); return true;
      case 3: out.segmented = true; return true;
      case 4: return append_run(out.floats, f);
      case 5: return append_run(out.ints, f);
      case 6: out.strings.push_back(f.text()); return ++messages_ <= limits::kMaxMessages || exhausted();
      case 7: return append_run(out.longs, f);
      case 8: out.name = f.text(); return true;
      case 9:
        out.has_raw = true;
        out.raw = f.bytes;
        return f.wire == Wire::kBytes;
      case 10: return append_run(out.doubles, f);
      case 11: return append_run(out.unsigned_longs, f);
      case 13: {
        std::pair<std::string_view, std::string_view> entry;
        bool good = fields(f.bytes, "an entry of external data", [&](const Field& e) {
          if (e.number == 1) entry.first = e.text();
          if (e.number == 2) entry.second = e.text();
          return true;
        });
        out.external_keys.push_back(entry);
        return f.wire == Wire::kBytes && good;
      }
      case 14: out.external = f.value == 1; return true;
      default: return true;
    }
  });
}

bool MessageReader::value_info(Bytes bytes, ValueInfo& out) {
  return fields(bytes, "the description of a value", [&](const Field& f) {
    if (f.number == 1) out.name = f.text();
    return f.number != 2 || (f.wire == Wire::kBytes && type(f.bytes, out));
  });
}

bool MessageReader::type(Bytes bytes, ValueInfo& out) {
  return fields(bytes, "the type of a value", [&](const Field& f) {
    if (f.number == 1) {
      out.kind = ValueInfo::Kind::kTensor;
      return f.wire == Wire::kBytes && tensor_type(f.bytes, out);
    }
    if (f.number != 6) out.kind = ValueInfo::Kind::kOther;
    return true;
  });
}

bool MessageReader::tensor_type(Bytes bytes, ValueInfo& out) {
  return fields(bytes, "the type of a tensor", [&](const Field& f) {
    if (f.number == 1) out.type = static_cast<int32_t>(std::clamp<int64_t>(f.integer(), 0, 1 << 20));
    if (f.number != 2) return true;
    out.has_shape = true;
    return f.wire == Wire::kBytes && fields(f.bytes, "a shape", [&](const Field& d) {
             return d.number != 1 || append(out.dims, d, &MessageReader::dimension);
           });
  });
}

bool MessageReader::dimension(Bytes bytes, Dimension& out) {
  return fields(bytes, "a dimension", [&](const Field& f) {
    if (f.number == 1) out.value = f.integer() < 0 ? std::nullopt : std::optional(f.integer());
    if (f.number == 2) out.name = f.text();
    return true;
  });
}

}  // namespace

std::string element_type_name(int32_t type) {
  static constexpr std::string_view kNames[] = {
      "UNDEFINED", "FLOAT",      "UINT8",      "INT8",         "UINT16",         "INT16",      "INT32",
      "INT64",     "STRING",     "BOOL",       "FLOAT16",      "DOUBLE",         "UINT32",     "UINT64",
      "COMPLEX64", "COMPLEX128", "BFLOAT16",   "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
      "UINT4",     "INT4",       "FLOAT4E2M1", "FLOAT8E8M0"};
  if (type >= 0 && static_cast<size_t>(type) < std::size(kNames)) return std::string(kNames[static_cast<size_t>(type)]);
  return fmt::format("element type {}", type);
}

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& a : attributes)
    if (a.name == attribute) return &a;
  return nullptr;
}

// A model has a version, a graph and operator sets, and no other message with these has such
// numbers.
bool is_onnx(Bytes bytes) {
  WireReader reader(bytes);
  Field field;
  bool version = false, graph = false, opsets = false;
  while (reader.next(field)) {
    version |= field.number == 1 && field.wire == Wire::kVarint;
    graph |= field.number == 7 && field.wire == Wire::kBytes;
    opsets |= field.number == 8 && field.wire == Wire::kBytes;
    if (field.number > 30) return false;
  }
  return !reader.damaged() && version && graph && opsets;
}

Result<Model> read_messages(Bytes bytes, const Location& where, Diagnostics& diags) {
  Model model;
  MessageReader reader;
  if (reader.model(bytes, model)) return model;
  if (reader.too_much()) {
    diags.error(where, "onnx-limit", "the file has too many protobuf messages, or nests them too deeply")
        .help("export the model again, with the weights as raw data");
  } else {
    diags.error(where, "onnx-invalid", fmt::format("{} is damaged", reader.problem()))
        .help("the file is damaged; export the model again");
  }
  return kFailure;
}

}  // namespace aotc::frontends::onnx
