// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include <fmt/format.h>

#include "ops/operator.h"
#include "passes/pass.h"
#include "support/text.h"

namespace aotc::passes {

namespace {

constexpr Pass kPipeline[] = {
    {"dead-code", "unused operators hide fusions; this pass runs again after every other pass", remove_dead_code},
    {"annotate-devices", "the device of each operator is fixed first, so that fusions stay on one device",
     annotate_devices},
    {"strip-boundary-float", "if requested, inputs and outputs become quantised values, without casts to float",
     strip_boundary_float},
    {"constant-folding", "operators on constants are computed at compile time, not on the device", fold_constants},
    {"remove-identities", "operators that change nothing cost time, and hide fusions", remove_identities},
    {"remove-conversions", "a conversion to float and exactly back changes nothing", remove_conversions},
    {"move-transposes", "adjacent transposes cancel, and an NCHW model becomes an NHWC model", move_transposes},
    {"generalize", "special cases become general operators, so that they share kernels and rewrites", generalize},
    {"fuse-padding", "a convolution pads on the fly, so no padded copy is stored", fuse_padding},
    {"fuse-addition", "a product adds the bias to its result, so no separate addition reads the result again",
     fuse_addition},
    {"fuse-activation", "an operator clamps its own result, so no separate activation reads the result again",
     fuse_activation},
    {"tabulate", "elementwise operators on one byte tensor are one table, which takes one step for each element",
     tabulate},
    {"split-products", "each part of a split product is computed only when it is needed", split_products},
    {"dead-channels", "constant or unread channels waste time, RAM and flash", remove_dead_channels},
    {"order-repeats", "an unrolled network, ordered step by step, needs little RAM and becomes a loop", order_repeats},
    {"partition-devices", "a tensor must be copied to each other device that reads the tensor", partition_devices},
    {"order-devices", "while a device works, the host runs operators that do not wait for it", order_devices},
    {"compact-tensors", "later stages see only tensors that are used", compact_tensors},
};

Status verify_after(const graph::Graph& graph, std::string_view pass, Diagnostics& diags) {
  if (ops::verify_graph(graph, diags)) return success();
  diags.error(graph.location_of({}), "internal", fmt::format("pass '{}' left a graph that does not verify", pass))
      .help("this is a bug in aotc; please report it with the model");
  return kFailure;
}

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : kPipeline)
    if (pass.name == name) return &pass;
  return nullptr;
}

Result<std::vector<Pass>> parse_pass_list(std::string_view names, Diagnostics& diags) {
  std::vector<Pass> passes;
  bool good = true;
  while (!names.empty()) {
    size_t comma = names.find(',');
    std::string_view name = names.substr(0, comma);
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
    if (const Pass* pass = find_pass(name)) {
      passes.push_back(*pass);
      continue;
    }
    good = false;
    Location where;
    where.file = "--pass";
    Diagnostic& error =
        diags.error(where, "pass-unknown", fmt::format("there is no pass '{}'", escape_for_display(std::string(name))));
    std::vector<std::string> known;
    for (const Pass& pass : kPipeline) known.emplace_back(pass.name);
    for (const std::string& near : closest(name, known, 1)) error.help(fmt::format("did you mean '{}'?", near));
  }
  if (!good) return kFailure;
  return passes;
}

namespace {

// Regions first: what becomes of them may be seen from outside.
Status run_everywhere(const Pass& pass, graph::Graph& graph, const PassOptions& options, Diagnostics& diags) {
  PassOptions inside = options;
  // A region's ports are not what the model's caller sees, and all of it is the host's.
  inside.strip_boundary_float = false;
  inside.devices = nullptr;
  for (graph::Op& op : graph.ops)
    for (graph::Graph& region : op.regions)
      if (!run_everywhere(pass, region, inside, diags)) return kFailure;
  if (!pass.run(graph, options, diags)) return kFailure;
  // What a pass leaves unread is a reader to the next one, and would keep it from fusing.
  return remove_dead_code(graph, options, diags);
}

}  // namespace

Status run_passes(graph::Graph& graph, std::span<const Pass> passes, const RunOptions& options, Diagnostics& diags) {
  if (options.verify_each && !ops::verify_graph(graph, diags)) return kFailure;
  for (const Pass& pass : passes) {
    auto start = std::chrono::steady_clock::now();
    if (!run_everywhere(pass, graph, options.passes, diags)) return kFailure;
    if (options.timed) options.timed(pass, std::chrono::steady_clock::now() - start);
    if (options.after) options.after(pass, graph);
    if (options.verify_each && !verify_after(graph, pass.name, diags)) return kFailure;
  }
  return success();
}

Status run_pipeline(graph::Graph& graph, const RunOptions& options, Diagnostics& diags) {
  return run_passes(graph, pipeline(), options, diags);
}

}  // namespace aotc::passes
