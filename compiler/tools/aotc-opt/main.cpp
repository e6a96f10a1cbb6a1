// SPDX-License-Identifier: Apache-2.0
// aotc-opt: text IR (or a .tflite model) in, named passes, text IR out. What the lit tests drive,
// and what shows a developer what one pass does. The one thing to know: stdout is the product
// alone; dumps, timings and messages go to stderr.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "frontends/frontend.h"
#include "options/options.h"
#include "passes/devices.h"
#include "passes/pipeline.h"
#include "plan/verify.h"
#include "support/files.h"
#include "support/streams.h"
#include "tir/tir.h"
#include "tools/aotc-opt/plan_mode.h"

namespace aotc {

namespace {

// As every program of the project: see docs/cli.md.
enum ExitCode { kDone = 0, kBadInput = 1, kUsage = 2, kInternal = 70 };

// The mode --tir: parses and verifies one TIR function and returns its text form.
Result<std::string> run_tir(const std::string& text, const std::string& file, Diagnostics& diags) {
  auto function = tir::parse(text, file, diags);
  if (!function || !tir::verify(**function, diags)) return kFailure;
  return tir::print(**function);
}

struct Options {
  std::string input = "-";
  std::string output = "-";
  std::string passes;
  bool pipeline = false;
  bool tir = false;
  bool plan = false;
  PlanOptions plan_options;
  bool list_passes = false;
  bool locations = false;
  bool verify_each = true;
  bool time_passes = false;
  std::string dump_after;
  int64_t constants_limit = INT64_MAX;
  passes::PassOptions pass_options;
  std::string devices;
};

// Which passes run, and how.
std::vector<options::Option> pass_options(Options& o) {
  passes::PassOptions& pass = o.pass_options;
  return {
      {.names = "--pass",
       .value = "NAME,...",
       .target = &o.passes,
       .help = "Run these passes, separated by commas, in this order"},
      {.names = "--pipeline", .target = &o.pipeline, .help = "Run all passes, as a compilation does"},
      {.names = "--strip-boundary-float",
       .target = &pass.strip_boundary_float,
       .help = "Enable the strip-boundary-float pass"},
      {.names = "--remove-rounding",
       .target = &pass.remove_rounding,
       .help = "Let the pass remove-conversions remove pairs of quantize and dequantize, which changes rounding"},
      {.names = "--keep-dead-channels", .target = &pass.keep_dead_channels, .help = "Disable the dead-channels pass"},
      {.names = "--transpose-work",
       .value = "STEPS",
       .target = &pass.transpose_work,
       .help = "End the search of the pass move-transposes after this many steps"},
      {.names = "--devices",
       .value = "FILE",
       .target = &o.devices,
       .help = "Run operators on the devices (accelerators or other cores) that this JSON file describes",
       .takes = options::Takes::kFile}};
}

options::Command command_line(Options& o) {
  using options::Takes;
  options::Command command = {
      .name = "aotc-opt",
      .summary = "Run passes over the text form of aotc's intermediate representations",
      .options = {{.names = "input",
                   .target = &o.input,
                   .help = "A file of text IR or a .tflite file; '-' is stdin",
                   .takes = Takes::kFile},
                  {.names = "-o,--output",
                   .value = "FILE",
                   .target = &o.output,
                   .help = "Write to this file; '-' is stdout",
                   .takes = Takes::kFile},
                  {.names = "--dump-after",
                   .value = "PASS",
                   .target = &o.dump_after,
                   .help = "Print the graph to stderr after this pass, or after 'all'"},
                  {.names = "--time-passes", .target = &o.time_passes, .help = "Print each pass's time to stderr"},
                  {.names = "--locations",
                   .target = &o.locations,
                   .help = "Print the source location of each operator"},
                  {.names = "--constants-limit",
                   .value = "BYTES",
                   .target = &o.constants_limit,
                   .help = "Print only a hash of each constant that is larger than this"},
                  {.names = "--verify",
                   .target = options::Action{[&o] { o.verify_each = true; }},
                   .help = "Check the graph before the first pass and after every pass (the default)"},
                  {.names = "--no-verify",
                   .target = options::Action{[&o] { o.verify_each = false; }},
                   .help = "Do not check the graph"},
                  {.names = "--tir",
                   .target = &o.tir,
                   .help = "Read, verify and print the text form of TIR instead of a graph"},
                  {.names = "--plan",
                   .target = &o.plan,
                   .help = "Print the memory plan and the calls instead of the graph; the input can also be a plan"},
                  {.names = "--slice",
                   .value = "INSTRUCTIONS",
                   .target = &o.plan_options.slice,
                   .help = "With --plan: split calls into parts of at most this many instructions"},
                  {.names = "--run",
                   .value = "VALUES",
                   .target = &o.plan_options.runs,
                   .help = "With --plan: run the program instead of printing it. Give a list such as [1, 2] for each "
                           "input. Repeat the option for more runs; all runs share the states"},
                  {.names = "--list-passes", .target = &o.list_passes, .help = "List the passes in pipeline order"}},
      .exit_codes = {{kDone, "done"}, {kBadInput, "bad input"}, {kUsage, "usage"}, {kInternal, "bug in aotc"}}};
  const std::vector<options::Option> passes = pass_options(o);
  command.options.insert(command.options.begin() + 2, passes.begin(), passes.end());
  return command;
}

Result<std::vector<uint8_t>> read_input(const Options& options, Diagnostics& diags) {
  return options.input == "-" ? read_standard_input(diags) : read_file(options.input, diags);
}

Result<graph::Graph> read_graph(std::vector<uint8_t> bytes, const std::string& shown, Diagnostics& diags) {
  if (frontends::recognise(bytes) != nullptr) return frontends::read_model(std::move(bytes), shown, diags);
  return graph::parse(std::string(bytes.begin(), bytes.end()), shown, ops::definition_lookup(), diags);
}

void list_passes() {
  for (const passes::Pass& pass : passes::pipeline()) print_out("{:<22}{}\n", pass.name, pass.reason);
  print_out("\nThe passes of the planner, which follow:\n");
  for (const plan::PlanPass& pass : plan::plan_passes()) print_out("{:<22}{}\n", pass.name, pass.reason);
}

Result<std::string> run_graph(const Options& options, std::vector<uint8_t> bytes, const std::string& shown,
                              Diagnostics& diags) {
  auto chosen = passes::parse_pass_list(options.passes, diags);
  if (!chosen) return kFailure;
  if (options.pipeline) chosen->assign(passes::pipeline().begin(), passes::pipeline().end());
  auto graph = read_graph(std::move(bytes), shown, diags);
  if (!graph) return kFailure;

  graph::PrintOptions print_options;
  print_options.constants_limit = options.constants_limit;
  print_options.locations = options.locations;
  passes::RunOptions run;
  run.passes = options.pass_options;
  passes::DeviceSet devices;
  if (!options.devices.empty()) {
    auto text = read_file(options.devices, diags, 1 << 20);
    if (!text) return kFailure;
    auto read = passes::parse_devices({text->begin(), text->end()}, options.devices, diags);
    if (!read) return kFailure;
    devices = std::move(*read);
    run.passes.devices = &devices;
  }
  run.verify_each = options.verify_each;
  if (!options.dump_after.empty())
    run.after = [&](const passes::Pass& pass, const graph::Graph& after) {
      if (options.dump_after != "all" && options.dump_after != pass.name) return;
      print_err("// after {}\n{}", pass.name, print(after, print_options));
    };
  if (options.time_passes)
    run.timed = [](const passes::Pass& pass, std::chrono::nanoseconds time) {
      double ms = static_cast<double>(time.count()) * 1e-6;
      print_err("{:<22}{:10.3f} ms\n", pass.name, ms);
    };
  if (!passes::run_passes(*graph, *chosen, run, diags)) return kFailure;
  if (!options.plan) return print(*graph, print_options);
  plan::PlanOptions planned;
  if (options.time_passes)
    planned.timed = [](const plan::PlanPass& pass, std::chrono::nanoseconds time) {
      print_err("{:<22}{:10.3f} ms\n", pass.name, static_cast<double>(time.count()) * 1e-6);
    };
  planned.devices = devices;
  auto program = plan::plan_program(std::move(*graph), planned, diags);
  if (!program || !plan::verify(*program, diags)) return kFailure;
  PlanOptions plan_options = options.plan_options;
  plan_options.constants_limit = options.constants_limit;
  return run_plan({std::move(*program), {}, {}}, plan_options, diags);
}

Result<std::string> run_text(const Options& options, std::vector<uint8_t> bytes, const std::string& shown,
                             Diagnostics& diags) {
  const std::string text(bytes.begin(), bytes.end());
  if (options.tir) return run_tir(text, shown, diags);
  if (!options.plan || !is_plan(text)) return run_graph(options, std::move(bytes), shown, diags);
  auto read = read_plan(text, shown, diags);
  if (!read) return kFailure;
  PlanOptions plan_options = options.plan_options;
  plan_options.constants_limit = options.constants_limit;
  return run_plan(std::move(*read), plan_options, diags);
}

Status write_output(const Options& options, const std::string& text, Diagnostics& diags) {
  if (options.output != "-") return write_file(options.output, text, diags);
  write_out(text);
  return success();
}

bool is_bug(const Diagnostics& diags) {
  return std::any_of(diags.all().begin(), diags.all().end(), [](const Diagnostic& d) { return d.slug == "internal"; });
}

// Names that no pass has are mistakes in the command line, not in the input.
bool is_usage(const Diagnostics& diags) {
  return std::any_of(diags.all().begin(), diags.all().end(),
                     [](const Diagnostic& d) { return d.slug == "pass-unknown"; });
}

Status run(const Options& options, Diagnostics& diags) {
  if (!options.dump_after.empty() && options.dump_after != "all" && !passes::parse_pass_list(options.dump_after, diags))
    return kFailure;
  auto bytes = read_input(options, diags);
  if (!bytes) return kFailure;
  std::string shown = options.input == "-" ? "<stdin>" : options.input;
  auto text = run_text(options, std::move(*bytes), shown, diags);
  if (!text) return kFailure;
  return write_output(options, *text, diags);
}

int work(const Options& options) {
  if (options.list_passes) {
    list_passes();
    return kDone;
  }
  Diagnostics diags;
  Status status = run(options, diags);
  write_err(diags.str());
  if (status) return kDone;
  return is_bug(diags) ? kInternal : is_usage(diags) ? kUsage : kBadInput;
}

}  // namespace

}  // namespace aotc

int main(int argc, char** argv) {
  aotc::prepare_streams();
  aotc::Options options;
  aotc::options::Command program = aotc::command_line(options);
  program.run = [&options] { return aotc::work(options); };
  return aotc::finish_streams(aotc::options::run(program, {argv + 1, argv + argc}));
}
