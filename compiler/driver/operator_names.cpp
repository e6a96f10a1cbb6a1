// SPDX-License-Identifier: Apache-2.0
#include "driver/operator_names.h"

namespace aotc::driver {

const std::vector<OtherNames>& other_names() {
  static const std::vector<OtherNames> kNames = {
      {"add", {"Add", "residual"}},
      {"arg_max", {"ArgMax"}},
      {"attention", {"Attention", "MultiHeadAttention", "MultiheadAttention", "scaled_dot_product_attention"}},
      {"average_pool_2d", {"AveragePooling2D", "AvgPool2d", "AveragePool", "AveragePooling1D", "AvgPool1d"}},
      {"cast", {"Cast", "to"}},
      {"concatenation", {"Concatenate", "Concat", "cat"}},
      {"conv_2d", {"Conv2D", "Conv1D", "Conv2d", "Conv1d", "Convolution"}},
      {"depthwise_conv_2d", {"DepthwiseConv2D", "DepthwiseConv1D", "SeparableConv2D"}},
      {"dequantize", {"DequantizeLinear"}},
      {"fully_connected", {"Dense", "Linear", "Gemm", "InnerProduct"}},
      {"hard_swish", {"HardSwish", "hardswish", "hard_silu"}},
      {"leaky_relu", {"LeakyReLU"}},
      {"logistic", {"Sigmoid"}},
      {"max_pool_2d", {"MaxPooling2D", "MaxPool2d", "MaxPool", "MaxPooling1D", "MaxPool1d"}},
      {"maximum", {"Maximum", "Max"}},
      {"mean",
       {"GlobalAveragePooling2D", "GlobalAveragePooling1D", "GlobalAveragePool", "AdaptiveAvgPool2d", "ReduceMean"}},
      {"minimum", {"Minimum", "Min"}},
      {"mul", {"Multiply", "Mul"}},
      {"pack", {"Stack"}},
      {"pad", {"ZeroPadding2D", "ZeroPadding1D", "ConstantPad2d", "ZeroPad2d", "Pad"}},
      {"quantize", {"QuantizeLinear"}},
      {"relu", {"ReLU"}},
      {"relu6", {"ReLU6", "Clip"}},
      {"relu_n1_to_1", {"Hardtanh"}},
      {"reshape", {"Flatten", "Unsqueeze", "View"}},
      {"resize_nearest_neighbor", {"UpSampling2D", "Upsample", "Resize"}},
      {"slice", {"Narrow", "Cropping2D"}},
      {"softmax", {"Softmax"}},
      {"split", {"Split", "Chunk"}},
      {"sub", {"Subtract", "Sub"}},
      {"tanh", {"Tanh"}},
      {"transpose", {"Permute"}},
      {"unpack", {"Unstack", "Unbind"}},
  };
  return kNames;
}

}  // namespace aotc::driver
