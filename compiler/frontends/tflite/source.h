// SPDX-License-Identifier: Apache-2.0
// What the parts of the TFLite reader share: the verified file, the subgraph being read and the
// limits. The one thing to know: FlatBuffers' verifier only proves that offsets stay inside the
// file. Any index, size or count found there is still untrusted, any vector may be missing (null),
// and many tables may share one vector, so everything that is copied is taken from a budget.
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
inline constexpr size_t kMaxPorts = 1000;  // inputs, outputs, entries of a signature
inline constexpr size_t kMaxRank = 8;
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 26;
inline constexpr int kMaxErrors = 50;      // the reader gives up after so many
inline constexpr size_t kMaxListed = 100;  // unsupported operators listed one by one
}  // namespace limits

// Bytes that may still be spent; a file whose tables alias each other runs out of it.
inline constexpr uint64_t kMostReads = 16;  // of each byte of constants

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

// Codes below 127 may stand in the old 8-bit field, the new one, or both.
inline int builtin_of(const tflite_schema::OperatorCode& code) {
  return std::max<int>(code.builtin_code(), code.deprecated_builtin_code());
}

// Operators that copy stored values between tensors of different quantisation.
struct StoredScales {
  int operators = 0;
  int last_subgraph = -1, last_op = -1;  // the operator that was counted last: it may be read twice
  Location first;
  std::string text;  // the two quantisations of the first
};

struct Source {
  std::string file;
  FileBytes bytes;
  const tflite_schema::Model* model = nullptr;
  const tflite_schema::SubGraph* subgraph = nullptr;
  int subgraph_index = 0;
  int depth = 0;                                           // of regions around the subgraph
  const tflite_schema::SignatureDef* signature = nullptr;  // null: the subgraph has none
  const tflite::RuleTable* rules = nullptr;                // what operators of the file become
  const ops::GivenOperators* given = nullptr;              // custom operators that the user gives, or null
  Diagnostics* diags = nullptr;
  int errors_before = 0;  // that the sink held when reading began
  // By tensor of the subgraph: shapes of inputs that the user gave instead of the file's.
  std::map<int, graph::Shape> shapes;
  Budget copies{0};     // names, scales, operand lists
  Budget constants{0};  // bytes of constants and scales, each counted as often as it is used
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
  // Too many errors to go on? Told once, by the reader's end.
  bool out_of_patience() const { return diags->error_count() - errors_before >= limits::kMaxErrors; }
};

template <typename T>
size_t length(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// Element of a vector of numbers wider than 4 bytes, whose alignment the verifier does not check.
template <typename T>
T unaligned_element(const flatbuffers::Vector<T>& vector, size_t index) {
  T value;
  std::memcpy(&value, vector.Data() + index * sizeof(T), sizeof(T));
  return flatbuffers::EndianScalar(value);
}

// Text of at most `limit` bytes; "" for a missing string. Strings may be long and shared by many.
inline std::string text_of(const flatbuffers::String* text, size_t limit) {
  return text == nullptr ? "" : std::string(text->c_str(), std::min<size_t>(text->size(), limit));
}

// A tensor's name as the model gives it, or "tensor_N" where it gives none or too long a one.
inline std::string tensor_name(const tflite_schema::SubGraph& subgraph, int index) {
  constexpr size_t kLongest = 4096;
  if (index >= 0 && static_cast<size_t>(index) < length(subgraph.tensors())) {
    const auto* name = subgraph.tensors()->Get(static_cast<flatbuffers::uoffset_t>(index))->name();
    if (name != nullptr && name->size() > 0 && name->size() <= kLongest) return name->str();
  }
  return "tensor_" + std::to_string(index);
}

// A message that another sink has taken.
inline void append(Diagnostics& to, const Diagnostic& d) {
  Diagnostic& copy = d.severity == Severity::kError ? to.error(d.location, d.slug, d.message)
                                                    : to.warning(d.location, d.slug, d.message);
  copy.notes = d.notes;
  copy.helps = d.helps;
}

// What to do about a file that contradicts itself, as no converter writes one.
inline constexpr const char* kDamaged = "the file is damaged; export the model again";

// Tells that it does; false.
inline bool damaged(Diagnostics& told, const Location& at, std::string message) {
  told.error(at, "tflite-invalid", std::move(message)).help(kDamaged);
  return false;
}

// The one message for a budget that ran out.
inline void report_aliasing(Diagnostics& diags, const Location& at) {
  diags.error(at, "tflite-limit", "many tables of the file refer to the same data")
      .help("export the model again; no converter writes such a file");
}

inline void report_empty(Diagnostics& diags, const Location& at, const graph::Shape& shape) {
  diags.error(at, "tflite-shape", "the tensor has no elements (shape " + graph::to_string(shape) + ")")
      .help("export the model with a fixed input shape whose dimensions are at least 1");
}

}  // namespace aotc::frontends
