// SPDX-License-Identifier: Apache-2.0
// Loop and Scan: as often as is known while compiling, the body takes the operator's place again
// and again.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/import.h"

namespace aotc::frontends::onnx {

namespace {

constexpr int64_t kMostTurns = 4096;

// One element of a dimension, without it.
Id element_at(Builder& b, Id x, int64_t axis, int64_t at) {
  graph::Shape shape = b.shape(x);
  Ints begin(shape.size(), 0);
  begin[static_cast<size_t>(axis)] = at;
  shape[static_cast<size_t>(axis)] = 1;
  Id one = b.slice(x, begin, shape);
  shape.erase(shape.begin() + axis);
  return b.set_element(b.reshape(one, shape), b.element(x));
}

void expect_type(Builder& b, Id id, DType type, const char* what) {
  if (id.valid() && b.dtype(id) != type)
    b.stop("onnx-type", fmt::format("{} is {}, but must be {}", what, name_of(b.dtype(id)), name_of(type)),
           "the file is damaged; export the model again");
}

// Tensors side by side along a dimension of their own.
Id stacked(Builder& b, const std::vector<Id>& parts, int64_t axis) {
  std::vector<Id> all;
  for (Id x : parts) {
    graph::Shape shape = b.shape(x);
    int64_t at = b.axis(axis, static_cast<int64_t>(shape.size()) + 1);
    shape.insert(shape.begin() + at, 1);
    all.push_back(b.reshape(x, shape));
  }
  int64_t at = b.axis(axis, b.rank(all[0]));
  Id out = all.size() == 1 ? all[0] : b.add("concatenation", all, {{"axis", at}});
  if (b.element(out) == b.element(parts[0])) return out;
  return b.set_element(out == all[0] ? b.copy(out) : out, b.element(parts[0]));
}

}  // namespace

// Turns that each give as much as the data says are no tensor together.
bool Importer::keeps_counts(const Node& node, const std::vector<Id>& parts) {
  for (Id id : parts)
    if (id.valid() && builder_.counted(id)) return error_counted(where_node(node), id);
  return true;
}

// What the outputs of one turn of a node's body are, or nothing if something was told.
std::optional<std::vector<Id>> Importer::add_body(const Node& node, const Graph& body, const std::vector<Id>& inputs,
                                                  const Versions& versions, Scope& scope, int depth) {
  Scope inner;
  inner.outer = &scope;
  for (size_t i = 0; i < inputs.size(); ++i) inner.values[body.inputs[i].name] = inputs[i];
  if (!add_initializers(body, inner) || !add_nodes(body.nodes, versions, inner, depth + 1)) return std::nullopt;
  std::vector<Id> out;
  for (const ValueInfo& info : body.outputs) {
    out.push_back(find(inner, info.name));
    if (out.back() == kPoison) return std::nullopt;
    if (out.back().value >= 0) continue;
    (void)error(where_node(node), "onnx-invalid", "an output of the body is not defined",
                "the file is damaged; export the model again");
    return std::nullopt;
  }
  return out;
}

// Can every turn be written out? Not if it is known only when the model runs how many there are, or if they are
// many and the body does not end them.
bool Importer::turns_are_known(const Graph& body, const std::vector<Id>& inputs, const std::optional<double>& most,
                               const std::optional<double>& go_on, const Scope& scope) {
  if (most && (*most <= 0 || (go_on && *go_on == 0))) return true;
  if (!most || !go_on) return false;
  std::set<std::string_view> computed, all = {body.inputs[0].name};
  bool good = build("", [&] {
    for (size_t i = 2; i < inputs.size(); ++i) {
      all.insert(body.inputs[i].name);
      if (!builder_.is_constant(inputs[i])) computed.insert(body.inputs[i].name);
    }
  });
  const size_t carried = inputs.size() - 2;
  if (!good || depends(body, computed, carried, scope)) return false;
  return !inputs[0].valid() || *most <= kMostTurns || depends(body, all, carried, scope);
}

// Inputs: how often at most, whether at all, and what goes from turn to turn.
bool Importer::add_loop(const Node& node, const Versions& versions, const std::vector<Id>& inputs, Scope& scope,
                        int depth) {
  const Attribute* a = node.find("body");
  size_t carried = inputs.size() < 2 ? 0 : inputs.size() - 2;
  const Graph* body = a == nullptr ? nullptr : a->graph.get();
  if (body == nullptr || inputs.size() < 2 || body->inputs.size() != carried + 2 ||
      body->outputs.size() < carried + 1 || body->outputs.size() - 1 != node.outputs.size())
    return error(where_node(node), "onnx-invalid",
                 "the body is missing, or the inputs and outputs of the body do not match those of the operator",
                 "the file is damaged; export the model again");
  std::optional<double> most = kMostTurns + 1, go_on = 1;
  bool good = build_at(where_node(node), [&] {
    expect_type(builder_, inputs[0], DType::kI64, "the maximum trip count");
    expect_type(builder_, inputs[1], DType::kBool, "the condition");
    if (inputs[0].valid()) most = builder_.number(inputs[0]);
    if (inputs[1].valid()) go_on = builder_.number(inputs[1]);
  });
  if (!good) return false;
  std::vector<Id> state(inputs.begin() + 2, inputs.end());
  if (good && !turns_are_known(*body, inputs, most, go_on, scope)) {
    LoopForm form;
    form.state = state;
    form.most = inputs[0];
    form.go_on = inputs[1];
    form.decides = true;
    form.given_axes.resize(node.outputs.size() - carried);
    form.given_backwards.resize(form.given_axes.size());
    return add_while(node, *body, std::move(form), versions, scope, depth);
  }
  std::vector<std::vector<Id>> scanned(node.outputs.size() - carried);
  for (int64_t turn = 0; good && go_on.value_or(0) != 0 && static_cast<double>(turn) < *most; ++turn) {
    if (turn >= kMostTurns)
      return error(where_node(node), "onnx-limit", fmt::format("the loop runs more than {} iterations", kMostTurns),
                   "aotc unrolls this loop; export a loop with fewer iterations");
    std::vector<Id> given(2);
    good = build_at(where_node(node), [&] {
      given[0] = builder_.filled_int(DType::kI64, turn);
      given[1] = builder_.filled_int(DType::kBool, 1);
    });
    given.insert(given.end(), state.begin(), state.end());
    auto out = add_body(node, *body, given, versions, scope, depth);
    if (!out) return false;
    good = good && build_at(where_node(node), [&] {
             expect_type(builder_, (*out)[0], DType::kBool, "the condition of its body");
             go_on = builder_.number((*out)[0]);
           });
    for (size_t i = 0; i < carried; ++i) state[i] = (*out)[1 + i];
    for (size_t i = 0; i < scanned.size(); ++i) scanned[i].push_back((*out)[1 + carried + i]);
  }
  if (!good) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Id id = i < carried ? state[i] : Id{};
    if (i >= carried) {
      if (node.outputs[i].empty()) continue;
      if (scanned[i - carried].empty())
        return error(where_node(node), "onnx-empty", "the loop runs 0 iterations, so its scan outputs are empty",
                     "export the model without the loop");
      if (!keeps_counts(node, scanned[i - carried]) ||
          !build_at(where_node(node), [&] { id = stacked(builder_, scanned[i - carried], 0); }))
        return false;
    }
    if (!define(node, i, id, scope)) return false;
  }
  return true;
}

