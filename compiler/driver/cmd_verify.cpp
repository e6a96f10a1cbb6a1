// SPDX-License-Identifier: Apache-2.0
// verify: every layer of the emitted C, on the host and on the project's board, against the
// reference evaluation; names the first layer and element that differ.
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/accuracy.h"
#include "driver/commands.h"
#include "driver/comparison.h"
#include "driver/given_reference.h"
#include "driver/inputs.h"
#include "driver/project_dir.h"
#include "driver/run_sequence.h"
#include "driver/summary.h"
#include "driver/temporary.h"
#include "ops/operator.h"
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

struct PlaceResult {
  std::string place;
  bool passed = false;
  int layers = 0, exact = 0, not_compared = 0;
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
    if (!options_.data.empty() && !prepare_data(*compiled)) return finish(kExitBadInput);
    if (!try_given(*compiled)) return finish(kExitVerifyFailed);
    bool good = true;
    if (!can_use_port(project) || !has_board(project)) return finish(kExitUsage);
    // A project for this machine is the place itself: what is in it is what is to be proven.
    bool own = project && project->board.is_host() && project->can_verify();
    if (options_.host) good = (own ? board(*project, *compiled) : host(*compiled)) && good;
    if (project && options_.board && !own && project->can_verify()) good = board(*project, *compiled) && good;
    if (code_ != kExitDone) return finish(code_);
    return finish(good ? kExitDone : kExitVerifyFailed);
  }

 private:
  // Only a project for a board has something to run there.
  bool has_board(const std::optional<ProjectDir>& project) {
    if (options_.host || (project && !project->board.is_host())) return true;
    Location where;
    where.file = options_.target;
    diags_.error(where, "board-unused", "--only board needs a project for a board")
        .help("create a project with 'aotc MODEL --board BOARD -o DIRECTORY', and verify that directory");
    return false;
  }

  bool can_use_port(const std::optional<ProjectDir>& project) {
    if (options_.port.port.empty() || (project && !project->board.is_host() && options_.board)) return true;
    Location where;
    where.file = options_.port.port;
    diags_.error(where, "port-unused", "--port needs a project for a board, and does not work with --only host")
        .help("create a project with 'aotc MODEL --board BOARD -o DIRECTORY'");
    return false;
  }

  // The model is compiled again: it must be there. Only firmware with a verify mode can be asked.
  bool can_verify(const ProjectDir& project) {
    if (!require_model(project, diags_)) return false;
    Location where;
    where.file = project.path;
    if (project.can_verify() || !options_.board) return true;
    if (!options_.host) {
      diags_.error(where, "project-no-verify", "firmware of this kind has no verify mode")
          .help("this firmware tests itself when it starts; --project bare-metal creates firmware with a verify mode");
      return false;
    }
    return true;
  }

  bool has_reference(const Compiled& compiled) {
    auto built = build_given(compiled.original, diags_);
    if (built) given_ = std::move(*built);
    return built.ok();
  }

  // Before anything else runs them: what they do wrong is told of them.
  bool try_given(const Compiled& compiled) {
    if (given_ == nullptr) return true;
    evaluate_sequence(compiled.original, sequence_);
    if (given_->problem().empty()) return true;
    Location where;
    where.file = compiled.options.operators.empty() ? "--operators" : compiled.options.operators[0];
    diags_.error(where, "verify-operator", "on this machine, operator function " + given_->problem())
        .help(
            "to find the fault, call the function with the operands from the first inputs of 'aotc verify', in a "
            "debugger or compiled with -fsanitize=address");
    return false;
  }

  bool make_samples(const Compiled& compiled) {
    if (options_.inputs.empty() && options_.data.empty()) {
      const bool stateful = !compiled.program.graph.states.empty();
      const int count = options_.samples >= 0 ? options_.samples : stateful ? kRunsOfState : kSamples;
      for (int s = 0; s < count; ++s)
        samples_.push_back(random_sample(compiled.program.graph, options_.seed + static_cast<uint64_t>(s)));
      return true;
    }
    auto read = read_samples(compiled.program.graph, options_.data.empty() ? options_.inputs : options_.data, diags_);
    if (read) samples_ = std::move(*read);
    return read.ok();
  }

  // Each input once, in order, and outputs only; the reference runs here.
  bool prepare_data(const Compiled& compiled) {
    sequence_.runs.resize(samples_.size());
    sequence_.state_given = false;
    progress_.step(fmt::format("evaluate the reference for {} inputs", samples_.size()));
    accuracy_.emplace(compiled, sequence_);
    if (options_.labels.empty()) return true;
    Location where;
    where.file = compiled.options.model_path;
    if (accuracy_->classes() == 0) {
      diags_.error(where, "labels-invalid", "no output of the model has a value for each class")
          .help("omit --labels: aotc then compares the outputs with the reference");
      return false;
    }
    auto labels = read_labels(options_.labels, samples_.size(), accuracy_->classes(), diags_);
    if (labels) accuracy_->set_labels(std::move(*labels));
    return labels.ok();
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
    if (!project::generate_project(*description, *board, model, {{"bare_metal", ""}, {}, {}, {}}, directory, diags_) ||
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
    return board_or_host(project, compiled, project.board.is_host() ? "host C" : project.board.name);
  }

  bool board_or_host(const ProjectDir& made, const Compiled& compiled, const std::string& place) {
    if (!options_.port.port.empty() && !made.board.is_host()) return run_and_judge(made, compiled, place);
    const ProjectDir project = in_emulator(made);
    progress_.step(fmt::format("verify on {}: build", place));
    int code = build_project(project, true, diags_);
    if (code != kExitDone) {
      code_ = code;
      return false;
    }
    return run_and_judge(project, compiled, place);
  }

  bool run_and_judge(const ProjectDir& project, const Compiled& compiled, const std::string& place) {
    TemporaryDirectory temp;
    if (!made(temp)) return false;
    std::string in = temp.path() + "/in.bin", out = temp.path() + "/out.bin";
    if (!write_scratch_file(in, sequence_file(compiled.program, sequence_), diags_)) return false;
    progress_.step(fmt::format("verify on {}: run {} samples", place, sequence_.runs.size()));
    // Names without a folder: what the path of the folder holds need not pass through an emulator.
    auto run = options_.port.port.empty() || project.board.is_host()
                   ? run_firmware(project, {accuracy_ ? "outputs" : "verify", "in.bin", "out.bin"}, options_.timeout,
                                  diags_, temp.path())
                   : run_on_port(project, options_.port, accuracy_ ? PortMode::kOutputs : PortMode::kVerify, in, out,
                                 most_of_results(compiled), options_.timeout, diags_);
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
                 flooded ? fmt::format("the firmware wrote {}, which is more than the size of all results",
                                       exact_bytes(static_cast<int64_t>(size)))
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
    const DeviceResults results = read_results(bytes);
    if (accuracy_) return accuracy_->add(place, results, diags_);
    result.summary = results.summary;
    result.op_ticks = results.op_ticks;
    Comparison comparison(compiled, place, sequence_, diags_);
    result.passed = comparison.compare(results);
    result.layers = comparison.layers();
    result.exact = comparison.exact_layers();
    result.not_compared = comparison.layers_not_compared();
    result.worst_ulp = comparison.worst_ulp();
    result.measured = !project.board.is_host();
    if (result.passed) {
      FirmwareRun run;
      const bool emulated = options_.port.port.empty() || project.board.is_host();
      run.values[emulated ? project.board.emulated_unit() : project.board.field("clock.unit")] = result.summary.length;
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
                               {"layers_not_compared", p.not_compared},
                               {"worst_ulp", p.worst_ulp},
                               {"stack_bytes", p.summary.stack_bytes},
                               {"guard_ok", p.summary.guard_ok == 1},
                               {"length", p.summary.length},
                               {"op_ticks", p.op_ticks}});
      nlohmann::ordered_json errors = nlohmann::ordered_json::array();
      for (const Diagnostic& d : diags_.all()) errors.push_back({{"slug", d.slug}, {"message", d.message}});
      if (accuracy_) j["accuracy"] = accuracy_->json();
      j["errors"] = errors;
      print_out("{}\n", json_text(j, 1));
    } else if (accuracy_) {
      print_out("{}", accuracy_->text());
    } else {
      for (const PlaceResult& p : places_) {
        if (!p.passed) continue;
        std::string ulp = p.worst_ulp > 0 ? fmt::format(", the others within {} ulp", p.worst_ulp) : "";
        // Inside of branches and loops, where nothing is known of what the C library makes of floats.
        if (p.not_compared > 0) ulp += fmt::format(", {} not compared", p.not_compared);
        std::string stack = p.measured ? fmt::format(", stack {}", format_bytes(p.summary.stack_bytes)) : "";
        print_out("{}: bit-exact in {} of {} layers{}; {}{}, arena guards intact\n", p.place, p.exact, p.layers, ulp,
                  runs_text(), stack);
      }
    }
    print_diagnostics(diags_);
    return code;
  }

  std::string runs_text() const {
    size_t n = samples_.size();
    if (sequence_.runs.size() == n) return fmt::format("{} sample{}", n, n == 1 ? "" : "s");
    return fmt::format("{} run{} in sequence and {} after a reset{}", n, n == 1 ? "" : "s", sequence_.runs.size() - n,
                       sequence_.state_given ? ", each from the reference's state" : "");
  }

  const VerifyOptions& options_;
  const CommonOptions& common_;
  Progress progress_;
  Diagnostics diags_;
  std::vector<Sample> samples_;
  RunSequence sequence_;
  std::shared_ptr<GivenReference> given_;
  std::vector<PlaceResult> places_;
  std::optional<Accuracy> accuracy_;  // with --data
  int code_ = kExitDone;
};

}  // namespace

int verify_command(const VerifyOptions& options, const CompileOptions& compile, const CommonOptions& common) {
  return Verifier(options, common).run(compile);
}

}  // namespace aotc::driver
