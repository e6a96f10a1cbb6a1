// SPDX-License-Identifier: Apache-2.0
// Functions that the rules of ai.onnx.ml share.
#pragma once

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx::classical {

inline constexpr std::string_view kDomain = "ai.onnx.ml";
inline constexpr int64_t kMostTargets = 65536;

// Rows of features, converted to f32.
Id features(Call& c);
// Applies the operator's post_transform to the scores.
Id transformed(Call& c, Id scores);

// The labels of a classifier: integers, or the indices of strings in their list.
Ints labels_of(Call& c, std::string_view ints);
// For each row the label at an index of an i32 list, or the label of the largest score.
Id label_at(Call& c, Id places, const Ints& labels);
Id label_of(Call& c, Id scores, const Ints& labels);

}  // namespace aotc::frontends::onnx::classical
