// SPDX-License-Identifier: Apache-2.0
// Differential test over random graphs: each is verified, printed and read back, evaluated, taken
// through the passes and evaluated again, planned, its memory checked byte by byte, run by the TIR
// interpreter, and emitted as C that a compiler of this machine builds. All must agree to the bit, graphs
// with states run after run and behind a reset.
//
//   random_graphs --count 300 [--first SEED] --work DIR [--cc "gcc -O1"]
//   random_graphs ... --control        only graphs with states, branches and loops
//   random_graphs ... --rows           chains over images, of which some operators are computed row by row
//   random_graphs ... --interpret      without C
//   random_graphs ... --print          the text of graphs and nothing else
//   random_graphs --graph FILE --first SEED --work DIR     a graph from a file, with that seed's options
#include <algorithm>
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
#include "plan/repeats.h"
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

// Operands of one type: indices beside values say which values are read, perhaps none of those moved.
bool reads_all(const graph::Graph& g, const graph::Op& op) {
  std::set<DType> types;
  for (TensorId id : op.operands)
    if (id.valid() && !g.is_constant(id)) types.insert(g[id].type.dtype);
  return types.size() < 2 || (!types.contains(DType::kI32) && !types.contains(DType::kI64));
}

// The checker must see it when one operand of a call is moved onto another. Only calls that surely run.
bool sees_a_clash(const plan::Program& program, const Values& inputs) {
  for (const plan::ProgramStep& step : without_repeats(program.body)) {
    if (step.kind != plan::ProgramStep::Kind::kCall) continue;
    const plan::ProgramCall& call = program.calls[static_cast<size_t>(step.call)];
    if (call.op_index < 0 || !reads_all(program.graph, program.graph.ops[static_cast<size_t>(call.op_index)])) continue;
    std::vector<plan::Storage> read;
    for (TensorId id : program.graph.ops[static_cast<size_t>(call.op_index)].operands) {
      if (!id.valid() || !is_defined(program.graph, id)) continue;
      plan::Storage s = program.tensors[static_cast<size_t>(id.value)];
      bool known = std::any_of(read.begin(), read.end(), [&](auto& r) { return r.index == s.index; });
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
  bool interpret = false, control = false, rows = false, print = false;

  // Every third graph has states, branches and loops, if not all have; every ninth is unrolled.
  Kind kind(uint64_t seed) const {
    if (rows) return Kind::kRows;
    if (control || seed % 3 == 2) return Kind::kControl;
    return seed % 9 == 4 ? Kind::kUnrolled : Kind::kPlain;
  }
};

void count_operators(const graph::Graph& g, std::map<std::string, int>& seen) {
  for (const graph::Op& op : g.ops) {
    ++seen[std::string(op.name())];
    for (const graph::Graph& region : op.regions) count_operators(region, seen);
  }
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

// Operators that are drawn and that no graph had yet.
std::set<std::string> absent_operators(const std::map<std::string, int>& seen) {
  std::set<std::string> out;
  for (const ops::Operator* op : ops::operators().all())
    if (!op->traits().external && !op->traits().device_copy && !op->traits().may_fail &&
        dynamic_cast<const ops::ConstantsOnly*>(op) == nullptr && !seen.contains(std::string(op->name())))
      out.insert(std::string(op->name()));
  return out;
}

std::vector<std::string> compiler_of(const Options& options) {
  std::vector<std::string> compiler;
  std::istringstream words(options.cc);
  for (std::string word; words >> word;) compiler.push_back(word);
  for (const char* flag :
       {"-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-ffp-contract=off"})
    compiler.push_back(flag);
  for (const char* folder : {"/tests/random_graphs", "/crt/include"}) compiler.push_back("-I" + source_dir() + folder);
  return compiler;
}

class Lane {
 public:
  explicit Lane(const Options& options) : options_(options), batches_(options.work, compiler_of(options), 15) {}

  int run() {
    const uint64_t end = options_.first + static_cast<uint64_t>(options_.count);
    for (uint64_t seed = options_.first; seed < end; ++seed) try_graph(seed, draw(seed));
    if (options_.count >= 300 && !options_.rows) draw_absent(end);
    for (const std::string& line : batches_.run(&ran_)) std::printf("%s\n", line.c_str());
    if (!options_.interpret) failed_ += emitted_ - ran_;
    if (options_.count >= 300 && !options_.control && !options_.rows && repeats_ == 0) {
      std::printf("FAILED no graph has calls that repeat\n");
      ++failed_;
    }
    if (options_.rows && streamed_ * 3 < options_.count * 2) {
      std::printf("FAILED of %d graphs %d have operators that are computed row by row\n", options_.count, streamed_);
      ++failed_;
    }
    if (options_.count >= (options_.control ? 100 : 200) && !options_.rows) count_windows();
    if (options_.rows && banded_ * 4 < options_.count) {
      std::printf("FAILED of %d graphs %d have operators that make some rows or pixels at a time\n", options_.count,
                  banded_);
      ++failed_;
    }
    if (options_.rows)
      std::printf("%d passed, %d failed; %d have operators that are computed row by row, %d of them in bands\n", ran_,
                  failed_, streamed_, banded_);
    else std::printf("%d passed, %d failed\n", ran_, failed_);
    return failed_ == 0 && ran_ > 0 ? 0 : 1;
  }

 private:
  graph::Graph draw(uint64_t seed) const { return random_graph(seed, options_.kind(seed)); }

  // Graphs with operators that none had; a generator that stopped making one would pass for ever.
  void draw_absent(uint64_t seed) {
    std::set<std::string> absent = absent_operators(seen_);
    for (const uint64_t end = seed + 5000; seed < end && !absent.empty(); ++seed) {
      graph::Graph graph = draw(seed);
      std::map<std::string, int> here;
      count_operators(graph, here);
      bool wanted = std::any_of(absent.begin(), absent.end(), [&](const auto& name) { return here.contains(name); });
      if (!wanted) continue;
      try_graph(seed, std::move(graph));
      absent = absent_operators(seen_);
    }
    if (absent.empty()) return;
    std::printf("FAILED operators that no graph has: %s\n", fmt::format("{}", fmt::join(absent, " ")).c_str());
    ++failed_;
  }

  // In how many graphs is a window of each form?
  void see_windows(const plan::Program& p) {
    for (const plan::Window& w : p.windows) {
      const graph::Graph& g = p.graph;
      const TensorId slid = g.ops[w.slide].results[0];
      const bool read = std::any_of(g.ops.begin(), g.ops.end(), [&](const graph::Op& op) {
        return std::find(op.operands.begin(), op.operands.end(), slid) != op.operands.end();
      });
      const bool last = w.slide > w.push;
      ++windows_[last ? read ? "what is left is read" : "the whole is read" : "the oldest go first"];
      const auto rows = std::count(w.there.begin() + 1, w.there.end(), true);
      ++windows_[std::string(last ? "behind" : "before") + (rows > 0 ? ": rows are made there" : ": rows are copied")];
    }
  }

  void count_windows() {
    for (const char* form :
         {"the whole is read", "what is left is read", "the oldest go first", "behind: rows are made there",
          "behind: rows are copied", "before: rows are made there", "before: rows are copied"}) {
      std::printf("windows, %s: %d\n", form, windows_[form]);
      if (windows_[form] > 0) continue;
      std::printf("FAILED no graph has such a window\n");
      ++failed_;
    }
  }

  void try_graph(uint64_t seed, graph::Graph graph) {
    Trial trial(seed, std::move(graph), options_.rows);
    count_operators(trial.original(), seen_);
    std::string bad = trial.run();
    streamed_ += trial.streams();
    see_windows(trial.program());
    banded_ += trial.has_bands_of_rows();
    repeats_ += plan::printed_calls(trial.program()) < static_cast<int64_t>(trial.program().calls.size());
    if (bad.empty() && !sees_a_clash(trial.program(), trial.runs().inputs[0])) bad = "a clash in memory goes unseen";
    if (bad.empty() && options_.interpret) {
      ++ran_;
      return;
    }
    if (bad.empty()) {
      batches_.add(fmt::format("seed {}", seed), trial.program(), trial.runs(), trial.slices());
      ++emitted_;
      return;
    }
    ++failed_;
    std::string file = fmt::format("{}/seed_{}.air", options_.work, seed);
    std::ofstream(file) << graph::print(trial.original());
    std::printf("FAILED seed %llu: %s\n", static_cast<unsigned long long>(seed), bad.c_str());
  }

  const Options& options_;
  Batches batches_;
  int failed_ = 0, emitted_ = 0, ran_ = 0;
  int repeats_ = 0;   // programs with calls that repeat
  int streamed_ = 0;  // programs with operators that are computed row by row
  int banded_ = 0;    // of which some make bands
  std::map<std::string, int> seen_, windows_;
};

int run(const Options& options) {
  std::filesystem::remove_all(options.work);
  std::filesystem::create_directories(options.work);
  return Lane(options).run();
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  const aotc::options::Command program = {
      .name = "random_graphs",
      .summary = "Differential test over random graphs",
      .options =
          {{.names = "--count", .value = "N", .target = &o.count, .help = "Graphs"},
           {.names = "--first", .value = "SEED", .target = &o.first, .help = "First seed"},
           {.names = "--work", .value = "DIR", .target = &o.work, .help = "Directory for emitted C", .required = true},
           {.names = "--cc", .value = "COMMAND", .target = &o.cc, .help = "C compiler and flags"},
           {.names = "--interpret", .target = &o.interpret, .help = "Do not emit C"},
           {.names = "--control", .target = &o.control, .help = "Only graphs with states, branches and loops"},
           {.names = "--rows",
            .target = &o.rows,
            .help = "Chains over images, of which some operators are computed row by row"},
           {.names = "--graph", .value = "FILE", .target = &o.graph, .help = "The text of a graph to run"},
           {.names = "--print", .target = &o.print, .help = "Print the graphs, and nothing else"}},
      .run = [&o] { return o.print           ? print(o)
                           : o.graph.empty() ? run(o)
                                             : run_file(o); }};
  return aotc::options::run(program, {argv + 1, argv + argc});
}
