// SPDX-License-Identifier: Apache-2.0
// Differential test over random graphs: each is verified, printed and read back, evaluated, taken
// through the passes and evaluated again, planned, its memory checked byte by byte, run by the TIR
// interpreter, and emitted as C that a compiler of this machine builds. All must agree to the bit.
//
//   random_graphs --count 300 [--first SEED] --work DIR [--cc "gcc -O1"]
//   random_graphs ... --interpret      without C
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "../tools/compare.h"
#include "../tools/source_dir.h"
#include "batches.h"
#include "device_check.h"
#include "generator.h"
#include "memory_check.h"
#include "ops/common/constants_only.h"
#include "ops/operator.h"
#include "options/options.h"
#include "passes/pipeline.h"
#include "plan/program.h"
#include "targets.h"

namespace {

using namespace aotc;
using namespace aotc::tests;
using graph::Graph;
using graph::TensorId;
using Values = Batches::Values;

constexpr uint64_t kSamples = 2;

// Every output's bytes, by reference evaluation.
Values outputs_of(const Graph& g, const Values& in,
                  const std::vector<std::vector<uint8_t>>& values) {
  Values out;
  for (const graph::Port& port : g.outputs) {
    auto id = static_cast<size_t>(port.tensor.value);
    if (g.is_constant(port.tensor)) {
      out.emplace_back(g.tensors[id].constant->bytes.begin(), g.tensors[id].constant->bytes.end());
      continue;
    }
    bool found = false;
    for (size_t i = 0; i < g.inputs.size() && !found; ++i)
      if (g.inputs[i].tensor == port.tensor) out.push_back(in[i]), found = true;
    if (!found) out.push_back(values[id]);
  }
  return out;
}

class Trial {
 public:
  explicit Trial(uint64_t seed) : seed_(seed), graph_(random_graph(seed)) {
    for (uint64_t s = 0; s < kSamples; ++s)
      inputs_.push_back(random_inputs(graph_, seed * kSamples + s));
  }

  // Empty, or what went wrong.
  std::string run() {
    if (!ops::verify_graph(graph_, diags_)) return "does not verify: " + diags_.str();
    if (std::string bad = round_trip(); !bad.empty()) return bad;
    for (const Values& in : inputs_)
      expected_.push_back(outputs_of(graph_, in, ops::evaluate_graph(graph_, in)));
    if (std::string bad = run_passes(); !bad.empty()) return bad;
    auto program = plan::plan_program(optimised_, plan_options_of(seed_), diags_);
    if (!program) return "cannot be planned: " + diags_.str();
    program_ = std::move(*program);
    for (const plan::ProgramFunction& f : program_.functions)
      if (!tir::verify(*f.body, diags_)) return "TIR does not verify: " + diags_.str();
    if (std::string bad = check_memory(program_, inputs_[0]); !bad.empty())
      return "memory plan: " + bad;
    if (std::string bad = interpret(); !bad.empty()) return bad;
    // The interpreter is most of the time: not every graph twice.
    if (seed_ % 3 != 0) return "";
    std::string bad = check_devices(optimised_, plan_options_of(seed_), seed_, inputs_, expected_);
    return bad.empty() ? bad : "several devices: " + bad;
  }

  const Graph& original() const { return graph_; }
  const plan::Program& program() const { return program_; }
  const std::vector<Values>& inputs() const { return inputs_; }
  const std::vector<Values>& expected() const { return expected_; }

 private:
  std::string round_trip() {
    std::string text = graph::print(graph_);
    auto again = graph::parse(text, "text", ops::definition_lookup(), diags_);
    if (!again) return "printed text does not parse: " + diags_.str();
    if (graph::print(*again) != text) return "printed text reads back to something else";
    return "";
  }

  std::string differ(const Values& have, const Values& want, const Graph& g) {
    if (have.size() != want.size()) return "another number of outputs";
    for (size_t o = 0; o < have.size(); ++o) {
      std::string d = difference(have[o], want[o], g[g.outputs[o].tensor].type.dtype, 0);
      // Two NaNs are equal whatever their bits; `difference` with a bound knows.
      if (!d.empty())
        d = difference(have[o], want[o], g[g.outputs[o].tensor].type.dtype, 1).empty() &&
                    d.find("(0 ulp)") != std::string::npos
                ? ""
                : d;
      if (!d.empty()) return fmt::format("output {}: {}", o, d);
    }
    return "";
  }

  std::string run_passes() {
    optimised_ = graph_;
    passes::RunOptions options;
    options.verify_each = true;
    std::string bad;
    options.after = [&](const passes::Pass& pass, const Graph& g) {
      for (size_t s = 0; s < inputs_.size() && bad.empty(); ++s) {
        std::string d =
            differ(outputs_of(g, inputs_[s], ops::evaluate_graph(g, inputs_[s])), expected_[s], g);
        if (!d.empty()) bad = fmt::format("pass {} changes {}", pass.name, d);
      }
    };
    if (!passes::run_pipeline(optimised_, options, diags_)) return "passes fail: " + diags_.str();
    return bad;
  }