// A Scan of more turns than are written out.
bool Importer::add_long_scan(const Node& node, const Graph& body, const std::vector<Id>& inputs, const Ints& axes,
                             const Versions& versions, Scope& scope, int depth) {
  LoopForm form;
  const size_t carried = inputs.size() - axes.size(), given = node.outputs.size() - carried;
  auto number = [&](std::string_view name, size_t i) -> int64_t {
    const Attribute* l = node.find(name);
    return l != nullptr && i < l->ints.size() ? l->ints[i] : 0;
  };
  form.state.assign(inputs.begin(), inputs.begin() + static_cast<int64_t>(carried));
  bool good = build_at(where_node(node), [&] {
    for (size_t i = 0; i < axes.size(); ++i) {
      Id x = inputs[carried + i];
      Ints order = {axes[i]};
      for (int64_t d = 0; d < builder_.rank(x); ++d)
        if (d != axes[i]) order.push_back(d);
      form.seen.push_back(builder_.set_element(builder_.transpose(x, order), builder_.element(x)));
      form.seen_backwards.push_back(number("scan_input_directions", i) != 0);
    }
    form.most = builder_.filled_int(DType::kI64, builder_.shape(form.seen[0])[0]);
  });
  for (size_t i = 0; i < given; ++i) {
    form.given_axes.push_back(number("scan_output_axes", i));
    form.given_backwards.push_back(number("scan_output_directions", i) != 0);
  }
  return good && add_while(node, body, std::move(form), versions, scope, depth);
}

