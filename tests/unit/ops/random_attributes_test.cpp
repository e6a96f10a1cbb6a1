// SPDX-License-Identifier: Apache-2.0
// Operators that move or reduce data, under random attributes, most of them nonsense: what shape
// inference and verification let through must run, and evaluation and TIR must agree.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <random>

#include "ops/operator.h"

namespace aotc::ops {
namespace random_attributes_test {
namespace {

using Rng = std::mt19937;

int64_t pick(Rng& rng, int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(rng); }

// Mostly small, sometimes at an edge of the integers.
int64_t nasty(Rng& rng) {
  constexpr int64_t kEdges[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, -1, 1 << 20, int64_t{1} << 62};
  if (pick(rng, 0, 40) == 0) return kEdges[pick(rng, 0, 6)];
  return pick(rng, -2, 4);
}

std::string random_list(Rng& rng, size_t rank) {
  std::string text = "[";
  auto n = static_cast<int64_t>(rank) + (pick(rng, 0, 9) == 0 ? pick(rng, -1, 1) : 0);
  for (int64_t i = 0; i < n; ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", pick(rng, 0, 2) == 0 ? nasty(rng) : pick(rng, 0, 2));
  return text + "]";
}

// Sets every attribute to something that its text form takes.
void scramble(Rng& rng, graph::AttributesBase& attributes, const graph::Shape& in) {
  for (const auto& [name, text] : attributes.print()) {
    if (text.starts_with("[")) {
      bool whole = pick(rng, 0, 3) == 0;
      attributes.parse(name, whole ? graph::attribute_text::print(in) : random_list(rng, in.size()));
    } else if (text == "true" || text == "false") {
      attributes.parse(name, pick(rng, 0, 1) == 0 ? "true" : "false");
    } else {
      attributes.parse(name, fmt::format("{}", nasty(rng)));
    }
  }
}

graph::TensorType type_of(DType dtype, graph::Shape shape) {
  graph::TensorType type;
  type.dtype = dtype;
  type.shape = std::move(shape);
  if (dtype == DType::kI8) type.quantization = {{0.5f}, {-3}, 0};
  return type;
}

struct Trial {
  graph::Graph graph;

  Trial(Rng& rng, const Operator& definition) {
    constexpr DType kTypes[] = {DType::kI8, DType::kF32, DType::kI32, DType::kI64, DType::kBool};
    DType dtype = kTypes[pick(rng, 0, 4)];
    graph::Shape in;
    for (int64_t i = pick(rng, 0, 5); i > 0; --i) in.push_back(pick(rng, 1, 4));
    graph::Op op;
    op.definition = &definition;
    auto attributes = definition.default_attributes();
    scramble(rng, *attributes, in);
    op.attributes = attributes;
    bool many = pick(rng, 0, 1) == 1;
    for (int64_t i = many ? pick(rng, 0, 3) : 1; i > 0; --i)
      op.operands.push_back(graph.add_tensor({"in", type_of(dtype, in), {}, 0}));
    for (int64_t i = pick(rng, 1, 3); i > 0; --i)
      op.results.push_back(graph.add_tensor({"out", type_of(dtype, {}), {}, 0}));
    for (graph::TensorId id : op.operands) graph.inputs.push_back({id, "in"});
    for (graph::TensorId id : op.results) graph.outputs.push_back({id, "out"});
    graph.ops.push_back(std::move(op));
  }

  // The results take the inferred shapes; false if the operator refuses, or they are not small.
  bool settle() {
    Diagnostics diags;
    graph::Op& op = graph.ops[0];
    auto shapes = definition_of(op).infer({graph, op}, diags);
    EXPECT_EQ(shapes.ok(), !diags.has_errors());
    if (!shapes || shapes->size() != op.results.size()) return false;
    for (size_t i = 0; i < shapes->size(); ++i) {
      int64_t count = 1;
      for (int64_t d : (*shapes)[i]) {
        EXPECT_GE(d, 0);
        if (d < 1 || d > 4096 || count > 4096) return false;
        count *= d;
      }
      if (count > 4096) return false;
      graph[op.results[i]].type.shape = (*shapes)[i];
    }
    if (op.name() == "arg_max" || op.name() == "arg_min")
      graph[op.results[0]].type = type_of(DType::kI32, (*shapes)[0]);
    bool good = verify_graph(graph, diags).ok();
    EXPECT_EQ(good, !diags.has_errors()) << diags.str();
    return good;
  }

  void compare(Rng& rng) {
    const graph::Op& op = graph.ops[0];
    std::vector<std::vector<uint8_t>> inputs;
    for (graph::TensorId id : op.operands) {
      std::vector<uint8_t> bytes(static_cast<size_t>(graph[id].type.bytes()));
      // Floats below 2^63 and bools are 0 or 1, whatever the type makes of these bytes.
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(pick(rng, 0, 1));
      inputs.push_back(std::move(bytes));
    }
    auto wanted = evaluate_graph(graph, inputs);
    Lowered lowered = definition_of(op).lower({graph, op}, {});
    Diagnostics diags;
    ASSERT_TRUE(tir::verify(*lowered.function, diags)) << diags.str();
    std::vector<std::vector<uint8_t>> results;
    for (graph::TensorId id : op.results) results.emplace_back(static_cast<size_t>(graph[id].type.bytes()), 0x5A);
    std::vector<tir::Memory> memory;
    for (const Arg& arg : lowered.args) {
      auto i = static_cast<size_t>(arg.index);
      auto& bytes = arg.kind == ArgKind::kOperand  ? inputs[i]
                    : arg.kind == ArgKind::kResult ? results[i]
                                                   : lowered.constants[i].bytes;
      ASSERT_NE(arg.kind, ArgKind::kScratch);
      memory.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
    }
    ASSERT_TRUE(tir::interpret(*lowered.function, memory, diags)) << diags.str();
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(results[i], wanted[static_cast<size_t>(op.results[i].value)])
          << graph::print(graph) << tir::print(*lowered.function);
  }
};

TEST(RandomAttributes, AreRefusedOrRunAlike) {
  for (const char* name :
       {"arg_max", "arg_min", "concatenation", "mean", "pack", "pad", "reduce_all", "reduce_max", "reduce_prod",
        "reshape", "resize_nearest_neighbor", "slice", "split", "sum", "transpose", "unpack"}) {
    const Operator* definition = operators().find(name);
    ASSERT_NE(definition, nullptr) << name;
    Rng rng(11);
    int ran = 0, refused = 0;
    for (int round = 0; round < 12000 && !::testing::Test::HasFailure(); ++round) {
      Trial trial(rng, *definition);
      if (!trial.settle()) {
        ++refused;
        continue;
      }
      ++ran;
      trial.compare(rng);
    }
    EXPECT_GT(ran, 10) << name;
    EXPECT_GT(refused, 100) << name;
  }
}

}  // namespace
}  // namespace random_attributes_test
}  // namespace aotc::ops
