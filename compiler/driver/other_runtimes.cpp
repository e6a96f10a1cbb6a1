// SPDX-License-Identifier: Apache-2.0
#include "driver/other_runtimes.h"

#include <algorithm>

namespace aotc::driver {

namespace {

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

}  // namespace

std::span<const std::string_view> tflm_builtins() { return kTflm; }

std::span<const std::string_view> tflm_custom_operators() { return kTflmCustom; }

bool litert_has(std::string_view builtin) {
  if (builtin.starts_with("STABLEHLO_"))
    return std::ranges::find(kStablehloOfLitert, builtin) != std::end(kStablehloOfLitert);
  return std::ranges::find(kNotInLitert, builtin) == std::end(kNotInLitert);
}

}  // namespace aotc::driver
