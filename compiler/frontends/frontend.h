// SPDX-License-Identifier: Apache-2.0
// Frontend: the functions that read one model format, such as ONNX; aotc has a table of all frontends.
// Each folder of compiler/frontends has a file frontend.cpp that defines `void
// add_frontend_<folder>(std::vector<Frontend>&)`; CMake generates a table of frontends from these functions. aotc tries
// the formats in the order of the table, and recognises a format by the content of the file.
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
  // The entry point to compile, if a model of the format may have several (TFLite: the key of a signature). Empty: the
  // first one.
  std::string signature;
  // Shapes of inputs, by the name of the input or of its tensor; every dimension is at least 1. Shapes that depend on
  // them are inferred again.
  std::map<std::string, graph::Shape> shapes;
  // Only for formats with Frontend::values. `dimensions`: sizes of symbolic dimensions, by name. `values`: values of
  // inputs, which become constants, as text: "3", "[1, 2]", "[[1.5], [2]]".
  std::map<std::string, int64_t> dimensions;
  std::map<std::string, std::string> values;
  // Only for formats with Frontend::values. True: operators between DequantizeLinear and QuantizeLinear round as the
  // file specifies, not as onnxruntime does.
  bool literal_rounding = false;
  // Only for formats with Frontend::values. True: the graph has its inputs of rank 4 in layout NHWC, or if there are
  // none those of rank 3 in layout NLC, and converts them to the layout of the file (NCHW, NCL).
  bool images_last = false;
  // Null, or receives the files beside the model that store its constants, by path relative to the model's folder.
  std::map<std::string, FileBytes>* files = nullptr;
  // The operators that the model may use; null: every operator of this build.
  const ops::OperatorSet* operators = nullptr;
  // Operators that the user supplies as C functions, or null. They take precedence over operators of `operators`.
  const ops::GivenOperators* given = nullptr;
};

// An operator of a model format, for the listing of `aotc ops`.
struct FormatOperator {
  std::string name;
  std::string_view op = {};  // the aotc operator to which it is converted; empty if none
  // If `op` is empty: how the reader handles the operator ("control flow"), or empty if aotc does not support it.
  std::string_view becomes = {};
  std::optional<int> code = {};  // number of the operator; nullopt if the format has none
};

struct Frontend {
  std::string_view name;       // the folder of the frontend: "tflite"
  std::string_view title;      // the format's name in messages: "TFLite"
  std::string_view files;      // the files of the format, for messages: "TensorFlow Lite (.tflite)"
  std::string_view extension;  // ".tflite"
  bool (*recognise)(std::span<const uint8_t> bytes);
  // Converts a model, whose bytes are untrusted, to a graph. All operators of the graph have passed ops::verify_op.
  // Errors are reported with their location. Time and memory are bounded by the size of the file. `file`: the model's
  // name in messages.
  Result<graph::Graph> (*read)(FileBytes bytes, const std::string& file, Diagnostics& diags,
                               const ReadOptions& options);
  // Lists all operators of the format for `aotc ops`, supported ones first.
  std::vector<FormatOperator> (*operators)();
  bool signatures = true;        // true if models may have several entry points
  bool custom_operators = true;  // true if models may have custom operators, which the user supplies as C functions
  bool values = false;           // true if dimensions may be symbolic and inputs may be replaced by values
};

// The frontends of this build, then the ones that add_frontend added.
const std::vector<Frontend>& frontends();
// Adds a format; must be called before the first model is read.
void add_frontend(Frontend frontend);
// Returns null if no format has this name.
const Frontend* find_frontend(std::string_view name);

// Returns the format of a model, recognised by its content; null if unknown.
const Frontend* recognise(std::span<const uint8_t> bytes);

// Reads a model of any of these formats. If no format recognises the content, aotc reports [model-format], or lets the
// frontend of the file's extension report the error.
Result<graph::Graph> read_model(FileBytes bytes, const std::string& file, Diagnostics& diags,
                                const ReadOptions& options = {});

}  // namespace aotc::frontends
