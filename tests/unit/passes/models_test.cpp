// SPDX-License-Identifier: Apache-2.0
// The whole pipeline over every model in the repository: outputs stay the same, byte for byte.
#include <filesystem>

#include "frontends/tflite/reader.h"
#include "source_dir.h"
#include "support/files.h"
#include "test_operators.h"

namespace aotc::passes {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> all_models() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir() + "/tests/models"))
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::vector<uint8_t>> random_inputs(const graph::Graph& graph, std::mt19937& random) {
  std::vector<std::vector<uint8_t>> inputs;
  for (const graph::Port& port : graph.inputs) {
    const graph::TensorType& type = graph[port.tensor].type;
    std::vector<uint8_t>& bytes = inputs.emplace_back(static_cast<size_t>(type.bytes()));
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(type.dtype == DType::kBool ? random() & 1 : random());
    // Integers may say how often a loop runs: with any bytes one runs until its limit.
    for (int64_t i = 0; i < type.elements() && type.dtype == DType::kI32; ++i) {
      const int32_t drawn = static_cast<int32_t>(random() % 60) - 9;
      std::memcpy(bytes.data() + 4 * i, &drawn, sizeof drawn);
    }
    for (int64_t i = 0; i < type.elements() && type.dtype == DType::kF32; ++i)
      store_real(type, bytes.data(), i, static_cast<float>(random() % 2001) * 0.004f - 4.0f);
  }
  return inputs;
}

std::vector<std::vector<uint8_t>> outputs_of(const graph::Graph& graph,
                                             const std::vector<std::vector<uint8_t>>& inputs) {
  auto values = ops::evaluate_graph(graph, inputs);
  std::vector<std::vector<uint8_t>> outputs;
  for (const graph::Port& port : graph.outputs) outputs.push_back(values[static_cast<size_t>(port.tensor.value)]);
  return outputs;
}

TEST(Pipeline, KeepsTheOutputsOfEveryModel) {
  int compared = 0;
  for (const std::string& path : all_models()) {
    Diagnostics diags;
    auto bytes = read_file(path, diags);
    ASSERT_TRUE(bytes.ok());
    auto graph = frontends::read_tflite(std::move(*bytes), path, diags);
    // Models with operators this build does not have are another test's business.
    if (!graph || !ops::verify_graph(*graph, diags)) continue;
    graph::Graph before = *graph;
    RunOptions options;
    options.verify_each = true;
    ASSERT_TRUE(run_pipeline(*graph, options, diags)) << path << "\n" << diags.str();
    std::mt19937 random(17);
    for (int round = 0; round < 2; ++round) {
      auto inputs = random_inputs(before, random);
      ASSERT_EQ(outputs_of(before, inputs), outputs_of(*graph, inputs)) << path;
    }
    std::string text = graph::print(*graph);
    auto again = graph::parse(text, path, ops::definition_lookup(), diags);
    ASSERT_TRUE(again.ok()) << diags.str();
    ASSERT_EQ(graph::print(*again), text);
    ++compared;
  }
  EXPECT_GE(compared, 60);
}

}  // namespace
}  // namespace aotc::passes
