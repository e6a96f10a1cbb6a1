// SPDX-License-Identifier: Apache-2.0
#include "tools/aotc-opt/plan_mode.h"

#include "graph/type_form.h"
#include "plan/parts.h"
#include "plan/verify.h"

namespace aotc {

namespace {

// "[1, 2] [3]": a list of values for each input.
Result<std::vector<std::vector<uint8_t>>> read_values(const std::string& text, const std::string& file,
                                                      const graph::Graph& graph, Diagnostics& diags) {
  static constexpr TextDialect kDialect{"run-inputs"};
  TextForm f(kDialect, text, file, diags);
  std::vector<std::vector<uint8_t>> out;
  for (const graph::Port& port : graph.inputs) {
    const graph::TensorType& type = graph[port.tensor].type;
    const TextPlace at = f.place();
    out.push_back(graph::read_list(f, type.dtype));
    const auto count = static_cast<int64_t>(out.back().size()) / size_of(type.dtype);
    if (count != type.elements())
      f.fail_at(at, fmt::format("{} values are given for an input of {} elements", count, type.elements()));
  }
  if (!f.token().empty()) f.fail(fmt::format("expected values of {} inputs only", graph.inputs.size()));
  if (f.failed()) return kFailure;
  return out;
}

Result<std::string> run_all(const plan::ReadProgram& read, const PlanOptions& options, Diagnostics& diags) {
  const plan::Program& program = read.program;
  std::vector<uint8_t> state = plan::initial_state(program);
  std::string out;
  for (size_t run = 0; run < options.runs.size(); ++run) {
    const std::string shown = fmt::format("--run {}", run);
    auto inputs = read_values(options.runs[run], shown, program.graph, diags);
    if (!inputs) return kFailure;
    auto outputs = plan::run_in_parts(program, read.bands, *inputs, diags, nullptr, &state);
    if (!outputs) return kFailure;
    for (size_t o = 0; o < outputs->size(); ++o) {
      const graph::Port& port = program.graph.outputs[o];
      out += fmt::format(
          "run {} {} = {}\n", run, graph::attribute_text::print(port.name),
          graph::print_constant(program.graph[port.tensor].type.dtype, {nullptr, (*outputs)[o]}, INT64_MAX));
    }
  }
  return out;
}

}  // namespace

bool is_plan(const std::string& text) {
  Diagnostics none;
  static constexpr TextDialect kDialect{""};
  return TextForm(kDialect, text, "", none).is("plan");
}

Result<plan::ReadProgram> read_plan(const std::string& text, const std::string& file, Diagnostics& diags) {
  auto read = plan::parse(text, file, diags);
  if (!read || !plan::verify(read->program, diags, &read->bands, &read->calls)) return kFailure;
  return read;
}

Result<std::string> run_plan(plan::ReadProgram read, const PlanOptions& options, Diagnostics& diags) {
  if (options.slice > 0 && read.bands.functions.empty()) {
    auto bands = plan::plan_bands(read.program, {}, options.slice, diags);
    if (!bands) return kFailure;
    read.bands = std::move(*bands);
    if (!plan::verify(read.program, diags, &read.bands)) return kFailure;
  }
  if (!options.runs.empty()) return run_all(read, options, diags);
  return plan::print(read.program, {true, options.constants_limit, &read.bands});
}

}  // namespace aotc
