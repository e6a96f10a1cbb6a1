// SPDX-License-Identifier: Apache-2.0
#include "model_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "codegen/c_model.h"
#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/reader.h"
#include "frontends/tflite/rules.h"
#include "mutations.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
#include "plan/program.h"

namespace aotc::fuzz {

namespace {

// Takes the place of every builtin operator and accepts everything, so that what the reader does
// behind the operators is reached whatever this build supports.
class AnyOperator : public ops::Operator {
 public:
  explicit AnyOperator(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }
  std::string_view summary() const override { return "for fuzzing"; }
  std::vector<ops::TypeSupport> types() const override { return {}; }
  Status verify(const ops::OpView&, Diagnostics&) const override { return success(); }
  Result<std::vector<graph::Shape>> infer(const ops::OpView& op, Diagnostics&) const override {
    std::vector<graph::Shape> shapes;
    for (size_t i = 0; i < op.op.results.size(); ++i) {
      shapes.push_back(op.has_operand(i) ? op.operand(i).shape : op.result(i).shape);
    }
    return shapes;
  }
  void evaluate(const ops::OpView&, const ops::EvalData&) const override {}
  ops::Lowered lower(const ops::OpView&, const ops::TargetInfo&) const override { return {}; }

 private:
  std::string_view name_;
};

const ops::OperatorSet& any_operators() {
  static const ops::OperatorSet set = [] {
    ops::OperatorSet made;
    made.add(std::make_unique<AnyOperator>("any"));
    made.add(std::make_unique<AnyOperator>("reshape"));  // what reading a variable becomes
    return made;
  }();
  return set;
}

const frontends::tflite::RuleTable& any_rules() {
  static const frontends::tflite::RuleTable table = [] {
    frontends::tflite::RuleTable made;
    for (std::string_view name : frontends::tflite_builtin_names()) made.add({name, "any"});
    return made;
  }();
  return table;
}

// What every message owes its reader, and what each stage owes those behind it.
std::string broken_promise(const Diagnostics& diags, bool ok) {
  if (ok && diags.has_errors()) return "success, but errors were reported";
  if (!ok && !diags.has_errors()) return "failure without an error";
  for (const Diagnostic& d : diags.all()) {
    if (d.slug.empty() || d.message.empty()) return "a message without text or slug";
    if (d.location.file.empty()) return "a message without its file";
    // These say that one stage broke what another relies on; no file is to blame for them.
    for (const char* bug : {"internal", "ir-invalid", "plan-invalid", "tir-invalid", "tir-trap"})
      if (d.slug == bug) return "a bug in aotc was reported";
  }
  return "";
}

// What the interpreter takes a moment for.
constexpr int64_t kSmallMacs = 500'000;
constexpr int64_t kSmallBytes = 1 << 20;

bool is_small(const graph::Graph& graph) {
  int64_t macs = 0, bytes = 0;
  for (const graph::Tensor& t : graph.tensors) bytes += t.type.bytes();
  for (const graph::Op& op : graph.ops) macs += ops::definition_of(op).macs({graph, op});
  return macs < kSmallMacs && bytes < kSmallBytes;
}

std::vector<uint8_t> random_input(const graph::TensorType& type, Random& random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(type.bytes()));
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random.next() >> 56);
  if (type.dtype == DType::kBool)
    for (uint8_t& b : bytes) b &= 1;
  if (type.dtype == DType::kF32) {
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      // Of every size that converters choose scales for.
      float magnitude = random.below(8) == 0 ? 100.0f : 4.0f;
      float v = (static_cast<float>(random.below(1 << 24)) / (1 << 23) - 1.0f) * magnitude;
      std::memcpy(&bytes[i], &v, 4);
    }
  }
  return bytes;
}

// Bit for bit, but for what a NaN looks like.
std::string difference(const std::vector<uint8_t>& have, const std::vector<uint8_t>& want, DType type) {
  if (have.size() != want.size()) return fmt::format("{} bytes instead of {}", have.size(), want.size());
  auto step = static_cast<size_t>(size_of(type));
  for (size_t i = 0; i < have.size(); i += step) {
    if (std::memcmp(&have[i], &want[i], step) == 0) continue;
    if (type == DType::kF32) {
      float a = 0, b = 0;
      std::memcpy(&a, &have[i], 4);
      std::memcpy(&b, &want[i], 4);
      if (std::isnan(a) && std::isnan(b)) continue;
      return fmt::format("element {}: {} instead of {}", i / step, a, b);
    }
    return fmt::format("byte {}: {} instead of {}", i, have[i], want[i]);
  }
  return "";
}

