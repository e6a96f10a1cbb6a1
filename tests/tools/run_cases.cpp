// SPDX-License-Identifier: Apache-2.0
// Runs the operator cases that tests/oracle/make_cases.py wrote: each by reference evaluation and
// by the TIR interpreter over the planned program, compared with LiteRT's results. With --emit it
// computes nothing: it writes all cases as C with a main that compares, for any compiler and board.
//
//   run_cases CASES_DIR [--op NAME]... [--case NAME] [--emit DIR] [--every N] [--targets NAME,...] [--part I/N]
//
// What an operator is lowered to for one target is computed once: where another target gets the same code, tables and
// write orders, the planner, which knows no more of a target than its lowerings, makes the same program of them.
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
#include "cores/cpu.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"
#include "options/options.h"
#include "plan/program.h"
#include "source_dir.h"
#include "support/files.h"
#include "support/text.h"

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
    r.data.assign(b.begin() + static_cast<long>(at + 16), b.begin() + static_cast<long>(at + 16 + n));
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
  std::vector<std::string> targets;
  int every = 1, part = 0, parts = 1;
};

// What cases are lowered for: features of the core, and schedules that only some boards take.
struct Target {
  std::string_view name;
  std::vector<std::string_view> features;
  bool speed = false;
  int triple_channels = 0;                  // > 0: with quad_units
  std::vector<std::string_view> only = {};  // operators; none: all
  std::string_view isa = {};                // not one of no family: its kernels, wherever they apply
  std::string_view cpu = {};                // whose cycles are known: what takes the fewest is chosen
};
const std::vector<Target>& known_targets() {
  static const std::vector<Target> targets = {
      {"plain", {}},
      {"dsp", {"dsp"}},
      {"dsp_speed", {"dsp"}, true, 0, {}, "armv7e-m", "cortex-m4"},
      {"mve", {"dsp", "mve", "mve_float"}},
      {"triples1", {}, false, 1, {"conv_2d", "fully_connected"}},
      {"triples4", {}, false, 4, {"conv_2d", "fully_connected"}},
      {"thumb1", {}, false, 1, {"conv_2d", "fully_connected"}, "armv6-m"},
      {"thumb2", {}, true, 4, {"conv_2d", "fully_connected"}, "armv7-m"},
      {"rv32", {}, true, 4, {"conv_2d", "fully_connected"}, "rv32imac"},
      {"rvv", {"zve32x"}, false, 0, {"conv_2d", "depthwise_conv_2d", "fully_connected"}, "rv32imac_zve32x"},
  };
  return targets;
}

