// SPDX-License-Identifier: Apache-2.0
// verify: every layer of the emitted C, on the host and on the project's board, against the
// reference evaluation; names the first layer and element that differ. Layers are compared bit for
// bit, except float layers at or behind an operator that calls the C library's exp or tanh, which
// have a tolerance (ops/tolerance.h).
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/host_program.h"
#include "driver/inputs.h"
#include "driver/project_dir.h"
#include "driver/run_sequence.h"
#include "driver/summary.h"
#include "driver/temporary.h"
#include "ops/operator.h"
#include "ops/tolerance.h"
#include "project/generate.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

// Drawn inputs, where none are given; of a model with state they are one sequence.
constexpr int kSamples = 3, kRunsOfState = 16;
constexpr uint32_t kOutputMagic = 0x52544F41;
constexpr uint32_t kRecordOutput = 0xFFFFFFFE, kRecordTiming = 0xFFFFFFFD,
                   kRecordSummary = 0xFFFFFFFF;

struct Record {
  uint32_t sample, op, result;
  std::span<const uint8_t> data;
};

struct DeviceSummary {
  int32_t status = 0;
  uint32_t stack_bytes = 0, guard_ok = 0;
  uint64_t length = 0;
};

struct LayerState {
  int64_t worst_ulp = 0;
};

// Compares what one place (host or board) computed with the reference.
class Comparison {
 public:
  Comparison(const Compiled& compiled, std::string place, const RunSequence& sequence, Diagnostics& diags)
      : compiled_(compiled),
        place_(std::move(place)),
        diags_(diags),
        layers_(compiled.program.calls.size()),
        inexact_inside_(is_inexact_inside(compiled.program)),
        reference_(evaluate_sequence(compiled.program.reference(), sequence, &compiled.program)),
        // The model as read, before any pass: its outputs must be what the optimised graph gives.
        original_(evaluate_sequence(compiled.original, sequence)) {
    for (size_t i = 0; i < reference_.size(); ++i) {
      inputs_.push_back(sequence.runs[i].inputs);
      tolerances_.push_back(
          ops::tolerances(compiled.program.reference(), inputs_[i], reference_[i].values));
    }
  }

  // True if everything agrees. Reports [verify-differs], [verify-device], [verify-guard].
  bool compare(const std::vector<Record>& records, const DeviceSummary& summary, bool ended) {
    Location where;
    where.file = place_;
    for (const RunValues& run : reference_) {
      if (!run.gave_up) continue;
      diags_.error(where, "verify-loop", "a loop of the model does not end on the reference")
          .help("give inputs for which it ends: --input FILE.npy");
      return false;
    }
    expect_calls();
    for (const Record& r : records) {
      if (r.sample >= reference_.size()) return bad_file();
      if (r.op == kRecordOutput ? !output(r) : !layer(r)) return false;
    }
    if (!ended || summary.status != 0) {
      diags_.error(where, "verify-device",
                   fmt::format("the run ended with status {}", summary.status));
      return false;
    }
    if (summary.guard_ok != 1) {
      diags_.error(where, "verify-guard", "the model wrote outside of its arena");
      return false;
    }
    for (size_t s = 0; s < expected_.size(); ++s)
      for (size_t c = 0; c < expected_[s].size(); ++c) {
        if (expected_[s][c].empty()) continue;
        diags_.error(where, "verify-device",
                     fmt::format("call {} left no trace of {} of its results for sample {}", c,
                                 expected_[s][c].size(), s));
        return false;
      }
    return true;
  }

  int layers() const { return static_cast<int>(layers_.size()); }
  int64_t worst_ulp() const {
    int64_t worst = 0;
    for (const LayerState& l : layers_) worst = std::max(worst, l.worst_ulp);
    return worst;
  }
  // How many layers agree bit for bit.
  int exact_layers() const {
    int n = 0;
    for (const LayerState& l : layers_) n += l.worst_ulp == 0;
    return n;
  }

 private:
  void expect_calls() {
    expected_.assign(reference_.size(), {});
    for (size_t s = 0; s < reference_.size(); ++s) {
      expected_[s].resize(layers_.size());
      for (const CallResult& result : reference_[s].calls)
        expected_[s][static_cast<size_t>(result.call)].push_back(&result);
    }
  }

  bool bad_file() {
    Location where;
    where.file = place_;
    diags_.error(where, "verify-device", "the device wrote a malformed result file");
    return false;
  }

