// SPDX-License-Identifier: Apache-2.0
// aotc-opt: text IR (or a .tflite model) in, named passes, text IR out. What the lit tests drive,
// and what shows a developer what one pass does. The one thing to know: stdout is the product
// alone; dumps, timings and messages go to stderr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "frontends/tflite/reader.h"
#include "passes/devices.h"
#include "passes/pipeline.h"
#include "support/files.h"
#include "tools/aotc-opt/tir_mode.h"

namespace aotc {

namespace {

// As every program of the project: see docs/cli.md.
enum ExitCode { kDone = 0, kBadInput = 1, kUsage = 2, kInternal = 70 };

struct Options {
  std::string input = "-";
  std::string output = "-";
  std::string passes;
  bool pipeline = false;
  bool tir = false;
  bool list_passes = false;
  bool locations = false;
  bool verify_each = true;
  bool time_passes = false;
  std::string dump_after;
  int64_t constants_limit = INT64_MAX;
  passes::PassOptions pass_options;
  std::string devices;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("input", options.input, "text IR or .tflite file; '-' is stdin")
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "file to write; '-' is stdout")
      ->capture_default_str();
  app.add_option("--pass", options.passes, "run these passes, separated by commas, in this order");
  app.add_flag("--pipeline", options.pipeline, "run all passes, as a compilation does");
  app.add_flag("--strip-boundary-float", options.pass_options.strip_boundary_float,
               "let the strip-boundary-float pass act");
  app.add_flag("--remove-rounding", options.pass_options.remove_rounding,
               "let remove-conversions remove quantize followed by dequantize, which rounds");
  app.add_flag("--keep-dead-channels", options.pass_options.keep_dead_channels,
               "let the dead-channels pass do nothing");
  app.add_option("--devices", options.devices, "devices.json: what runs where");
  app.add_option("--dump-after", options.dump_after,
                 "print the graph to stderr after this pass, or after 'all'");
  app.add_flag("--time-passes", options.time_passes, "print each pass's time to stderr");
  app.add_flag("--locations", options.locations, "print where each operator came from");
  app.add_option("--constants-limit", options.constants_limit,
                 "print a hash of constants with more bytes");
  app.add_flag("--verify,!--no-verify", options.verify_each,
               "check the graph before the first and after every pass (on by default)");
  app.add_flag("--tir", options.tir, "read, verify and print the text form of TIR instead");
  app.add_flag("--list-passes", options.list_passes, "list the passes in pipeline order");
}

Result<std::vector<uint8_t>> read_input(const Options& options, Diagnostics& diags) {
  return read_file(options.input == "-" ? "/dev/stdin" : options.input, diags);
}

bool is_tflite(const std::vector<uint8_t>& bytes) {
  static constexpr char kIdentifier[] = {'T', 'F', 'L', '3'};
  return bytes.size() >= 8 &&
         std::equal(std::begin(kIdentifier), std::end(kIdentifier), bytes.begin() + 4);
}

Result<graph::Graph> read_graph(std::vector<uint8_t> bytes, const std::string& shown,
                                Diagnostics& diags) {
  if (is_tflite(bytes)) return frontends::read_tflite(std::move(bytes), shown, diags);
  return graph::parse(std::string(bytes.begin(), bytes.end()), shown, ops::definition_lookup(),
                      diags);
}

void list_passes() {
  for (const passes::Pass& pass : passes::pipeline())
    std::fputs(fmt::format("{:<22}{}\n", pass.name, pass.reason).c_str(), stdout);
}

Result<std::string> run_graph(const Options& options, std::vector<uint8_t> bytes,
                              const std::string& shown, Diagnostics& diags) {
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
      std::string text = fmt::format("// after {}\n{}", pass.name, print(after, print_options));
      std::fputs(text.c_str(), stderr);
    };
  if (options.time_passes)
    run.timed = [](const passes::Pass& pass, std::chrono::nanoseconds time) {
      double ms = static_cast<double>(time.count()) * 1e-6;
      std::fputs(fmt::format("{:<22}{:10.3f} ms\n", pass.name, ms).c_str(), stderr);
    };
  if (!passes::run_passes(*graph, *chosen, run, diags)) return kFailure;
  return print(*graph, print_options);
}

Status write_output(const Options& options, const std::string& text, Diagnostics& diags) {
  if (options.output != "-") return write_file(options.output, text, diags);
  bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return success();
  Location where;
  where.file = "<stdout>";
  diags.error(where, "file-write", "cannot write to stdout");
  return kFailure;
}

bool is_bug(const Diagnostics& diags) {
  return std::any_of(diags.all().begin(), diags.all().end(),
                     [](const Diagnostic& d) { return d.slug == "internal"; });
}

// Names that no pass has are mistakes in the command line, not in the input.
bool is_usage(const Diagnostics& diags) {
  return std::any_of(diags.all().begin(), diags.all().end(),
                     [](const Diagnostic& d) { return d.slug == "pass-unknown"; });
}

Status run(const Options& options, Diagnostics& diags) {
  if (!options.dump_after.empty() && options.dump_after != "all" &&
      !passes::parse_pass_list(options.dump_after, diags))
    return kFailure;
  auto bytes = read_input(options, diags);
  if (!bytes) return kFailure;
  std::string shown = options.input == "-" ? "<stdin>" : options.input;
  auto text = options.tir ? run_tir(std::string(bytes->begin(), bytes->end()), shown, diags)
                          : run_graph(options, std::move(*bytes), shown, diags);
  if (!text) return kFailure;
  return write_output(options, *text, diags);
}

int main_with(int argc, char** argv) {
  CLI::App app("Runs passes over the text form of aotc's intermediate representations.",
               "aotc-opt");
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  if (options.list_passes) {
    list_passes();
    return kDone;
  }
  Diagnostics diags;
  Status status = run(options, diags);
  std::fputs(diags.str().c_str(), stderr);
  if (status) return kDone;
  return is_bug(diags) ? kInternal : is_usage(diags) ? kUsage : kBadInput;
}

}  // namespace

}  // namespace aotc

int main(int argc, char** argv) { return aotc::main_with(argc, argv); }
