// SPDX-License-Identifier: Apache-2.0
// What a format of models brings along: a folder of compiler/frontends with a file frontend.cpp
// that defines `void add_frontend_<folder>(std::vector<Frontend>&)`, of which CMake makes a table.
// The one thing to know: whoever reads a model asks this table; a format is known by its content,
// in the order of the table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/external/given.h"
#include "ops/operator.h"
#include "support/diagnostics.h"
#include "support/file_bytes.h"
#include "support/result.h"

namespace aotc::frontends {

struct ReadOptions {
  // Which of a model's entry points to compile, of formats that have several (TFLite: key of the
  // signature). Empty: the format's first.
  std::string signature;
  // Shapes of inputs, by the name that the caller sees or the tensor's; every dimension at least 1.
  // What depends on them is worked out again.
  std::map<std::string, graph::Shape> shapes;
  // Of formats that have `values`: symbolic dimensions by name, and values of inputs, which are inputs no longer: numbers,
  // as text: "3", "[1, 2]", "[[1.5], [2]]".
  std::map<std::string, int64_t> dimensions;
  std::map<std::string, std::string> values;
  // Of the same: operators between DequantizeLinear and QuantizeLinear round as the file says, not as onnxruntime.
  bool literal_rounding = false;
  // Of the same: inputs of four dimensions are fed with the second of the file's behind the others (NHWC).
  bool images_last = false;
  // Gets files beside the model that its constants come from, by their path from the model's folder; or null.
  std::map<std::string, FileBytes>* files = nullptr;
  // The operators there are; null: every operator of this build.
  const ops::OperatorSet* operators = nullptr;
  // Custom operators that the user gives as C, if any; they go before those of the set.
  const ops::GivenOperators* given = nullptr;
};

// An operator of the format.
struct FormatOperator {
  std::string name;
  std::string_view op = {};  // ours that it becomes, if it does
  // Else what the reader makes of it: "control flow"; empty: aotc does not have it.
  std::string_view becomes = {};
  std::optional<int> code = {};  // where the format has numbers
};

struct Frontend {
  std::string_view name;       // its folder: "tflite"
  std::string_view title;      // of the format, in messages: "TFLite"
  std::string_view files;      // in messages: "TensorFlow Lite (.tflite)"
  std::string_view extension;  // ".tflite"
  bool (*recognise)(std::span<const uint8_t> bytes);
  // The bytes may be anything at all; the result is a graph whose operators passed ops::verify_op,
  // or located errors. Time and memory are bounded by the size of the file. `file` is how messages
  // call the model.
  Result<graph::Graph> (*read)(FileBytes bytes, const std::string& file,
                               Diagnostics& diags, const ReadOptions& options);
  // All of the format, those first that become an operator, for `aotc ops`.
  std::vector<FormatOperator> (*operators)();
  bool signatures = true;        // models may have several entry points
  bool custom_operators = true;  // models may have operators that the user gives as C
  bool values = false;           // open dimensions have names, and inputs may be given a value
};

// Those of the build, and what was added.
const std::vector<Frontend>& frontends();
// For programs that bring a format along. Before the first model is read.
void add_frontend(Frontend frontend);
// Null: none has this name.
const Frontend* find_frontend(std::string_view name);

// Whose model it is, by its content; null: nobody's.
const Frontend* recognise(std::span<const uint8_t> bytes);

// Reads a model of any of these formats. What nobody recognises is told by the format whose
// extension the file has, which says what is wrong with it, or else as [model-format].
Result<graph::Graph> read_model(FileBytes bytes, const std::string& file,
                                Diagnostics& diags, const ReadOptions& options = {});

}  // namespace aotc::frontends