// Inputs: what goes from turn to turn, and tensors of which every turn sees one element of a
// dimension.
bool Importer::add_scan(const Node& node, const Versions& versions, const std::vector<Id>& inputs, Scope& scope,
                        int depth) {
  const Attribute *a = node.find("body"), *count = node.find("num_scan_inputs");
  const Graph* body = a == nullptr ? nullptr : a->graph.get();
  int64_t seen = count == nullptr ? 0 : count->i;
  bool fits = body != nullptr && seen >= 1 && static_cast<size_t>(seen) <= inputs.size() &&
              body->inputs.size() == inputs.size() && body->outputs.size() == node.outputs.size() &&
              body->outputs.size() >= inputs.size() - static_cast<size_t>(seen) &&
              std::all_of(inputs.begin(), inputs.end(), [](Id id) { return id.valid(); });
  if (!fits)
    return error(where_node(node), "onnx-invalid",
                 "the body is missing, or the inputs and outputs of the body do not match those of the operator",
                 "the file is damaged; export the model again");
  size_t carried = inputs.size() - static_cast<size_t>(seen), given_out = node.outputs.size() - carried;
  auto list = [&](std::string_view name, size_t i) -> int64_t {
    const Attribute* l = node.find(name);
    return l != nullptr && i < l->ints.size() ? l->ints[i] : 0;
  };
  std::vector<int64_t> axes;
  int64_t turns = -1;
  bool good = build_at(where_node(node), [&] {
    for (size_t i = carried; i < inputs.size(); ++i) {
      axes.push_back(builder_.axis(list("scan_input_axes", i - carried), builder_.rank(inputs[i])));
      int64_t n = builder_.shape(inputs[i])[static_cast<size_t>(axes.back())];
      if (turns >= 0 && n != turns)
        builder_.stop(
            "onnx-invalid",
            fmt::format("the scan inputs have {} and {} elements along their scan axes, expected the same number",
                        turns, n),
            "export the model again");
      turns = n;
    }
    if (turns < 1)
      builder_.stop("onnx-limit", "the scan inputs have no elements along their scan axes",
                    "export the model with sequences of at least one element");
  });
  if (good && add_batched_scan(node, *body, inputs, carried, versions, scope, depth, good)) return good;
  if (good && turns > kMostTurns) return add_long_scan(node, *body, inputs, axes, versions, scope, depth);
  std::vector<Id> state(inputs.begin(), inputs.begin() + static_cast<int64_t>(carried));
  std::vector<std::vector<Id>> scanned(given_out);
  for (int64_t turn = 0; good && turn < turns; ++turn) {
    std::vector<Id> given = state;
    good = build_at(where_node(node), [&] {
      for (size_t i = 0; i < axes.size(); ++i) {
        bool backwards = list("scan_input_directions", i) != 0;
        given.push_back(element_at(builder_, inputs[carried + i], axes[i], backwards ? turns - 1 - turn : turn));
      }
    });
    if (!good) return false;
    auto out = add_body(node, *body, given, versions, scope, depth);
    if (!out) return false;
    for (size_t i = 0; i < carried; ++i) state[i] = (*out)[i];
    for (size_t i = 0; i < given_out; ++i) scanned[i].push_back((*out)[carried + i]);
  }
  if (!good) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Id id = i < carried ? state[i] : Id{};
    bool made = i < carried || (keeps_counts(node, scanned[i - carried]) &&
                                build_at(
                                    where_node(node),
                                    [&] {
                                      std::vector<Id>& parts = scanned[i - carried];
                                      if (list("scan_output_directions", i - carried) != 0)
                                        std::reverse(parts.begin(), parts.end());
                                      id = stacked(builder_, parts, list("scan_output_axes", i - carried));
                                    }));
    if (!made || !define(node, i, id, scope)) return false;
  }
  return true;
}

}  // namespace aotc::frontends::onnx
