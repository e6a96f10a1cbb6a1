// SPDX-License-Identifier: Apache-2.0
// Source: the state that the parts of the TFLite reader share: the verified file, the current subgraph and the limits.
// FlatBuffers' verifier proves only that offsets stay inside the file. Indices, sizes and counts in the file are still
// untrusted, and any vector may be missing (null). Many tables may share one vector, so every copy is charged to a
// budget.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tflite/rules.h"
#include "graph/graph.h"
#include "ops/external/given.h"
#include "support/diagnostics.h"
#include "support/file_bytes.h"
#include "tflite_schema_generated.h"

namespace aotc::frontends {

namespace limits {
inline constexpr int kMaxTables = 500'000;     // FlatBuffers tables in a file
inline constexpr size_t kMaxTensors = 50'000;  // per subgraph
inline constexpr size_t kMaxOperators = 20'000;
inline constexpr size_t kMaxPorts = 1000;  // limit on inputs, on outputs and on entries of a signature
inline constexpr size_t kMaxRank = 8;
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 26;
inline constexpr int kMaxErrors = 50;      // the reader stops after this many errors
inline constexpr size_t kMaxListed = 100;  // unsupported operators listed one by one
}  // namespace limits

// Budget: the bytes that may still be copied. A file in which many tables refer to the same bytes exhausts it.
inline constexpr uint64_t kMostReads = 16;  // budget for reads of constants, as a multiple of the file's size

class Budget {
 public:
  explicit Budget(uint64_t bytes) : left_(bytes) {}
  [[nodiscard]] bool take(uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void add(uint64_t bytes) { left_ += bytes; }

 private:
  uint64_t left_;
};

// The builtin code of an operator. A code below 127 may be in the old 8-bit field, in the new field, or in both.
inline int builtin_of(const tflite_schema::OperatorCode& code) {
  return std::max<int>(code.builtin_code(), code.deprecated_builtin_code());
}

// The operators of a model that copy stored values between tensors of different quantisation, for one warning.
struct StoredScales {
  int operators = 0;
  int last_subgraph = -1, last_op = -1;  // the operator that was counted last, because an operator may be read twice
  Location first;
  std::string text;  // the two quantisations of the first operator
};

struct Source {
  std::string file;
  FileBytes bytes;
  const tflite_schema::Model* model = nullptr;
  const tflite_schema::SubGraph* subgraph = nullptr;
  int subgraph_index = 0;
  int depth = 0;                                           // nesting depth: number of regions around it
  const tflite_schema::SignatureDef* signature = nullptr;  // null: the subgraph has no signature
  const tflite::RuleTable* rules = nullptr;                // the import rules
  const ops::GivenOperators* given = nullptr;              // custom operators that the user supplies, or null
  Diagnostics* diags = nullptr;
  int errors_before = 0;  // number of errors in `diags` before reading began
  // Input shapes that the user specified; they replace the file's. Key: tensor index in the subgraph.
  std::map<int, graph::Shape> shapes;
  Budget copies{0};     // for names, scales and operand lists
  Budget constants{0};  // for bytes of constants and scales, counted at each use
  StoredScales scales;

  // The builtin code of an operator; -1 if it has none.
  int builtin_of(const tflite_schema::Operator& op) const {
    const auto* codes = model->operator_codes();
    if (codes == nullptr || op.opcode_index() >= codes->size()) return -1;
    return frontends::builtin_of(*codes->Get(op.opcode_index()));
  }

  Location where() const {
    Location at;
    at.file = file;
    at.subgraph = subgraph_index;
    return at;
  }
  Location where_tensor(std::string name) const {
    Location at = where();
    at.tensor = std::move(name);
    return at;
  }
  // True if there are too many errors to continue.
  bool out_of_patience() const { return diags->error_count() - errors_before >= limits::kMaxErrors; }
};

template <typename T>
size_t length(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// Reads an element of a vector at any address: the verifier does not check the alignment of numbers over 4 bytes.
template <typename T>
T unaligned_element(const flatbuffers::Vector<T>& vector, size_t index) {
  T value;
  std::memcpy(&value, vector.Data() + index * sizeof(T), sizeof(T));
  return flatbuffers::EndianScalar(value);
}

// The first `limit` bytes of a string; "" if it is missing. The limit is needed because many tables may share one long
// string.
inline std::string text_of(const flatbuffers::String* text, size_t limit) {
  return text == nullptr ? "" : std::string(text->c_str(), std::min<size_t>(text->size(), limit));
}

// The tensor's name in the model, or "tensor_N" if the name is missing or too long.
inline std::string tensor_name(const tflite_schema::SubGraph& subgraph, int index) {
  constexpr size_t kLongest = 4096;
  if (index >= 0 && static_cast<size_t>(index) < length(subgraph.tensors())) {
    const auto* name = subgraph.tensors()->Get(static_cast<flatbuffers::uoffset_t>(index))->name();
    if (name != nullptr && name->size() > 0 && name->size() <= kLongest) return name->str();
  }
  return "tensor_" + std::to_string(index);
}

// Appends a copy of a diagnostic from another sink.
inline void append(Diagnostics& to, const Diagnostic& d) {
  Diagnostic& copy = d.severity == Severity::kError ? to.error(d.location, d.slug, d.message)
                                                    : to.warning(d.location, d.slug, d.message);
  copy.notes = d.notes;
  copy.helps = d.helps;
}

// The help text for a file that contradicts itself; no converter writes such a file.
inline constexpr const char* kDamaged = "the file is damaged; export the model again";

// Reports [tflite-invalid]; returns false.
inline bool damaged(Diagnostics& told, const Location& at, std::string message) {
  told.error(at, "tflite-invalid", std::move(message)).help(kDamaged);
  return false;
}

// Reports that a budget is exhausted.
inline void report_aliasing(Diagnostics& diags, const Location& at) {
  diags.error(at, "tflite-limit", "many tables of the file refer to the same data")
      .help("export the model again; no converter writes such a file");
}

inline void report_empty(Diagnostics& diags, const Location& at, const graph::Shape& shape) {
  diags.error(at, "tflite-shape", "the tensor has no elements (shape " + graph::to_string(shape) + ")")
      .help("export the model with a fixed input shape whose dimensions are at least 1");
}

}  // namespace aotc::frontends