  // Tensors of the outermost graph have the same ids there and in the program.
  ops::Tolerance tolerance(const Record& r, graph::TensorId id) const {
    if (static_cast<size_t>(id.value) < compiled_.program.reference().tensors.size())
      return tolerances_[r.sample][static_cast<size_t>(id.value)];
    ops::Tolerance inside;
    inside.ulp = 1e-30;
    if (inexact_inside_) inside.ulps = INT64_MAX;
    return inside;
  }

  bool layer(const Record& r) {
    const plan::Program& p = compiled_.program;
    if (r.op >= p.calls.size()) return bad_file();
    const plan::ProgramCall& call = p.calls[r.op];
    if (call.op_index < 0) return true;  // a copy to an output: compared as the output
    if (r.result >= call.results.size()) return bad_file();
    std::deque<const CallResult*>& expected = expected_[r.sample][r.op];
    if (expected.empty() || expected.front()->result != static_cast<int>(r.result)) {
      Location where;
      where.file = place_;
      diags_.error(where, "verify-differs",
                   fmt::format("{}: the run of sample {} comes here more often than the reference",
                               codegen::call_title(p, call), r.sample));
      return false;
    }
    const CallResult* want = expected.front();
    expected.pop_front();
    graph::TensorId id = call.results[r.result];
    return equal(r, want->bytes, p.graph[id], tolerance(r, id), codegen::call_title(p, call),
                 &layers_[r.op].worst_ulp);
  }

  bool output(const Record& r) {
    const graph::Graph& g = compiled_.program.reference();
    if (r.result >= g.outputs.size()) return bad_file();
    graph::TensorId id = g.outputs[r.result].tensor;
    graph::TensorId before = compiled_.original.outputs[r.result].tensor;
    const ops::Tolerance allowed = tolerance(r, id);
    std::string title = fmt::format("output '{}'", escape_for_display(g.outputs[r.result].name));
    int64_t worst = 0;
    if (!equal(r, value_of(g, id, r.sample, reference_), g[id], allowed, title, &worst))
      return false;
    // With stripped boundaries the outputs are another type: nothing to compare.
    if (g[id].type.dtype != compiled_.original[before].type.dtype) return true;
    bool same_inputs = true;
    for (size_t i = 0; i < g.inputs.size(); ++i)
      same_inputs =
          same_inputs && g[g.inputs[i].tensor].type.dtype ==
                             compiled_.original[compiled_.original.inputs[i].tensor].type.dtype;
    if (!same_inputs) return true;
    return equal(r, value_of(compiled_.original, before, r.sample, original_), g[id], allowed,
                 title + " of the model before passes", &worst);
  }

  std::vector<uint8_t> value_of(const graph::Graph& g, graph::TensorId id, size_t sample,
                                const std::vector<RunValues>& values) const {
    if (g.is_constant(id)) return {g[id].constant->bytes.begin(), g[id].constant->bytes.end()};
    const auto& v = values[sample].values[static_cast<size_t>(id.value)];
    if (!v.empty()) return v;
    for (size_t i = 0; i < g.inputs.size(); ++i)
      if (g.inputs[i].tensor == id) return inputs_[sample][i];
    return v;
  }

  bool equal(const Record& r, const std::vector<uint8_t>& want, const graph::Tensor& tensor,
             const ops::Tolerance& allowed, const std::string& title, int64_t* worst) {
    Location where;
    where.file = place_;
    if (r.data.size() != want.size()) return bad_file();
    auto step = static_cast<size_t>(size_of(tensor.type.dtype));
    for (size_t i = 0; i < want.size(); i += step) {
      if (std::memcmp(&r.data[i], &want[i], step) == 0) continue;
      std::string have_text, want_text;
      if (tensor.type.dtype == DType::kF32) {
        float a, b;
        std::memcpy(&a, &r.data[i], 4);
        std::memcpy(&b, &want[i], 4);
        int64_t d = allowed.distance(a, b);
        *worst = std::max(*worst, d);
        if (d <= allowed.ulps) continue;
        have_text = fmt::format("{}", a);
        want_text = fmt::format("{} ({} ulp of the layer's largest apart, {} are allowed)", b, d,
                                allowed.ulps);
      } else {
        have_text = integer_text(&r.data[i], tensor.type.dtype);
        want_text = integer_text(&want[i], tensor.type.dtype);
        *worst = INT64_MAX;
      }
      diags_
          .error(where, "verify-differs",
                 fmt::format("{}: sample {}, element {} ({}) is {}, the reference gives {}", title,
                             r.sample, i / step, index_text(i / step, tensor.type.shape), have_text,
                             want_text))
          .note(fmt::format("tensor '{}': {}", escape_for_display(tensor.name),
                            codegen::describe(tensor.type)))
          .help(
              "this is a bug in aotc or in the toolchain: compile with other optimisation flags to "
              "tell which");
      return false;
    }
    return true;
  }

