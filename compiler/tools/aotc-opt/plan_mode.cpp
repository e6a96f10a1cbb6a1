// SPDX-License-Identifier: Apache-2.0
#include "tools/aotc-opt/plan_mode.h"

#include "graph/text_reader.h"
#include "plan/parts.h"
#include "plan/verify.h"

namespace aotc {

namespace {

// "[1, 2] [3]": a list of values for each input.
class ValueReader : private graph::TextReader {
 public:
  ValueReader(const std::string& text, const std::string& file, Diagnostics& diags)
      : TextReader(text, file, "run-inputs", diags) {}

  Result<std::vector<std::vector<uint8_t>>> run(const graph::Graph& graph) {
    std::vector<std::vector<uint8_t>> out;
    for (const graph::Port& port : graph.inputs) {
      const graph::TensorType& type = graph[port.tensor].type;
      const graph::TextPosition at = cursor_.position();
      if (!parse_list(out.emplace_back(), type.dtype)) return kFailure;
      const auto count = static_cast<int64_t>(out.back().size()) / size_of(type.dtype);
      if (count != type.elements())
        return fail_at(at, fmt::format("{} values are given for an input of {} elements", count, type.elements()));
    }
    if (!cursor_.at_end()) return fail(fmt::format("expected values of {} inputs only", graph.inputs.size()));
    return out;
  }
};

Result<std::string> run_all(const plan::ReadProgram& read, const PlanOptions& options, Diagnostics& diags) {
  const plan::Program& program = read.program;
  std::vector<uint8_t> state = plan::initial_state(program);
  std::string out;
  for (size_t run = 0; run < options.runs.size(); ++run) {
    const std::string shown = fmt::format("--run {}", run);
    auto inputs = ValueReader(options.runs[run], shown, diags).run(program.graph);
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

bool is_plan(const std::string& text) { return graph::TextCursor(text).accept_word("plan"); }

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