// Where the outputs of one run differ.
std::string wrong_outputs(const graph::Graph& original, const std::vector<std::vector<uint8_t>>& inputs,
                          const std::vector<std::vector<uint8_t>>& want,
                          const std::vector<std::vector<uint8_t>>& have) {
  for (size_t i = 0; i < original.outputs.size(); ++i) {
    graph::TensorId id = original.outputs[i].tensor;
    // The evaluation returns what operators define; an output may also be an input.
    auto given = std::find_if(original.inputs.begin(), original.inputs.end(),
                              [&](const graph::Port& p) { return p.tensor == id; });
    const std::vector<uint8_t>& expected = given != original.inputs.end()
                                               ? inputs[static_cast<size_t>(given - original.inputs.begin())]
                                               : want[static_cast<size_t>(id.value)];
    std::string text = difference(have[i], expected, original[id].type.dtype);
    if (!text.empty()) return fmt::format("output {} differs from the reference evaluation, {}", i, text);
  }
  return "";
}

// Did a function end the run because its data is outside of what the operator is defined for (a root of a negative
// number)? That is no fault where one may.
bool ended_by_data(const plan::Program& program, const Diagnostics& diags) {
  return diags.str().find("not defined for this data") != std::string::npos &&
         std::any_of(program.functions.begin(), program.functions.end(),
                     [](const plan::ProgramFunction& f) { return tir::can_fail(f.body->body); });
}

// Where the program's outputs differ from the reference evaluation's of the graph as it was read.
std::string wrong_result(const graph::Graph& original, const plan::Program& program, uint64_t seed,
                         Diagnostics& diags) {
  Random random(seed);
  ops::StateValues states = ops::initial_states(original);
  std::vector<uint8_t> memory = plan::initial_state(program);
  // One run says nothing of what the next one begins with.
  for (int run = 0; run < (states.empty() ? 1 : 3); ++run) {
    std::vector<std::vector<uint8_t>> inputs;
    for (const graph::Port& port : original.inputs) inputs.push_back(random_input(original[port.tensor].type, random));
    ops::Evaluation evaluation;
    evaluation.states = &states;
    evaluation.iterations = 500;
    auto want = ops::evaluate_graph(original, inputs, evaluation);
    // A damaged loop may never end.
    if (evaluation.gave_up) return "";
    auto have = plan::run_program(program, inputs, diags, nullptr, &memory);
    if (!have) return ended_by_data(program, diags) ? "" : "the interpreter stopped the program";
    std::string text = wrong_outputs(original, inputs, want, *have);
    if (!text.empty()) return text;
  }
  return "";
}

// The rest of the way, for a graph that was read and verified.
CaseResult compile(const graph::Graph& original, const CaseOptions& options, Diagnostics& diags) {
  auto broken = [&](const std::string& what) { return CaseResult{Verdict::kBroken, false, what + "\n" + diags.str()}; };
  auto refused_or_broken = [&] {
    std::string text = broken_promise(diags, false);
    return text.empty() ? CaseResult{Verdict::kRefused, false, diags.str()} : broken(text);
  };
  graph::Graph graph = original;
  passes::RunOptions run;
  run.verify_each = true;
  if (!passes::run_pipeline(graph, run, diags)) return refused_or_broken();
  bool small = is_small(original) && is_small(graph);
  plan::PlanOptions plan_options;
  if (options.seed % 2 == 1) plan_options.inputs = plan::Contract::kOverwrite;
  if (options.seed % 4 == 3) plan_options.outputs = plan::Contract::kOverwrite;
  auto program = plan::plan_program(std::move(graph), plan_options, diags);
  if (!program) return refused_or_broken();
  for (const plan::ProgramFunction& f : program->functions)
    if (!tir::verify(*f.body, diags)) return broken("a function does not verify");
  codegen::CodegenOptions c;
  c.prefix = "case";
  c.version = "fuzz";
  if (codegen::print_model(*program, c).files.empty()) return broken("no files");
  CaseResult result{Verdict::kAccepted, false, diags.str()};
  if (!small || !options.run) return result;
  result.ran = true;
  std::string wrong = wrong_result(original, *program, options.seed, diags);
  return wrong.empty() ? result : broken(wrong);
}

}  // namespace

CaseResult run_tflite_case(std::vector<uint8_t> bytes, const CaseOptions& case_options) {
  // With operators that accept anything, only the structure means something.
  for (bool any : {true, false}) {
    frontends::ReadOptions options;
    options.operators = any ? &any_operators() : &ops::operators();
    Diagnostics diags;
    auto graph =
        frontends::read_tflite(bytes, "case.tflite", diags, options, any ? any_rules() : frontends::tflite::rules());
    bool ok = graph.ok();
    if (ok) ok = any ? graph::verify_structure(*graph, diags).ok() : ops::verify_graph(*graph, diags).ok();
    std::string broken = broken_promise(diags, ok);
    if (!broken.empty()) return {Verdict::kBroken, false, broken + "\n" + diags.str()};
    if (any) continue;
    if (!ok) return {Verdict::kRefused, false, diags.str()};
    return compile(*graph, case_options, diags);
  }
  return {};
}

}  // namespace aotc::fuzz