  static std::string integer_text(const uint8_t* at, DType t) {
    switch (t) {
      case DType::kI8:
        return std::to_string(static_cast<int8_t>(*at));
      case DType::kU8:
      case DType::kBool:
        return std::to_string(*at);
      default: {
        int64_t v = 0;
        std::memcpy(&v, at, static_cast<size_t>(size_of(t)));
        if (t == DType::kI16) v = static_cast<int16_t>(v);
        if (t == DType::kI32) v = static_cast<int32_t>(v);
        return std::to_string(v);
      }
    }
  }

  static std::string index_text(size_t flat, const graph::Shape& shape) {
    std::string out;
    for (size_t d = shape.size(); d-- > 0;) {
      auto n = static_cast<size_t>(std::max<int64_t>(shape[d], 1));
      out = fmt::format("{}{}{}", flat % n, out.empty() ? "" : ",", out);
      flat /= n;
    }
    return "[" + out + "]";
  }

  const Compiled& compiled_;
  std::string place_;
  Diagnostics& diags_;
  std::vector<LayerState> layers_;
  std::vector<Sample> inputs_;
  std::vector<std::vector<ops::Tolerance>> tolerances_;  // of each sample, by tensor
  bool inexact_inside_ = false;
  std::vector<RunValues> reference_, original_;
  // By sample and call: what is still to come. What devices do while the host goes on comes late.
  std::vector<std::vector<std::deque<const CallResult*>>> expected_;
};

struct PlaceResult {
  std::string place;
  bool passed = false;
  int layers = 0, exact = 0;
  int64_t worst_ulp = 0;
  bool measured = false;  // stack and time mean something: an emulated board
  DeviceSummary summary;
  std::vector<int64_t> op_ticks;
};

class Verifier {
 public:
  Verifier(const VerifyOptions& options, const CommonOptions& common)
      : options_(options), common_(common), progress_(common.quiet || common.json) {}

  int run(const CompileOptions& given) {
    std::optional<ProjectDir> project;
    CompileOptions compile = given;
    if (is_project(options_.target)) {
      auto opened = open_project(options_.target, diags_);
      if (!opened) return finish(kExitBadInput);
      project = std::move(*opened);
      compile = project->compile_options();
      if (!can_verify(*project)) return finish(kExitUsage);
    } else {
      compile.model_path = options_.target;
    }
    auto compiled = compile_model(compile, diags_);
    if (!compiled || !has_reference(*compiled)) return finish(kExitBadInput);
    if (!make_samples(*compiled)) return finish(kExitBadInput);
    sequence_ = sequence_of(compiled->program.reference(), samples_);
    bool good = true;
    // A project for this machine is the place itself: what is in it is what is to be proven.
    bool own = project && project->board.is_host() && project->can_verify();
    if (options_.host) good = (own ? board(*project, *compiled) : host(*compiled)) && good;
    if (project && options_.board && !own && project->can_verify()) good = board(*project, *compiled) && good;
    if (code_ != kExitDone) return finish(code_);
    return finish(good ? kExitDone : kExitVerifyFailed);
  }

 private:
  // The model is compiled again: it must be there. Only firmware with a verify mode can be asked.
  bool can_verify(const ProjectDir& project) {
    if (!require_model(project, diags_)) return false;
    Location where;
    where.file = project.path;
    if (project.can_verify() || !options_.board) return true;
    if (!options_.host) {
      diags_.error(where, "project-no-verify", "firmware of this kind has no verify mode")
          .help("it tests itself when it starts; --project bare-metal makes firmware that has one");
      return false;
    }
    return true;
  }

  // What operators given in C should compute is known to nobody but them.
  bool has_reference(const Compiled& compiled) {
    for (const graph::Op& op : compiled.original.ops) {
      if (!ops::definition_of(op).traits().external) continue;
      diags_.error(op.location, "verify-external", "the operator is given in C: it has no reference")
          .help("run the firmware and compare its results with those of the graph's own runtime");
      return false;
    }
    return true;
  }

