// SPDX-License-Identifier: Apache-2.0
// evaluate: the model's outputs on this machine, by the reference evaluation with which verify compares. It needs no C
// compiler, is slower than the emitted C, and gives the same bits, except for floats that the C library computes
// (docs/numerics.md).
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/given_reference.h"
#include "driver/inputs.h"
#include "driver/run_sequence.h"
#include "ops/operator.h"
#include "support/json.h"
#include "support/npy.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct EvaluateOptions {
  std::vector<std::string> inputs;
  std::string out;  // directory; empty: values are printed
  bool serve = false, force = false;
  CompileOptions compile;
  CommonOptions common;
};

// One model, run after run. State goes from each run to the next.
class Evaluator {
 public:
  explicit Evaluator(const graph::Graph& graph) : graph_(graph), states_(ops::initial_states(graph)) {}

  void reset() { states_ = ops::initial_states(graph_); }

  // The bytes of each output; nothing if a loop of the model did not end.
  std::optional<std::vector<std::vector<uint8_t>>> run(const Sample& inputs) {
    ops::Evaluation evaluation;
    evaluation.states = &states_;
    const auto values = ops::evaluate_graph(graph_, inputs, evaluation);
    if (evaluation.gave_up) return std::nullopt;
    return output_values(graph_, inputs, values);
  }

  static constexpr const char* kEndless = "a loop of the model does not end within 65,536 iterations";

 private:
  const graph::Graph& graph_;
  ops::StateValues states_;
};

// Standard input, read as it comes.
class Requests {
 public:
  // Without its newline, and cut where no word is so long; nothing at the end.
  std::optional<std::string> line() {
    std::string out;
    for (int c; (c = std::fgetc(stdin)) != EOF; out += static_cast<char>(c))
      if (c == '\n' || out.size() == kLongest) return out;
    return std::nullopt;
  }

  bool bytes(std::vector<uint8_t>& into) { return std::fread(into.data(), 1, into.size(), stdin) == into.size(); }

 private:
  static constexpr size_t kLongest = 64;
};

// Requests on standard input, an answer to each on standard output: "run" and the bytes of each
// input give "ok" and the bytes of each output; "reset" gives "ok"; what cannot be done gives
// "error" and why. Words stand on a line.
int serve(const graph::Graph& graph) {
  Evaluator evaluator(graph);
  Requests requests;
  Sample inputs;
  for (const graph::Port& port : graph.inputs)
    inputs.emplace_back(static_cast<size_t>(graph[port.tensor].type.bytes()));
  for (; const auto word = requests.line(); flush_out()) {
    if (*word == "reset") {
      evaluator.reset();
      write_out("ok\n");
    } else if (*word == "run") {
      for (auto& input : inputs)
        if (!requests.bytes(input)) return kExitDone;
      const auto outputs = evaluator.run(inputs);
      std::string answer = outputs ? "ok\n" : fmt::format("error {}\n", Evaluator::kEndless);
      for (size_t o = 0; outputs && o < outputs->size(); ++o)
        answer.append(reinterpret_cast<const char*>((*outputs)[o].data()), (*outputs)[o].size());
      write_out(answer);
    } else {
      write_out("error the request must be 'run' or 'reset'\n");
      return kExitUsage;
    }
  }
  return kExitDone;
}

// One array for each output: the samples stacked, in place of a leading 1 or before the shape.
std::vector<NpyArray> evaluate_all(const graph::Graph& graph, const std::vector<Sample>& samples, Diagnostics& diags) {
  Evaluator evaluator(graph);
  std::vector<NpyArray> out;
  for (const graph::Port& port : graph.outputs) {
    const graph::TensorType& t = graph[port.tensor].type;
    NpyArray& array = out.emplace_back(NpyArray{t.dtype, t.shape, {}});
    const auto count = static_cast<int64_t>(samples.size());
    if (!array.shape.empty() && array.shape[0] == 1) array.shape[0] = count;
    else if (count > 1) array.shape.insert(array.shape.begin(), count);
  }
  for (size_t s = 0; s < samples.size(); ++s) {
    const auto values = evaluator.run(samples[s]);
    if (!values) {
      Location where;
      where.file = graph.source_file;
      diags.error(where, "evaluate-endless", fmt::format("sample {}: {}", s, Evaluator::kEndless))
          .help("give inputs for which the condition of the loop becomes false");
      return {};
    }
    for (size_t o = 0; o < out.size(); ++o)
      out[o].bytes.insert(out[o].bytes.end(), (*values)[o].begin(), (*values)[o].end());
  }
  return out;
}

