// SPDX-License-Identifier: Apache-2.0
// Reads an .onnx file into the Graph IR. The one thing to know: the bytes may be anything at all;
// the result is a graph or located errors, and time and memory are bounded by the size of the file.
// What comes back has operators that passed ops::verify_op.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/operator.h"
#include "support/diagnostics.h"
#include "support/file_bytes.h"
#include "support/result.h"

namespace aotc::frontends {

struct OnnxOptions {
  std::map<std::string, graph::Shape> shapes = {};  // of inputs, by name
  std::map<std::string, int64_t> dimensions = {};   // of symbolic dimensions, by name
  // Values of inputs, which are inputs no longer: numbers, as text: "3", "[1, 2]", "[[1.5], [2]]".
  std::map<std::string, std::string> values = {};
  bool literal_rounding = false;  // of groups of quantised operators (qdq.h)
  bool images_last = false;       // inputs of four dimensions are fed as NHWC
  std::map<std::string, FileBytes>* files = nullptr;  // gets files beside the model that constants come from
  int64_t open_size = 0;     // of every open dimension that nothing else gives; 0: they are told
  int64_t working_size = 0;  // what messages propose for them; 0: it is looked for
};

// Is it an ONNX model, by its content?
bool is_onnx_model(std::span<const uint8_t> bytes);

// Weights are views of `bytes`, which the graph's constants keep alive. `file` is how messages call
// the model, and data files beside it are found by it. Inputs and outputs are in the file's order,
// but for inputs that have a value. A first dimension that the file leaves open is read
// as 1, with a note if it has a name.
//
// Reports [onnx-invalid], [onnx-limit], [onnx-version], [onnx-type], [onnx-shape], [onnx-external],
// [onnx-constant], [onnx-attribute], [onnx-empty], [dynamic-shape], [value-invalid], [input-name],
// [op-unsupported] (all such operators in one error), and what the operators report.
Result<graph::Graph> read_onnx(FileBytes bytes, const std::string& file,
                               Diagnostics& diags, const OnnxOptions& options = {});

}  // namespace aotc::frontends
