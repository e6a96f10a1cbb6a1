// SPDX-License-Identifier: Apache-2.0
// Names of operators in Keras, PyTorch and ONNX, for `aotc ops --like`. They serve only the search: each frontend knows
// the names in its models' files.
#pragma once

#include <string_view>
#include <vector>

namespace aotc::driver {

struct OtherNames {
  std::string_view op;  // aotc's name
  std::vector<std::string_view> names;
};

const std::vector<OtherNames>& other_names();

}  // namespace aotc::driver