  bool make_samples(const Compiled& compiled) {
    if (options_.inputs.empty()) {
      const bool stateful = !compiled.program.graph.states.empty();
      const int count = options_.samples >= 0 ? options_.samples : stateful ? kRunsOfState : kSamples;
      for (int s = 0; s < count; ++s)
        samples_.push_back(
            random_sample(compiled.program.graph, options_.seed + static_cast<uint64_t>(s)));
      return true;
    }
    auto read = read_samples(compiled.program.graph, options_.inputs, diags_);
    if (read) samples_ = std::move(*read);
    return read.ok();
  }

  // A project for this machine in a temporary directory, built by its own compiler.
  bool host(const Compiled& compiled) {
    TemporaryDirectory temp;
    if (!made(temp)) return false;
    auto board = project::find_board("host", diags_);
    auto description = project::read_description({"bare_metal", ""}, diags_);
    if (!board || !description) return false;
    project::ProjectModel model = project_model_of(compiled);
    OutputDirectory directory(temp.path() + "/host", project::kManifest);
    directory.set_scratch();
    if (!project::generate_project(*description, *board, model, {{"bare_metal", ""}, {}, {}, {}}, directory,
                                   diags_) ||
        !directory.commit(diags_)) {
      code_ = kExitInternal;
      return false;
    }
    auto opened = open_project(directory.path(), diags_);
    if (!opened) return false;
    if (!builds_alone(model)) return board_or_host(*opened, compiled, "host C");
    progress_.step("verify on host C: build");
    code_ = build_host_program(*opened, diags_);
    return code_ == kExitDone && run_and_judge(*opened, compiled, "host C");
  }

  bool made(const TemporaryDirectory& temp) {
    if (temp.made(diags_)) return true;
    code_ = kExitBadInput;
    return false;
  }

  bool board(const ProjectDir& project, const Compiled& compiled) {
    return board_or_host(project, compiled,
                         project.board.is_host() ? "host C" : project.board.name);
  }

  bool board_or_host(const ProjectDir& project, const Compiled& compiled,
                     const std::string& place) {
    progress_.step(fmt::format("verify on {}: build", place));
    int code = build_project(project, true, diags_);
    if (code != kExitDone) {
      code_ = code;
      return false;
    }
    return run_and_judge(project, compiled, place);
  }

  bool run_and_judge(const ProjectDir& project, const Compiled& compiled,
                     const std::string& place) {
    TemporaryDirectory temp;
    if (!made(temp)) return false;
    std::string in = temp.path() + "/in.bin", out = temp.path() + "/out.bin";
    if (!write_scratch_file(in, sequence_file(compiled.program, sequence_), diags_)) return false;
    progress_.step(fmt::format("verify on {}: run {} samples", place, sequence_.runs.size()));
    // Names without a folder: what the path of the folder holds need not pass through an emulator.
    auto run = run_firmware(project, {"verify", "in.bin", "out.bin"}, options_.timeout, diags_,
                            temp.path());
    if (!run) {
      code_ = kExitDevice;
      return false;
    }
    Location where;
    where.file = place;
    std::error_code ec;
    const uint64_t size = fs::exists(out, ec) ? fs::file_size(out, ec) : 0;
    const bool flooded = size > most_of_results(compiled);
    if (run->process.exit_code != 0 || flooded || !fs::exists(out, ec)) {
      diags_
          .error(where, "verify-device",
                 flooded ? fmt::format("the firmware wrote {} bytes, more than there are results", size)
                         : fmt::format("the firmware ended with exit code {}", run->process.exit_code))
          .note(escape_for_display(run->process.output, 400));
      code_ = kExitDevice;
      return false;
    }
    auto written = read_file(out, diags_);
    return written && judge(compiled, place, *written, project);
  }

  // Of the file that a device writes: every tensor of every sample, each with a header, twice over.
  uint64_t most_of_results(const Compiled& compiled) const {
    constexpr uint64_t kHeader = 64, kAtLeast = uint64_t{1} << 20;
    uint64_t bytes = 0;
    for (const graph::Tensor& t : compiled.program.graph.tensors)
      bytes += kHeader + static_cast<uint64_t>(t.type.bytes());
    return kAtLeast + 2 * bytes * sequence_.runs.size();
  }

