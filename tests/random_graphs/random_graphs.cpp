// SPDX-License-Identifier: Apache-2.0
// Differential test over random graphs: each is verified, printed and read back, evaluated, taken
// through the passes and evaluated again, planned, its memory checked byte by byte, run by the TIR
// interpreter, and emitted as C that a compiler of this machine builds. All must agree to the bit, graphs
// with states run after run and behind a reset.
//
//   random_graphs --count 300 [--first SEED] --work DIR [--cc "gcc -O1"]
//   random_graphs ... --control        only graphs with states, branches and loops
//   random_graphs ... --interpret      without C
//   random_graphs ... --print          the text of graphs and nothing else
//   random_graphs --graph FILE --first SEED --work DIR     a graph from a file, with that seed's options
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "../tools/source_dir.h"
#include "batches.h"
#include "generator.h"
#include "memory_check.h"
#include "ops/common/constants_only.h"
#include "ops/operator.h"
#include "options/options.h"
#include "plan/program.h"
#include "trial.h"

namespace {

using namespace aotc;
using namespace aotc::tests;
using graph::TensorId;
using Values = Batches::Values;

// Written by operators or the caller: not what a branch or loop gives, which may be the same value twice.
bool is_defined(const graph::Graph& g, TensorId id) {
  if (g.is_input(id)) return true;
  for (const graph::Op& op : g.ops)
    if (std::find(op.results.begin(), op.results.end(), id) != op.results.end())
      return !ops::definition_of(op).traits().view;
  return false;
}

// The checker must see it when one operand of a call is moved onto another. Only calls that surely run.
bool sees_a_clash(const plan::Program& program, const Values& inputs) {
  for (const plan::ProgramStep& step : program.body) {
    if (step.kind != plan::ProgramStep::Kind::kCall) continue;
    const plan::ProgramCall& call = program.calls[static_cast<size_t>(step.call)];
    if (call.op_index < 0) continue;
    // What takes indices may not read the bytes that clash.
    const graph::Op& op = program.graph.ops[static_cast<size_t>(call.op_index)];
    if (ops::definition_of(op).traits().may_fail) continue;
    std::vector<plan::Storage> read;
    for (TensorId id : op.operands) {
      if (!id.valid() || !is_defined(program.graph, id)) continue;
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
    for (plan::Storage& s : broken.outputs) move(s);
    for (plan::ProgramCall& c : broken.calls)
      for (plan::CallArgument& a : c.arguments) move(a.storage);
    return !check_memory(broken, {inputs}).empty();
  }
  return true;
}

struct Options {
  uint64_t first = 1;
  int count = 300;
  std::string work, graph, cc = "gcc -O1";
  bool interpret = false, control = false, print = false;

  // Every third graph has states, branches and loops, if not all have.
  Kind kind(uint64_t seed) const { return control || seed % 3 == 2 ? Kind::kControl : Kind::kPlain; }
};

void count_operators(const graph::Graph& g, std::map<std::string, int>& seen) {
  for (const graph::Op& op : g.ops) {
    ++seen[std::string(op.name())];
    for (const graph::Graph& region : op.regions) count_operators(region, seen);
  }
}

// Operators that graphs should have and none has had.
std::set<std::string> absent(const std::map<std::string, int>& seen) {
  std::set<std::string> out;
  for (const ops::Operator* op : ops::operators().all())
    if (!op->traits().external && !op->traits().device_copy && !op->traits().may_fail &&
        dynamic_cast<const ops::ConstantsOnly*>(op) == nullptr && !seen.contains(std::string(op->name())))
      out.insert(std::string(op->name()));
  return out;
}

int print(const Options& options) {
  for (uint64_t seed = options.first; seed < options.first + static_cast<uint64_t>(options.count); ++seed)
    std::printf("%s", graph::print(random_graph(seed, options.kind(seed))).c_str());
  return 0;
}

// A graph that failed, or what is left of it: everything but C.
int run_file(const Options& options) {
  std::ifstream in(options.graph);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  Diagnostics diags;
  auto graph = graph::parse(text, options.graph, ops::definition_lookup(), diags);
  if (!graph) return std::printf("%s", diags.str().c_str()), 1;
  std::string bad = Trial(options.first, std::move(*graph)).run();
  std::printf("%s\n", bad.empty() ? "passed" : bad.c_str());
  return bad.empty() ? 0 : 1;
}

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
  auto one = [&](uint64_t seed) {
    Trial trial(seed, random_graph(seed, options.kind(seed)));
    count_operators(trial.original(), seen);
    std::string bad = trial.run();
    if (bad.empty() && !sees_a_clash(trial.program(), trial.runs().inputs[0]))
      bad = "a clash in memory goes unseen";
    if (bad.empty() && options.interpret) {
      ++ran;
      return;
    }
    if (bad.empty()) {
      batches.add(fmt::format("seed {}", seed), trial.program(), trial.runs());
      ++emitted;
      return;
    }
    ++failed;
    std::string file = fmt::format("{}/seed_{}.air", options.work, seed);
    std::ofstream(file) << graph::print(trial.original());
    std::printf("FAILED seed %llu: %s\n", static_cast<unsigned long long>(seed), bad.c_str());
  };
  const uint64_t end = options.first + static_cast<uint64_t>(options.count);
  for (uint64_t seed = options.first; seed < end; ++seed) one(seed);
  // Beyond, graphs with operators that none has had so far. A generator that stopped making one would
  // pass for ever.
  std::set<std::string> wanted = options.count >= 300 ? absent(seen) : std::set<std::string>();
  for (uint64_t seed = end; !wanted.empty() && seed < end + 10 * static_cast<uint64_t>(options.count); ++seed) {
    std::map<std::string, int> has;
    count_operators(random_graph(seed, options.kind(seed)), has);
    if (std::none_of(wanted.begin(), wanted.end(), [&](const std::string& name) { return has.contains(name); }))
      continue;
    one(seed);
    wanted = absent(seen);
  }
  for (const std::string& line : batches.run(&ran)) std::printf("%s\n", line.c_str());
  if (!options.interpret) failed += emitted - ran;
  for (const std::string& name : wanted) {
    std::printf("FAILED operator that no graph has: %s\n", name.c_str());
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
                  {.names = "--interpret", .target = &o.interpret, .help = "Do not emit C"},
                {.names = "--control",
                 .target = &o.control,
                 .help = "Only graphs with states, branches and loops"},
                {.names = "--graph", .value = "FILE", .target = &o.graph, .help = "The text of a graph to run"},
                {.names = "--print", .target = &o.print, .help = "Print the graphs, and nothing else"}},
      .run = [&o] { return o.print ? print(o) : o.graph.empty() ? run(o) : run_file(o); }};
  return aotc::options::run(program, {argv + 1, argv + argc});
}
