// SPDX-License-Identifier: Apache-2.0
// Reads an .onnx file into Graph IR. The bytes are untrusted. All operators of the graph have passed ops::verify_op.
// Errors are reported with their location. Time and memory are bounded by the size of the file.
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
  std::map<std::string, graph::Shape> shapes = {};  // shapes of inputs, by name
  std::map<std::string, int64_t> dimensions = {};   // sizes of symbolic dimensions, by name
  // Values of inputs, which become constants: numbers as text, "3", "[1, 2]", "[[1.5], [2]]".
  std::map<std::string, std::string> values = {};
  bool literal_rounding = false;  // true: quantised operators round as the file specifies (qdq.h)
  bool images_last = false;       // true: inputs of rank 4 are NHWC, not NCHW; without any, those of rank 3 are NLC
  std::map<std::string, FileBytes>* files = nullptr;  // receives the files beside the model that store constants
  int64_t open_size = 0;     // size for each dimension of unknown size; 0: report these dimensions
  int64_t working_size = 0;  // size that messages propose for them; 0: search for a size that works
};

// True if the bytes are an ONNX model, recognised by their content.
bool is_onnx_model(std::span<const uint8_t> bytes);

// Weights are views of `bytes`; the graph's constants keep the bytes alive. `file`: the model's name in messages; paths
// of external data files are relative to its directory. Inputs and outputs are in file order; inputs whose value is in
// `options` are omitted. A first dimension of unknown size (the batch) is read as 1, with a note if it has a name.
//
// Reports [onnx-invalid], [onnx-limit], [onnx-version], [onnx-type], [onnx-shape], [onnx-external], [onnx-constant],
// [onnx-attribute], [onnx-empty], [dynamic-shape], [value-invalid], [input-name], [op-unsupported] (all such operators
// in one error), and the errors of the operators.
Result<graph::Graph> read_onnx(FileBytes bytes, const std::string& file, Diagnostics& diags,
                               const OnnxOptions& options = {});

}  // namespace aotc::frontends
