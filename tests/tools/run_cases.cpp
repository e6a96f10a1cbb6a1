// SPDX-License-Identifier: Apache-2.0
// Runs the operator cases that tests/oracle/make_cases.py wrote: each by reference evaluation and
// by the TIR interpreter over the planned program, compared with LiteRT's results. With --emit it
// computes nothing: it writes all cases as C with a main that compares, for any compiler and board.
//
//   run_cases CASES_DIR [--op NAME]... [--case NAME] [--emit DIR] [--every N] [--features A,B]
//             [--triples CHANNELS] [--quads]
//
// A case LiteRT runs and aotc refuses counts as failed unless tests/ops/<op>/refused.txt names it.
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "case_emitter.h"
#include "check_overlap.h"
#include "compare.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"
#include "options/options.h"
#include "plan/program.h"
#include "source_dir.h"
#include "support/files.h"
#include "support/text.h"
#include "target/cpu.h"

namespace {

using namespace aotc;
using tests::Bytes;
using tests::CaseEmitter;
using tests::difference;
using tests::Record;

uint32_t u32_at(const Bytes& b, size_t at) {
  uint32_t v = 0;
  std::memcpy(&v, b.data() + at, 4);
  return v;
}

std::vector<Record> read_records(const Bytes& b) {
  std::vector<Record> out;
  for (size_t at = 4; at + 16 <= b.size();) {
    Record r{u32_at(b, at), u32_at(b, at + 4), u32_at(b, at + 8), {}};
    size_t n = u32_at(b, at + 12);
    r.data.assign(b.begin() + static_cast<long>(at + 16),
                  b.begin() + static_cast<long>(at + 16 + n));
    at += 16 + n;
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<std::vector<Bytes>> read_samples(const Bytes& b, const graph::Graph& g) {
  std::vector<std::vector<Bytes>> out(u32_at(b, 4));
  size_t at = 8;
  for (auto& sample : out)
    for (const auto& port : g.inputs) {
      auto n = static_cast<size_t>(g[port.tensor].type.bytes());
      sample.emplace_back(b.begin() + static_cast<long>(at), b.begin() + static_cast<long>(at + n));
      at += n;
    }
  return out;
}

// ---------------------------------------------------------------- running

struct Options {
  std::string dir, only_case, emit, refused_dir;
  std::set<std::string> ops;
  ops::TargetInfo target;
  int every = 1;
};

class Runner {
 public:
  explicit Runner(Options options) : options_(std::move(options)) {
    if (!options_.emit.empty()) emitter_.emplace(options_.emit);
  }

  int run() {
    Diagnostics diags;
    auto bytes = read_file(options_.dir + "/index.json", diags);
    if (!bytes) return std::fputs(diags.str().c_str(), stderr), 2;
    auto index = nlohmann::json::parse(bytes->begin(), bytes->end());
    for (const auto& [op, cases] : index["operators"].items()) {
      if (!options_.ops.empty() && !options_.ops.contains(op)) continue;
      std::map<std::string, std::string> refused = read_refused(op);
      for (const auto& entry : cases) {
        std::string name = entry["name"];
        if (!options_.only_case.empty() && name != options_.only_case) continue;
        if (!entry["supported"]) {
          not_run(op, name);
          continue;
        }
        one(op, name, entry, refused);
      }
    }
    if (emitter_) emitter_->finish();
    std::printf("%d write orders checked\n", overlaps_);
    std::printf("%d passed, %d failed, %d skipped\n", passed_, failed_, refused_);
    return failed_ == 0 && passed_ > 0 ? 0 : 1;
  }

 private:
  std::map<std::string, std::string> read_refused(const std::string& op) const {
    std::map<std::string, std::string> out;
    std::ifstream in(options_.refused_dir + "/" + op + "/refused.txt");
    for (std::string line; std::getline(in, line);) {
      size_t colon = line.find(':');
      if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
      out[line.substr(0, colon)] = line.substr(colon + 1);
    }
    return out;
  }

  void fail(const std::string& title, const std::string& why) {
    std::printf("FAILED %s: %s\n", title.c_str(), why.c_str());
    ++failed_;
  }

  // What LiteRT rejects must not crash us; whether we take it does not matter.
  void not_run(const std::string& op, const std::string& name) {
    Diagnostics diags;
    auto graph = load(op, name, diags);
    if (graph) (void)ops::verify_graph(*graph, diags);
  }

  Result<graph::Graph> load(const std::string& op, const std::string& name, Diagnostics& diags) {
    auto bytes = read_file(fmt::format("{}/{}/{}.tflite", options_.dir, op, name), diags);
    if (!bytes) return kFailure;
    return frontends::read_tflite(std::move(*bytes), name + ".tflite", diags);
  }

  void one(const std::string& op, const std::string& name, const nlohmann::json& entry,
           const std::map<std::string, std::string>& refused) {
    std::string title = op + "/" + name;
    Diagnostics diags;
    auto graph = load(op, name, diags);
    if (!graph || !ops::verify_graph(*graph, diags)) {
      if (refused.contains(name)) {
        ++refused_;
      } else {
        fail(title, "refused: " + diags.str());
      }
      return;
    }
    if (refused.contains(name)) return fail(title, "is accepted, but refused.txt lists it");
    int64_t ulp = entry.value("tolerance", "exact") == "ulp" ? entry.value("ulp", int64_t{0}) : 0;
    std::string base = fmt::format("{}/{}/{}", options_.dir, op, name);
    auto in = read_file(base + ".in", diags);
    auto want = read_file(base + ".expect", diags);
    if (!in || !want) return fail(title, diags.str());
    std::vector<Record> records = read_records(*want);
    auto samples = read_samples(*in, *graph);
    if (emitter_ ? !emit(title, *graph, samples, records, ulp)
                 : !compare_all(title, *graph, samples, records, ulp))
      return;
    ++passed_;
  }

  bool compare_all(const std::string& title, const graph::Graph& graph,
                   const std::vector<std::vector<Bytes>>& samples,
                   const std::vector<Record>& records, int64_t ulp) {
    Diagnostics diags;
    plan::PlanOptions plan;
    plan.target = options_.target;
    auto program = plan::plan_program(graph, plan, diags);
    plan::PlanOptions in_arena = plan;
    in_arena.inputs = in_arena.outputs = plan::Contract::kOverwrite;
    auto shared = plan::plan_program(graph, in_arena, diags);
    if (!program || !shared) return fail(title, "plan: " + diags.str()), false;
    for (const auto& f : program->functions)
      if (!tir::verify(*f.body, diags))
        return fail(title, "TIR verifier: " + diags.str() + tir::print(*f.body)), false;
    for (const graph::Op& op : graph.ops) {
      if (ops::definition_of(op).traits().view) continue;
      ops::Lowered lowered = ops::lower({graph, op}, options_.target);
      overlaps_ += static_cast<int>(lowered.write_orders.size());
      std::string wrong = tests::check_overlap(lowered);
      if (!wrong.empty()) return fail(title, wrong), false;
    }
    for (size_t s = 0; s < samples.size(); ++s) {
      auto values = ops::evaluate_graph(graph, samples[s]);
      auto outputs = plan::run_program(*program, samples[s], diags);
      auto overwritten = plan::run_program(*shared, samples[s], diags);
      if (!outputs || !overwritten) return fail(title, "TIR: " + diags.str()), false;
      if (*overwritten != *outputs)
        return fail(title, fmt::format("TIR, sample {}: in the arena the outputs are others", s)),
               false;
      for (const Record& r : records) {
        if (r.sample != s) continue;
        graph::TensorId id = graph.outputs[r.result].tensor;
        DType type = graph[id].type.dtype;
        std::string d = difference(values[static_cast<size_t>(id.value)], r.data, type, ulp);
        if (!d.empty())
          return fail(title, fmt::format("evaluation, sample {} result {}: {}", s, r.result, d)),
                 false;
        d = difference((*outputs)[r.result], r.data, type, ulp);
        if (!d.empty())
          return fail(title, fmt::format("TIR, sample {} result {}: {}", s, r.result, d)), false;
      }
    }
    return true;
  }

  // Every Nth case, each second one with inputs and outputs in the arena.
  bool emit(const std::string& title, const graph::Graph& graph,
            const std::vector<std::vector<Bytes>>& samples, const std::vector<Record>& records,
            int64_t ulp) {
    if (passed_ % options_.every != 0) return true;
    Diagnostics diags;
    plan::PlanOptions plan;
    plan.target = options_.target;
    if (passed_ / options_.every % 2 != 0) plan.inputs = plan.outputs = plan::Contract::kOverwrite;
    auto program = plan::plan_program(graph, plan, diags);
    if (!program) return fail(title, "plan: " + diags.str()), false;
    emitter_->add(title, *program, samples, records, ulp);
    return true;
  }

  Options options_;
  std::optional<CaseEmitter> emitter_;
  int passed_ = 0, failed_ = 0, refused_ = 0, overlaps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> ops;
  std::string features;
  bool speed = false;
  options.refused_dir = aotc::source_dir() + "/tests/ops";
  auto work = [&] {
    std::set<std::string, std::less<>> wanted;
    for (std::string left = features; !left.empty();) {
      const std::string feature = left.substr(0, left.find(','));
      left.erase(0, feature.size() + 1);
      if (feature != "dsp" && feature != "mve")
        return aotc::options::usage_error("run_cases",
                                          "--features: '" + feature + "' is neither dsp nor mve");
      wanted.insert(feature);
    }
    target::extend(options.target, [&](std::string_view feature) { return wanted.contains(feature); });
    options.ops.insert(ops.begin(), ops.end());
    // So that the cost model takes these wherever they apply.
    if (options.target.triple_channels > 0 || options.target.quad_units)
      options.target.multiply_add = 100;
    if (speed) options.target.level = ops::Level::kSpeed;
    return Runner(options).run();
  };
  const aotc::options::Command program = {
      .name = "run_cases",
      .summary = "Runs operator cases against LiteRT's results",
      .options =
          {{.names = "DIR",
            .target = &options.dir,
            .help = "What make_cases.py wrote",
            .required = true},
           {.names = "--op", .value = "NAME", .target = &ops, .help = "Only these operators"},
           {.names = "--case",
            .value = "NAME",
            .target = &options.only_case,
            .help = "Only this case"},
           {.names = "--emit",
            .value = "DIR",
            .target = &options.emit,
            .help = "Write the cases as C here; none is computed"},
           {.names = "--speed", .target = &speed, .help = "Lower as -O speed does"},
           {.names = "--every",
            .value = "N",
            .target = &options.every,
            .help = "Emit only every Nth case"},
           {.names = "--features",
            .value = "NAME,...",
            .target = &features,
            .help = "Of the core that is lowered for: dsp, mve"},
           {.names = "--triples",
            .value = "N",
            .target = &options.target.triple_channels,
            .help = "Multiply three pixels in two words, this many channels at a time"},
           {.names = "--quads",
            .target = &options.target.quad_units,
            .help = "Multiply rows with four units in a word"},
           {.names = "--triple-unroll",
            .value = "N",
            .target = &options.target.triple_unroll,
            .help = "Steps written out"}},
      .run = work};
  return aotc::options::run(program, {argv + 1, argv + argc});
}
