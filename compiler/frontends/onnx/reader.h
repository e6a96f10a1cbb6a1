// SPDX-License-Identifier: Apache-2.0
// Reads an .onnx file into Graph IR. The bytes are untrusted; the result is a graph whose operators passed
// ops::verify_op, or located errors. Time and memory are bounded by the size of the file.
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
  // Values of inputs, which become constants: numbers as text, "3", "[1, 2]", "[[1.5], [2]]".
  std::map<std::string, std::string> values = {};
  bool literal_rounding = false;  // groups of quantised operators round as the file specifies (qdq.h)
  bool images_last = false;       // inputs of rank 4 are NHWC
  std::map<std::string, FileBytes>* files = nullptr;  // receives the files beside the model that store constants
  int64_t open_size = 0;     // size of every open dimension without another value; 0: report them
  int64_t working_size = 0;  // size that messages propose for them; 0: search for one
};

// True if the bytes are an ONNX model, recognised by their content.
bool is_onnx_model(std::span<const uint8_t> bytes);

// Weights are views of `bytes`, which the graph's constants keep alive. `file`: the model's name in messages, and the
// base of the paths of data files. Inputs and outputs are in file order, without inputs that have a value. An open
// first dimension is read as 1, with a note if it has a name.
//
// Reports [onnx-invalid], [onnx-limit], [onnx-version], [onnx-type], [onnx-shape], [onnx-external], [onnx-constant],
// [onnx-attribute], [onnx-empty], [dynamic-shape], [value-invalid], [input-name], [op-unsupported] (all such operators
// in one error), and the errors of the operators.
Result<graph::Graph> read_onnx(FileBytes bytes, const std::string& file, Diagnostics& diags,
                               const OnnxOptions& options = {});

}  // namespace aotc::frontends
