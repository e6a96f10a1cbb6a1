// SPDX-License-Identifier: Apache-2.0
// What the rules of ai.onnx.ml share.
#pragma once

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx::classical {

inline constexpr std::string_view kDomain = "ai.onnx.ml";
inline constexpr int64_t kMostTargets = 65536;

// Rows of features as f32.
Id features(Call& c);
// Scores behind the operator's post_transform.
Id transformed(Call& c, Id scores);

// What the classes of a classifier are called: whole numbers, or the places of strings in their
// list.
Ints labels_of(Call& c, std::string_view ints);
// Of every row the label whose place is in a list of i32, or that of the largest score.
Id label_at(Call& c, Id places, const Ints& labels);
Id label_of(Call& c, Id scores, const Ints& labels);

}  // namespace aotc::frontends::onnx::classical
