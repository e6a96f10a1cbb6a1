// SPDX-License-Identifier: Apache-2.0
#include "project/template.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::project {

namespace {

constexpr int64_t kFrames = 30, kBands = 40;  // of sww01

struct Ports {
  bool single = false;  // one input and one output
  int64_t in = 0, out = 0;
  int64_t element_bytes = 0;
  bool floats = false;
};

Ports ports_of(const graph::Graph& graph) {
  Ports p;
  p.single = graph.inputs.size() == 1 && graph.outputs.size() == 1;
  if (!p.single) return p;
  const graph::TensorType& in = graph[graph.inputs[0].tensor].type;
  p.in = in.elements();
  p.out = graph[graph.outputs[0].tensor].type.elements();
  p.element_bytes = size_of(in.dtype);
  p.floats = in.dtype == DType::kF32;
  return p;
}

// What a model lacks to be of a benchmark; empty: nothing.
std::string lacks(const std::string& benchmark, const Ports& p) {
  if (benchmark == "raw" || benchmark == "kws01") return "";
  if (!p.single) return "one input and one output";
  if (!p.floats && p.element_bytes != 1) return "an input of bytes or of float32";
  if (benchmark == "ad01" && p.in != p.out) return "as many outputs as inputs";
  if (benchmark == "sww01" && p.in != kFrames * kBands)
    return fmt::format("an input of {} frames of {} features", kFrames, kBands);
  return "";
}

}  // namespace

std::string benchmark_of(const graph::Graph& graph) {
  const Ports p = ports_of(graph);
  auto is = [&](int64_t elements) { return p.in == elements; };
  if (is(49 * 10) && p.element_bytes == 1) return "kws01";
  const std::string guess = is(32 * 32 * 3)                      ? "ic01"
                            : is(96 * 96 * 3)                    ? "vww01"
                            : is(5 * 128)                        ? "ad01"
                            : is(kFrames * kBands) && p.out == 3 ? "sww01"
                                                                 : "raw";
  return lacks(guess, p).empty() ? guess : "raw";
}

Status choose_benchmark(const TemplateDescription& description, const graph::Graph& graph, Values& values,
                        Diagnostics& diags) {
  if (std::none_of(description.options.begin(), description.options.end(),
                   [](const TemplateOption& o) { return o.name == "benchmark"; }))
    return success();
  values.model["benchmark"] = benchmark_of(graph);
  Location where;
  where.file = graph.source_file;
  const auto given = values.options.find("benchmark");
  if ((given == values.options.end() ? values.model["benchmark"] : given->second) == "sww01")
    values.keys["needs_math"] = "y";
  if (given == values.options.end()) {
    if (values.model["benchmark"] != "raw") return success();
    diags
        .warning(where, "no-benchmark",
                 "the model matches no benchmark of MLPerf Tiny: the firmware reports the model's own name, for which "
                 "the benchmark's runner has no script")
        .help("use --project-option benchmark=raw to accept this, or benchmark=NAME to choose a benchmark");
    return success();
  }
  const std::string missing = lacks(given->second, ports_of(graph));
  if (missing.empty()) return success();
  diags
      .error(where, "template-option",
             fmt::format("the model does not match benchmark '{}', which has {}", given->second, missing))
      .help(fmt::format("the shapes of the model match {}",
                        values.model["benchmark"] == "raw" ? "no benchmark"
                                                           : fmt::format("benchmark '{}'", values.model["benchmark"])));
  return kFailure;
}

}  // namespace aotc::project