  // Every result of every call, and the outputs.
  std::string interpret() {
    const Graph& g = program_.graph;
    for (size_t s = 0; s < inputs_.size(); ++s) {
      auto values = ops::evaluate_graph(g, inputs_[s]);
      std::string bad;
      auto on_result = [&](int c, int r, std::span<const uint8_t> have) {
        TensorId id = program_.calls[static_cast<size_t>(c)].results[static_cast<size_t>(r)];
        std::string d =
            difference(have, values[static_cast<size_t>(id.value)], g[id].type.dtype, 0);
        if (!d.empty() && d.find("(0 ulp)") == std::string::npos && bad.empty())
          bad = fmt::format(
              "TIR of call {} ({}): {}", c,
              g.ops[static_cast<size_t>(program_.calls[static_cast<size_t>(c)].op_index)].name(),
              d);
      };
      auto out = plan::run_program(program_, inputs_[s], diags_, on_result);
      if (!out) return "TIR traps: " + diags_.str();
      if (bad.empty()) bad = differ(*out, expected_[s], g);
      if (!bad.empty()) return bad;
    }
    return "";
  }

  uint64_t seed_;
  Graph graph_, optimised_;
  plan::Program program_;
  std::vector<Values> inputs_, expected_;
  Diagnostics diags_;
};

// The checker must see it when one operand of a call is moved onto another.
bool sees_a_clash(const plan::Program& program, const Values& inputs) {
  for (const plan::ProgramCall& call : program.calls) {
    if (call.op_index < 0) continue;
    std::vector<plan::Storage> read;
    for (TensorId id : program.graph.ops[static_cast<size_t>(call.op_index)].operands) {
      if (!id.valid()) continue;
      plan::Storage s = program.tensors[static_cast<size_t>(id.value)];
      bool known =
          std::any_of(read.begin(), read.end(), [&](auto& r) { return r.index == s.index; });
      if (s.kind == plan::StorageKind::kArena && !known) read.push_back(s);
    }
    if (read.size() < 2) continue;
    plan::Program broken = program;
    broken.arena_bytes += program.arena_bytes;  // room for the one that moves
    auto move = [&](plan::Storage& s) {
      if (s == read[1]) s.offset = read[0].offset;
    };
    for (plan::Storage& s : broken.tensors) move(s);
    for (plan::ProgramCall& c : broken.calls)
      for (plan::CallArgument& a : c.arguments) move(a.storage);
    return !check_memory(broken, inputs).empty();
  }
  return true;
}

struct Options {
  uint64_t first = 1;
  int count = 300;
  std::string work, cc = "gcc -O1";
  bool interpret = false;
};

int run(const Options& options) {
  namespace fs = std::filesystem;
  fs::remove_all(options.work);
  fs::create_directories(options.work);
  std::vector<std::string> compiler;
  std::istringstream words(options.cc);
  for (std::string word; words >> word;) compiler.push_back(word);
  for (const char* flag :
       {"-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror",
        "-ffp-contract=off"})
    compiler.push_back(flag);
  for (const char* folder : {"/tests/random_graphs", "/crt/include"})
    compiler.push_back("-I" + source_dir() + folder);
  Batches batches(options.work, compiler, 15);
  int failed = 0, emitted = 0, ran = 0;
  std::map<std::string, int> seen;
  for (uint64_t seed = options.first; seed < options.first + static_cast<uint64_t>(options.count);
       ++seed) {
    Trial trial(seed);
    for (const graph::Op& op : trial.original().ops) ++seen[std::string(op.name())];
    std::string bad = trial.run();
    if (bad.empty() && !sees_a_clash(trial.program(), trial.inputs()[0]))
      bad = "a clash in memory goes unseen";
    if (bad.empty() && options.interpret) {
      ++ran;
      continue;
    }
    if (bad.empty()) {
      batches.add(fmt::format("seed {}", seed), trial.program(), trial.inputs(), trial.expected());
      ++emitted;
      continue;
    }
    ++failed;
    std::string file = fmt::format("{}/seed_{}.air", options.work, seed);
    std::ofstream(file) << graph::print(trial.original());
    std::printf("FAILED seed %llu: %s\n", static_cast<unsigned long long>(seed), bad.c_str());
  }
  for (const std::string& line : batches.run(&ran)) std::printf("%s\n", line.c_str());
  if (!options.interpret) failed += emitted - ran;
  // A generator that stopped making an operator would pass for ever.
  std::string absent;
  for (const ops::Operator* op : ops::operators().all())
    if (!op->traits().external && !op->traits().device_copy && op->traits().control == ops::Control::kNone &&
        dynamic_cast<const ops::ConstantsOnly*>(op) == nullptr && !seen.contains(std::string(op->name())))
      absent += " " + std::string(op->name());
  if (!absent.empty() && options.count >= 300) {
    std::printf("FAILED operators that no graph has:%s\n", absent.c_str());
    ++failed;
  }
  std::printf("%d passed, %d failed\n", ran, failed);
  return failed == 0 && ran > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  const aotc::options::Command program = {
      .name = "random_graphs",
      .summary = "Differential test over random graphs",
      .options = {{.names = "--count", .value = "N", .target = &o.count, .help = "Graphs"},
                  {.names = "--first", .value = "SEED", .target = &o.first, .help = "First seed"},
                  {.names = "--work",
                   .value = "DIR",
                   .target = &o.work,
                   .help = "Directory for emitted C",
                   .required = true},
                  {.names = "--cc", .value = "COMMAND", .target = &o.cc, .help = "C compiler and flags"},
                  {.names = "--interpret", .target = &o.interpret, .help = "Do not emit C"}},
      .run = [&o] { return run(o); }};
  return aotc::options::run(program, {argv + 1, argv + argc});
}