int evaluate(const EvaluateOptions& o) {
  Diagnostics diags;
  auto fail = [&diags] {
    print_diagnostics(diags);
    return exit_code_of(diags, kExitBadInput);
  };
  auto compiled = compile_model(o.compile, diags);
  if (!compiled || !build_given(compiled->original, diags)) return fail();
  const graph::Graph& graph = compiled->program.reference();
  if (o.serve) return serve(graph);
  auto samples = read_samples(graph, o.inputs, diags);
  if (!samples) return fail();
  const std::vector<NpyArray> arrays = evaluate_all(graph, *samples, diags);
  if (diags.has_errors()) return fail();
  OutputDirectory directory(o.out, "aotc.json", o.force);
  nlohmann::ordered_json j;
  j["samples"] = samples->size();
  j["outputs"] = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows = {{"output", "type", "shape", "file"}};
  for (size_t i = 0; i < arrays.size(); ++i) {
    const std::string name = graph.outputs[i].name, file = compiled->c.output_fields[i] + ".npy";
    directory.add(file, write_npy(arrays[i]));
    j["outputs"].push_back({{"name", escape_for_display(name, 4096)},
                            {"dtype", name_of(arrays[i].dtype)},
                            {"shape", arrays[i].shape},
                            {"file", file}});
    rows.push_back(
        {escape_for_display(name), std::string(name_of(arrays[i].dtype)), graph::to_string(arrays[i].shape), file});
  }
  directory.add("aotc.json", json_text(j, 1) + "\n");
  if (!directory.commit(diags)) return fail();
  if (o.common.json) print_out("{}\n", json_text(j, 1));
  else if (!o.common.quiet) print_out("{}", format_table(rows));
  print_diagnostics(diags);
  return kExitDone;
}

}  // namespace

options::Command evaluate_declaration() {
  auto o = std::make_shared<EvaluateOptions>();
  auto input = [o](const std::string& text) {
    if (!read_input_contract(text, o->compile)) o->inputs.push_back(text);
  };
  return {.name = "evaluate",
          .summary = "Compute the model's outputs for given inputs on this machine, without a C compiler",
          .options = {model_argument(o->compile),
                      {.names = "--input",
                       .value = "FILE.npy",
                       .target = options::Setter{input},
                       .help = "Read an input from this file. Give the files in the order of the inputs, or as "
                               "NAME=FILE. A file may stack several samples: they run in order, and each starts with "
                               "the state that the previous sample left",
                       .takes = options::Takes::kFile,
                       .common = true},
                      {.names = "-o,--directory",
                       .value = "DIR",
                       .target = &o->out,
                       .help = "Write each output to FIELD.npy in this directory; FIELD is the name of the output in C",
                       .takes = options::Takes::kDirectory,
                       .common = true},
                      {.names = "--force", .target = &o->force, .help = "Replace files that aotc did not write"},
                      {.names = "--serve",
                       .target = &o->serve,
                       .help = "Answer requests on standard input. A request is the line 'run' and then the bytes of "
                               "the inputs, or the line 'reset'",
                       .excludes = {"-o", "--force", "--json"}},
                      json_option(o->common),
                      quiet_option(o->common)},
          .groups = compile_groups(o->compile, false),
          .run = [o] {
            if (o->serve && !o->inputs.empty())
              return options::usage_error("aotc evaluate", "--serve reads inputs from standard input",
                                          {"omit --input FILE"});
            if (!o->serve && o->out.empty())
              return options::usage_error("aotc evaluate", "-o is missing", {"name the directory for the outputs"});
            return evaluate(*o);
          }};
}

}  // namespace aotc::driver
