// SPDX-License-Identifier: Apache-2.0
// Frontend: the entry of a model format in the table of formats.
// Each folder of compiler/frontends has a file frontend.cpp that defines `void
// add_frontend_<folder>(std::vector<Frontend>&)`; CMake generates the table from these. A format is recognised by the
// content of a file, in the order of the table.
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
  // The entry point to compile, for formats that have several (TFLite: key of the signature). Empty: the first one.
  std::string signature;
  // Shapes of inputs, by port or tensor name; every dimension at least 1. Dependent shapes are inferred again.
  std::map<std::string, graph::Shape> shapes;
  // Only for formats with `values`: sizes of symbolic dimensions by name; and values of inputs, which become constants:
  // numbers as text, "3", "[1, 2]", "[[1.5], [2]]".
  std::map<std::string, int64_t> dimensions;
  std::map<std::string, std::string> values;
  // Only for formats with `values`: operators between DequantizeLinear and QuantizeLinear round as the file specifies,
  // not as onnxruntime does.
  bool literal_rounding = false;
  // Only for formats with `values`: inputs of rank 4 are NHWC instead of NCHW.
  bool images_last = false;
  // Receives the files beside the model that store its constants, by their path relative to the model's folder; or
  // null.
  std::map<std::string, FileBytes>* files = nullptr;
  // The available operators; null: every operator of this build.
  const ops::OperatorSet* operators = nullptr;
  // Custom operators that the user supplies as C, or null; they take precedence over those of the set.
  const ops::GivenOperators* given = nullptr;
};

// An operator of the format.
struct FormatOperator {
  std::string name;
  std::string_view op = {};  // the operator of aotc that it becomes; empty if there is none
  // If `op` is empty, how the reader handles it: "control flow"; empty: aotc does not support it.
  std::string_view becomes = {};
  std::optional<int> code = {};  // nullopt if the format has no numbers
};

struct Frontend {
  std::string_view name;       // its folder: "tflite"
  std::string_view title;      // the format's name in messages: "TFLite"
  std::string_view files;      // its files, for messages: "TensorFlow Lite (.tflite)"
  std::string_view extension;  // ".tflite"
  bool (*recognise)(std::span<const uint8_t> bytes);
  // The bytes are untrusted; the result is a graph whose operators passed ops::verify_op, or located errors. Time and
  // memory are bounded by the size of the file. `file`: the model's name in messages.
  Result<graph::Graph> (*read)(FileBytes bytes, const std::string& file, Diagnostics& diags,
                               const ReadOptions& options);
  // All operators of the format for `aotc ops`, supported ones first.
  std::vector<FormatOperator> (*operators)();
  bool signatures = true;        // models may have several entry points
  bool custom_operators = true;  // models may have custom operators, supplied as C by the user
  bool values = false;           // symbolic dimensions have names, and inputs may be replaced by values
};

// The formats of the build and those that were added.
const std::vector<Frontend>& frontends();
// Adds a format; must be called before the first model is read.
void add_frontend(Frontend frontend);
// Null if no format has this name.
const Frontend* find_frontend(std::string_view name);

// The format of a model, by its content; null if unknown.
const Frontend* recognise(std::span<const uint8_t> bytes);

// Reads a model of any of these formats. If no format recognises the content, the format of the file's extension
// reports the error, else [model-format] is reported.
Result<graph::Graph> read_model(FileBytes bytes, const std::string& file, Diagnostics& diags,
                                const ReadOptions& options = {});

}  // namespace aotc::frontends
