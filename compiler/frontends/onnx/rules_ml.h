// SPDX-License-Identifier: Apache-2.0
// Functions that the rules of the ONNX domain ai.onnx.ml (classical machine learning) share.
#pragma once

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx::classical {

inline constexpr std::string_view kDomain = "ai.onnx.ml";
inline constexpr int64_t kMostTargets = 65536;

// Input 0 as rows of features, converted to f32.
Id features(Call& c);
// Applies the function in the operator's attribute post_transform to the scores.
Id transformed(Call& c, Id scores);

// The labels of a classifier: the integers in the attribute named `ints`, or else the indices of its string labels.
Ints labels_of(Call& c, std::string_view ints);
// Returns one label for each row. label_at: the label at the row's index in `places` (i32). label_of: the label of the
// row's largest score.
Id label_at(Call& c, Id places, const Ints& labels);
Id label_of(Call& c, Id scores, const Ints& labels);

}  // namespace aotc::frontends::onnx::classical
