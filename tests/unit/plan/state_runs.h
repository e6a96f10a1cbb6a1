// SPDX-License-Identifier: Apache-2.0
// Runs of a planned graph behind one another, beside its evaluation. The one thing to know: inputs are floats and
// bools.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/operator.h"
#include "plan/program.h"

namespace aotc::tests {

inline graph::Graph parsed(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "text", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph && ops::verify_graph(*graph, diags)) << diags.str();
  return graph ? *graph : graph::Graph{};
}

// Of one run: bools alternate from run to run, floats are small and all different.
inline std::vector<uint8_t> input_of(const graph::TensorType& type, int run, size_t input) {
  if (type.dtype == DType::kBool) return {static_cast<uint8_t>((static_cast<size_t>(run) + input) % 2)};
  EXPECT_EQ(type.dtype, DType::kF32);
  std::vector<float> values;
  for (int64_t i = 0; i < type.elements(); ++i)
    values.push_back(0.25f * static_cast<float>(i + 1) + static_cast<float>(run) - static_cast<float>(input));
  std::vector<uint8_t> out(values.size() * 4);
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// Under every contract.
inline void expect_runs(const std::string& text, const std::string& what, int runs = 3) {
  for (plan::Contract in : {plan::Contract::kPreserve, plan::Contract::kOverwrite})
    for (plan::Contract out : {plan::Contract::kPreserve, plan::Contract::kOverwrite})
      for (bool overlap : {false, true}) {
        const graph::Graph g = parsed(text);
        plan::PlanOptions options;
        options.inputs = in;
        options.outputs = out;
        options.overlap = overlap;
        Diagnostics diags;
        auto program = plan::plan_program(g, options, diags);
        ASSERT_TRUE(program) << what << diags.str();
        ops::StateValues states = ops::initial_states(g);
        std::vector<uint8_t> state = plan::initial_state(*program);
        for (int run = 0; run < runs; ++run) {
          std::vector<std::vector<uint8_t>> inputs;
          for (size_t i = 0; i < g.inputs.size(); ++i) inputs.push_back(input_of(g[g.inputs[i].tensor].type, run, i));
          auto values = ops::evaluate_graph(g, inputs, &states);
          auto have = plan::run_program(*program, inputs, diags, nullptr, &state);
          ASSERT_TRUE(have) << what << diags.str();
          for (size_t o = 0; o < g.outputs.size(); ++o)
            EXPECT_EQ((*have)[o], values[static_cast<size_t>(g.outputs[o].tensor.value)])
                << what << ": output " << o << " of run " << run;
        }
      }
}

}  // namespace aotc::tests
