// SPDX-License-Identifier: Apache-2.0
// ops --compare: the operators of the .tflite format that TensorFlow Lite Micro, LiteRT or aotc has.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "frontends/frontend.h"
#include "ops/operator.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// The operators that TensorFlow Lite Micro's resolver (August 2026) has, builtin and custom, by their names in the
// .tflite format. Only names are listed: the supported types of an operator may differ.
// clang-format off
constexpr std::string_view kTflm[] = {
    "ABS", "ADD", "ADD_N", "ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "AVERAGE_POOL_2D", "BATCH_MATMUL",
    "BATCH_TO_SPACE_ND", "BROADCAST_ARGS", "BROADCAST_TO", "CALL_ONCE", "CAST", "CEIL", "CONCATENATION",
    "CONV_2D", "COS", "CUMSUM", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE", "DIV",
    "DYNAMIC_UPDATE_SLICE", "ELU", "EMBEDDING_LOOKUP", "EQUAL", "EXP", "EXPAND_DIMS", "FILL", "FLOOR",
    "FLOOR_DIV", "FLOOR_MOD", "FULLY_CONNECTED", "GATHER", "GATHER_ND", "GREATER", "GREATER_EQUAL",
    "HARD_SWISH", "IF", "L2_NORMALIZATION", "L2_POOL_2D", "LEAKY_RELU", "LESS", "LESS_EQUAL", "LOG",
    "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "LOG_SOFTMAX", "MAXIMUM", "MAX_POOL_2D", "MEAN",
    "MINIMUM", "MIRROR_PAD", "MUL", "NEG", "NOT_EQUAL", "PACK", "PAD", "PADV2", "PRELU", "QUANTIZE",
    "READ_VARIABLE", "REDUCE_ALL", "REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6", "RESHAPE", "RESIZE_BILINEAR",
    "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "ROUND", "RSQRT", "SELECT_V2", "SHAPE", "SIN", "SLICE", "SOFTMAX",
    "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQRT", "SQUARE", "SQUARED_DIFFERENCE",
    "SQUEEZE", "STRIDED_SLICE", "SUB", "SUM", "SVDF", "TANH", "TRANSPOSE", "TRANSPOSE_CONV",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNPACK", "VAR_HANDLE", "WHILE", "ZEROS_LIKE"};

constexpr std::string_view kTflmCustom[] = {
    "CIRCULAR_BUFFER", "SignalDelay", "SignalEnergy", "SignalFftAutoScale", "SignalFilterBank",
    "SignalFilterBankLog", "SignalFilterBankSpectralSubtraction", "SignalFilterBankSquareRoot", "SignalFramer",
    "SignalIrfft", "SignalOverlapAdd", "SignalPCAN", "SignalRfft", "SignalStacker", "SignalWindow",
    "TFLM_DECODE", "TFLite_Detection_PostProcess"};

// Of the names of the format, LiteRT lacks these and the STABLEHLO ones but a few.
constexpr std::string_view kNotInLitert[] = {"CALL", "CONCAT_EMBEDDINGS", "CUSTOM", "DELEGATE",
                                              "PLACEHOLDER_FOR_GREATER_OP_CODES"};
constexpr std::string_view kStablehloOfLitert[] = {
    "STABLEHLO_ADD", "STABLEHLO_AND", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE", "STABLEHLO_GATHER",
    "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM", "STABLEHLO_MULTIPLY", "STABLEHLO_PAD", "STABLEHLO_REDUCE_WINDOW",
    "STABLEHLO_RNG_BIT_GENERATOR", "STABLEHLO_SCATTER", "STABLEHLO_SHIFT_LEFT"};
// clang-format on

// True if LiteRT's default resolver (August 2026) has the builtin operator.
bool litert_has(std::string_view builtin) {
  if (builtin.starts_with("STABLEHLO_"))
    return std::ranges::find(kStablehloOfLitert, builtin) != std::end(kStablehloOfLitert);
  return std::ranges::find(kNotInLitert, builtin) == std::end(kNotInLitert);
}

struct Support {
  std::vector<std::string> ours;  // types, or what it becomes; empty: aotc does not have it
  bool tflm = false, litert = false;
};

// By name.
std::map<std::string, Support> supports() {
  std::map<std::string, Support> out;
  for (std::string_view name : kTflm) out[std::string(name)].tflm = true;
  for (std::string_view name : kTflmCustom) out[std::string(name)].tflm = true;
  for (const frontends::FormatOperator& o : frontends::find_frontend("tflite")->operators()) {
    const ops::Operator* op = ops::operators().find(o.op);
    const bool litert = o.code && litert_has(o.name);  // of builtin operators
    if (op == nullptr && o.becomes.empty() && !litert) continue;
    Support& found = out[o.name];
    found.litert = litert;
    if (!o.becomes.empty()) found.ours = {std::string(o.becomes)};
    if (op == nullptr) continue;
    for (const ops::TypeSupport& type : op->types())
      if (std::string name(name_of(type.dtype)); std::ranges::find(found.ours, name) == found.ours.end())
        found.ours.push_back(std::move(name));
  }
  return out;
}

}  // namespace

int compare_operators_command(const CommonOptions& common) {
  const std::map<std::string, Support> all = supports();
  struct Count {
    int theirs = 0, both = 0;
    void add(bool has, bool ours) { theirs += has, both += has && ours; }
  } tflm, litert;
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows = {{"operator", "aotc", "TensorFlow Lite Micro", "LiteRT"}};
  for (const auto& [name, support] : all) {
    tflm.add(support.tflm, !support.ours.empty());
    litert.add(support.litert, !support.ours.empty());
    j.push_back({{"name", name}, {"aotc", support.ours}, {"tflm", support.tflm}, {"litert", support.litert}});
    rows.push_back({name, support.ours.empty() ? "-" : fmt::format("{}", fmt::join(support.ours, " ")),
                    support.tflm ? "yes" : "-", support.litert ? "yes" : "-"});
  }
  if (common.json) {
    print_out("{}\n", json_text(j, 1));
    return kExitDone;
  }
  print_out(
      "{}\naotc supports {} of the {} operators of TensorFlow Lite Micro, including custom ones, and {} of the {} "
      "operators of LiteRT.\n",
      format_table(rows), tflm.both, tflm.theirs, litert.both, litert.theirs);
  return kExitDone;
}

}  // namespace aotc::driver
