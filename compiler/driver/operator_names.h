// SPDX-License-Identifier: Apache-2.0
// What Keras, PyTorch and ONNX call operators, for `aotc ops --like`. The one thing to know: these
// are names to search by; what a model's file calls an operator is known to its frontend.
#pragma once

#include <string_view>
#include <vector>

namespace aotc::driver {

struct OtherNames {
  std::string_view op;  // as aotc calls it
  std::vector<std::string_view> names;
};

const std::vector<OtherNames>& other_names();

}  // namespace aotc::driver
