// SPDX-License-Identifier: Apache-2.0
// What an operator of the file has and its rule did not ask for. Such an attribute or input changes the result in a
// way that aotc does not know: it is from a version of the operator set that the rule was not written for, or was
// forgotten.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace {

struct Harmless {
  std::string_view type, attribute;
  std::optional<int64_t> only;  // with this value alone, which is the default
};

constexpr Harmless kHarmless[] = {
    // Of what happens in training alone.
    {"BatchNormalization", "momentum", std::nullopt},
    {"Dropout", "ratio", std::nullopt},
    {"Dropout", "seed", std::nullopt},
    // Any order is as good where it is 0.
    {"TopK", "sorted", std::nullopt},
    // In which type means are taken: float32, as aotc does.
    {"LayerNormalization", "stash_type", 1},
    {"GroupNormalization", "stash_type", 1},
    {"RMSNormalization", "stash_type", 1},
    {"Range", "stash_type", 1},
    // How often trainings went through a node, for programs that order them by it.
    {"TreeEnsembleClassifier", "nodes_hitrates", std::nullopt},
    {"TreeEnsembleRegressor", "nodes_hitrates", std::nullopt},
    {"TreeEnsembleClassifier", "nodes_hitrates_as_tensor", std::nullopt},
    {"TreeEnsembleRegressor", "nodes_hitrates_as_tensor", std::nullopt},
    {"TreeEnsemble", "nodes_hitrates", std::nullopt},
    // Of scores that no output gives.
    {"TreeEnsembleClassifier", "post_transform", std::nullopt},
    {"LinearClassifier", "post_transform", std::nullopt},
    // How the coefficients were found.
    {"LinearClassifier", "multi_class", std::nullopt},
};

}  // namespace

bool has_no_effect(std::string_view type, const Attribute& attribute) {
  return std::any_of(std::begin(kHarmless), std::end(kHarmless), [&](const Harmless& h) {
    return h.type == type && h.attribute == attribute.name && (!h.only || *h.only == attribute.i);
  });
}

void Call::check_all_asked() {
  for (size_t i = 0; i < node_.attributes.size(); ++i) {
    const Attribute& a = node_.attributes[i];
    const std::string name = escape_for_display(std::string(a.name.substr(0, 200)));
    if (!a.reference.empty())
      b.stop("onnx-invalid",
             fmt::format("attribute '{}' refers to a function attribute that no enclosing function defines", name),
             "the file is damaged; export the model again");
    if (&a != node_.find(a.name))
      b.stop("onnx-invalid", fmt::format("attribute '{}' occurs twice", name),
             "the file is damaged; export the model again");
    if (!asked_[i] && !has_no_effect(node_.type, a))
      b.stop("onnx-attribute", fmt::format("aotc does not know attribute '{}' of this operator", name),
             "export the model without it, or for an older operator set");
  }
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].valid() && !asked_inputs_[i])
      b.stop("onnx-attribute", fmt::format("aotc does not know input {} of this operator", i),
             "export the model without it, or for an older operator set");
}

}  // namespace aotc::frontends::onnx