  bool judge(const Compiled& compiled, const std::string& place, const std::vector<uint8_t>& bytes,
             const ProjectDir& project) {
    PlaceResult result;
    result.place = place;
    std::vector<Record> records;
    bool ended = false;
    auto u32 = [&](size_t at) {
      uint32_t v;
      std::memcpy(&v, &bytes[at], 4);
      return v;
    };
    size_t at = 4;
    bool good = bytes.size() >= 4 && u32(0) == kOutputMagic;
    while (good && at + 16 <= bytes.size()) {
      Record r{u32(at), u32(at + 4), u32(at + 8), {}};
      size_t n = u32(at + 12);
      at += 16;
      good = n <= bytes.size() - at;
      if (!good) break;
      r.data = {bytes.data() + at, n};
      at += n;
      if (r.op == kRecordTiming && n == 8) {
        uint64_t ticks;
        std::memcpy(&ticks, r.data.data(), 8);
        result.op_ticks.push_back(static_cast<int64_t>(ticks));
      } else if (r.op == kRecordSummary && n == 24) {
        std::memcpy(&result.summary.status, r.data.data(), 4);
        std::memcpy(&result.summary.stack_bytes, r.data.data() + 4, 4);
        std::memcpy(&result.summary.guard_ok, r.data.data() + 8, 4);
        std::memcpy(&result.summary.length, r.data.data() + 16, 8);
        ended = true;
      } else {
        records.push_back(r);
      }
    }
    Comparison comparison(compiled, place, sequence_, diags_);
    result.passed = good && comparison.compare(records, result.summary, ended);
    result.layers = comparison.layers();
    result.exact = comparison.exact_layers();
    result.worst_ulp = comparison.worst_ulp();
    result.measured = !project.board.is_host();
    if (result.passed) {
      FirmwareRun run;
      run.values[project.board.field("clock.unit")] = result.summary.length;
      run.values["stack_bytes"] = result.summary.stack_bytes;
      run.op_ticks = result.op_ticks;
      save_run(project, run);
    }
    places_.push_back(result);
    return result.passed;
  }

  int finish(int otherwise) {
    int code = otherwise == kExitDone ? kExitDone : exit_code_of(diags_, otherwise);
    progress_.clear();
    if (common_.json) {
      nlohmann::ordered_json j;
      j["passed"] = code == kExitDone;
      j["samples"] = sequence_.runs.size();
      j["places"] = nlohmann::ordered_json::array();
      for (const PlaceResult& p : places_)
        j["places"].push_back({{"place", p.place},
                               {"passed", p.passed},
                               {"layers", p.layers},
                               {"bit_exact_layers", p.exact},
                               {"worst_ulp", p.worst_ulp},
                               {"stack_bytes", p.summary.stack_bytes},
                               {"guard_ok", p.summary.guard_ok == 1},
                               {"length", p.summary.length},
                               {"op_ticks", p.op_ticks}});
      nlohmann::ordered_json errors = nlohmann::ordered_json::array();
      for (const Diagnostic& d : diags_.all())
        errors.push_back({{"slug", d.slug}, {"message", d.message}});
      j["errors"] = errors;
      print_out("{}\n", json_text(j, 1));
    } else {
      for (const PlaceResult& p : places_) {
        if (!p.passed) continue;
        std::string ulp =
            p.worst_ulp > 0 ? fmt::format(", the others within {} ulp", p.worst_ulp) : "";
        std::string stack =
            p.measured ? fmt::format(", stack {}", format_bytes(p.summary.stack_bytes)) : "";
        print_out("{}: bit-exact in {} of {} layers{}; {}{}, arena guards intact\n", p.place, p.exact,
                  p.layers, ulp, runs_text(), stack);
      }
    }
    print_diagnostics(diags_);
    return code;
  }

  std::string runs_text() const {
    size_t n = samples_.size();
    if (sequence_.runs.size() == n) return fmt::format("{} sample{}", n, n == 1 ? "" : "s");
    return fmt::format("{} run{} in sequence and {} after a reset{}", n, n == 1 ? "" : "s",
                       sequence_.runs.size() - n,
                       sequence_.state_given ? ", each from the reference's state" : "");
  }

  const VerifyOptions& options_;
  const CommonOptions& common_;
  Progress progress_;
  Diagnostics diags_;
  std::vector<Sample> samples_;
  RunSequence sequence_;
  std::vector<PlaceResult> places_;
  int code_ = kExitDone;
};

}  // namespace

int verify_command(const VerifyOptions& options, const CompileOptions& compile,
                   const CommonOptions& common) {
  return Verifier(options, common).run(compile);
}

}  // namespace aotc::driver