bool has(const std::vector<std::string_view>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

ops::TargetInfo info_of(const Target& target) {
  ops::TargetInfo info;
  if (!target.isa.empty())
    info =
        cores::target_info({std::string(target.cpu), std::string(target.isa), [](std::string_view) { return false; }});
  cores::extend(info, target.isa.starts_with("rv32") ? "riscv" : "arm",
                [&](std::string_view feature) { return has(target.features, feature); });
  if (target.speed) info.level = ops::Level::kSpeed;
  if (target.triple_channels > 0) {
    info.triple_channels = target.triple_channels;
    info.quad_units = true;
    info.multiply_add = 100;  // so that the cost model takes these wherever they apply
  }
  return info;
}

// All that the planner takes of a lowering, as text.
std::string fingerprint(const ops::Lowered& lowered) {
  std::string out = tir::print(*lowered.function);
  if (lowered.external) out += "external " + lowered.external->symbol;
  for (const ops::Arg& a : lowered.args) out += fmt::format("a{}:{}:{} ", static_cast<int>(a.kind), a.index, a.operand);
  for (const ops::Constant& c : lowered.constants) {
    out += fmt::format("c{}:{}:{}:", static_cast<int>(c.dtype), c.alignment, c.bytes.size());
    out.append(c.bytes.begin(), c.bytes.end());
  }
  out += fmt::format("s{}:{} ", lowered.scratch_bytes, lowered.scratch_alignment);
  for (const ops::WriteOrder& order : lowered.write_orders) {
    out += fmt::format("w{}:{}:{} ", order.operand, order.in_place, order.steps.size());
    for (const auto& step : order.steps)
      for (int64_t v : {step.read_begin, step.read_end, step.write_begin, step.write_end})
        out.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  return out;
}

class Runner {
 public:
  explicit Runner(Options options) : options_(std::move(options)) {
    if (!options_.emit.empty()) emitter_.emplace(options_.emit);
  }

  int run() {
    for (const Target& target : known_targets())
      if (std::find(options_.targets.begin(), options_.targets.end(), target.name) != options_.targets.end())
        targets_.emplace_back(&target, info_of(target));
    Diagnostics diags;
    auto bytes = read_file(options_.dir + "/index.json", diags);
    if (!bytes) return std::fputs(diags.str().c_str(), stderr), 2;
    auto index = nlohmann::json::parse(bytes->begin(), bytes->end());
    for (const auto& [op, cases] : index["operators"].items()) {
      if (!options_.ops.empty() && !options_.ops.contains(op)) continue;
      std::map<std::string, std::string> refused = read_refused(op);
      for (const auto& entry : cases) {
        std::string name = entry["name"];
        if (seen_++ % options_.parts != options_.part) continue;
        if (!options_.only_case.empty() && name != options_.only_case) continue;
        if (!entry["supported"]) {
          not_run(op, name);
          continue;
        }
        one(op, name, entry, refused);
      }
    }
    if (emitter_) emitter_->finish();
    std::printf("%d write orders checked, %d cases are the same code for more than one target\n", overlaps_, same_);
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
    for (const auto& [target, info] : targets_) {
      if (!target->only.empty() && !has(target->only, op)) continue;
      const std::string with = targets_.size() == 1 ? title : fmt::format("{} for {}", title, target->name);
      if (emitter_ ? emit(with, *graph, info, samples, records, ulp)
                   : compare_all(with, *graph, info, samples, records, ulp))
        ++passed_;
    }
    programs_.clear();
    evaluated_.clear();
  }

  // What the case is lowered to, if no target before got the same.
  bool lower_all(const std::string& title, const graph::Graph& graph, const ops::TargetInfo& target, bool& fresh) {
    std::vector<ops::Lowered> all;
    std::string text;
    fresh = false;
    for (const graph::Op& op : graph.ops) {
      fresh = fresh || !op.regions.empty();  // which are lowered as well
      if (ops::definition_of(op).traits().view) continue;
      all.push_back(ops::lower({graph, op}, target));
      text += fingerprint(all.back());
    }
    fresh = programs_.insert(text).second || fresh;
    if (!fresh) return ++same_, true;
    for (const ops::Lowered& lowered : all) {
      overlaps_ += static_cast<int>(lowered.write_orders.size());
      std::string wrong = tests::check_overlap(lowered);
      if (!wrong.empty()) return fail(title, wrong), false;
    }
    return true;
  }

  bool compare_all(const std::string& title, const graph::Graph& graph, const ops::TargetInfo& target,
                   const std::vector<std::vector<Bytes>>& samples, const std::vector<Record>& records, int64_t ulp) {
    bool fresh = false;
    if (!lower_all(title, graph, target, fresh)) return false;
    if (!fresh) return true;
    Diagnostics diags;
    plan::PlanOptions plan;
    plan.target = target;
    auto program = plan::plan_program(graph, plan, diags);
    plan::PlanOptions in_arena = plan;
    in_arena.inputs = in_arena.outputs = plan::Contract::kOverwrite;
    auto shared = plan::plan_program(graph, in_arena, diags);
    if (!program || !shared) return fail(title, "plan: " + diags.str()), false;
    for (const auto& f : program->functions)
      if (!tir::verify(*f.body, diags)) return fail(title, "TIR verifier: " + diags.str() + tir::print(*f.body)), false;
    if (evaluated_.empty())
      for (const auto& sample : samples) evaluated_.push_back(ops::evaluate_graph(graph, sample));
    for (size_t s = 0; s < samples.size(); ++s) {
      const auto& values = evaluated_[s];
      auto outputs = plan::run_program(*program, samples[s], diags);
      auto overwritten = plan::run_program(*shared, samples[s], diags);
      if (!outputs || !overwritten) return fail(title, "TIR: " + diags.str()), false;
      if (*overwritten != *outputs)
        return fail(title, fmt::format("TIR, sample {}: in the arena the outputs are others", s)), false;
      for (const Record& r : records) {
        if (r.sample != s) continue;
        graph::TensorId id = graph.outputs[r.result].tensor;
        DType type = graph[id].type.dtype;
        std::string d = difference(values[static_cast<size_t>(id.value)], r.data, type, ulp);
        if (!d.empty()) return fail(title, fmt::format("evaluation, sample {} result {}: {}", s, r.result, d)), false;
        d = difference((*outputs)[r.result], r.data, type, ulp);
        if (!d.empty()) return fail(title, fmt::format("TIR, sample {} result {}: {}", s, r.result, d)), false;
      }
    }
    return true;
  }

  // Every Nth case, each second one with inputs and outputs in the arena.
  bool emit(const std::string& title, const graph::Graph& graph, const ops::TargetInfo& target,
            const std::vector<std::vector<Bytes>>& samples, const std::vector<Record>& records, int64_t ulp) {
    if (passed_ % options_.every != 0) return true;
    Diagnostics diags;
    plan::PlanOptions plan;
    plan.target = target;
    if (passed_ / options_.every % 2 != 0) plan.inputs = plan.outputs = plan::Contract::kOverwrite;
    auto program = plan::plan_program(graph, plan, diags);
    if (!program) return fail(title, "plan: " + diags.str()), false;
    emitter_->add(title, *program, samples, records, ulp);
    return true;
  }

  Options options_;
  std::optional<CaseEmitter> emitter_;
  std::vector<std::pair<const Target*, ops::TargetInfo>> targets_;
  std::set<std::string> programs_;                            // of the case at hand
  std::vector<std::vector<std::vector<uint8_t>>> evaluated_;  // of the case at hand, by sample
  int passed_ = 0, failed_ = 0, refused_ = 0, overlaps_ = 0, same_ = 0, seen_ = 0;
};

}  // namespace

std::vector<std::string> split(std::string list, char at) {
  std::vector<std::string> out;
  for (size_t end; !list.empty(); list.erase(0, end == std::string::npos ? end : end + 1)) {
    end = list.find(at);
    out.push_back(list.substr(0, end));
  }
  return out;
}

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> ops;
  std::string targets = "plain", part = "0/1";
  options.refused_dir = aotc::source_dir() + "/tests/ops";
  auto work = [&] {
    options.targets = split(targets, ',');
    for (const std::string& name : options.targets)
      if (std::none_of(known_targets().begin(), known_targets().end(), [&](const Target& t) { return t.name == name; }))
        return aotc::options::usage_error("run_cases", "--targets: '" + name + "' is not known");
    if (!options.emit.empty() && options.targets.size() != 1)
      return aotc::options::usage_error("run_cases", "--emit takes one of --targets");
    if (std::sscanf(part.c_str(), "%d/%d", &options.part, &options.parts) != 2 || options.part < 0 ||
        options.part >= options.parts)
      return aotc::options::usage_error("run_cases", "--part: '" + part + "' is not I/N with I from 0 to N-1");
    options.ops.insert(ops.begin(), ops.end());
    return Runner(options).run();
  };
  const aotc::options::Command program = {
      .name = "run_cases",
      .summary = "Runs operator cases against LiteRT's results",
      .options = {{.names = "DIR", .target = &options.dir, .help = "What make_cases.py wrote", .required = true},
                  {.names = "--op", .value = "NAME", .target = &ops, .help = "Only these operators"},
                  {.names = "--case", .value = "NAME", .target = &options.only_case, .help = "Only this case"},
                  {.names = "--emit",
                   .value = "DIR",
                   .target = &options.emit,
                   .help = "Write the cases as C here; none is computed"},
                  {.names = "--every", .value = "N", .target = &options.every, .help = "Emit only every Nth case"},
                  {.names = "--targets",
                   .value = "NAME,...",
                   .target = &targets,
                   .help = "What is lowered for: plain (default), dsp, dsp_speed, mve, triples1, triples4, thumb1, "
                           "thumb2, rv32, rvv"},
                  {.names = "--part", .value = "I/N", .target = &part, .help = "Only every Nth case, from the Ith on"}},
      .run = work};
  return aotc::options::run(program, {argv + 1, argv + argc});
}
