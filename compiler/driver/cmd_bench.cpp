// SPDX-License-Identifier: Apache-2.0
// bench --ops: the operators of a model in one firmware, each timed by itself on the device, beside
// what the cost model expects and compared with its meaning.
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/device.h"
#include "driver/operator_bench.h"
#include "driver/temporary.h"
#include "project/generate.h"
#include "project/operators.h"
#include "support/json.h"
#include "support/process.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct BenchOptions {
  CompileOptions compile;
  CommonOptions common;
  DeviceChoice device;
  std::string keep;
  std::vector<std::string> project_options;
  uint32_t repeats = 3, warm_up = 1;
  uint64_t seed = 1;
  bool force = false;
};

struct Measured {
  rpc::Timing timing;
  // Whether the results are what the function means; nothing if nobody knows.
  std::optional<bool> right;
};

Result<std::map<std::string, std::string>> pairs(const std::vector<std::string>& list, Diagnostics& diags) {
  std::map<std::string, std::string> out;
  for (const std::string& item : list) {
    size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0) {
      diags.error({}, "template-option", fmt::format("'{}' is not NAME=VALUE", item));
      return kFailure;
    }
    out[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return out;
}

// The firmware with all of the operators, in `path`.
Status write_firmware(const BenchOptions& options, const Bench& bench, const std::string& path, Diagnostics& diags) {
  auto board = project::find_board(options.compile.board_name, diags);
  auto settings = pairs(options.project_options, diags);
  project::OperatorProject project;
  auto description = project::read_description(project.source, diags);
  if (!board || !settings || !description) return kFailure;
  project.archive = &bench.archive;
  project.file_name = options.compile.model_path;
  project.options = std::move(*settings);
  project.operators = infos_of(bench.operators);
  OutputDirectory directory(path, project::kManifest, options.force);
  if (!project::generate_operator_project(*description, *board, project, directory, diags)) return kFailure;
  return directory.commit(diags);
}

Result<Measured> measure(rpc::Session& session, const BenchOperator& op, const BenchOptions& options,
                         Diagnostics& diags) {
  std::vector<rpc::TensorType> types;
  std::vector<std::vector<uint8_t>> values;
  for (const BenchParameter& p : op.parameters) {
    types.push_back(p.type);
    values.push_back(p.value);
  }
  auto arguments = place_parameters(session, types, values, diags);
  if (!arguments) return kFailure;
  auto timing = session.time(op.name, *arguments, options.repeats, options.warm_up, diags);
  auto expected = expected_results(op, diags);
  if (!timing || !expected) return kFailure;
  Measured out{*timing, std::nullopt};
  for (size_t i = 0; i < expected->size(); ++i) {
    if (!op.parameters[i].result) continue;
    auto got = session.download(static_cast<uint8_t>(i), types[i].bytes(), diags);
    if (!got) return kFailure;
    out.right = out.right.value_or(true) && *got == (*expected)[i];
  }
  return out;
}

uint64_t mean_of(const Measured& m, const BenchOptions& options) {
  return m.timing.total / std::max<uint32_t>(options.repeats, 1);
}

nlohmann::ordered_json json_of(const Bench& bench, const std::vector<Measured>& measured, const BenchOptions& options,
                               const OpenDevice& device) {
  nlohmann::ordered_json j;
  j["board"] = device.session->device().board;
  j["unit"] = device.unit();
  j["ticks_per_second"] = device.session->device().ticks_per_second;
  j["repeats"] = options.repeats;
  j["operators"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < measured.size(); ++i) {
    const BenchOperator& op = bench.operators[i];
    nlohmann::ordered_json o;
    o["name"] = op.name;
    o["kind"] = op.title;
    o["ops"] = op.ops;
    o["macs"] = op.macs;
    o["mean"] = mean_of(measured[i], options);
    o["least"] = measured[i].timing.least;
    o["most"] = measured[i].timing.most;
    if (op.instructions > 0) {
      o["estimated_instructions"] = static_cast<int64_t>(op.instructions);
      if (op.cycles > 0) o["estimated_cycles"] = static_cast<int64_t>(op.cycles);
    }
    if (measured[i].right) o["right"] = *measured[i].right;
    j["operators"].push_back(std::move(o));
  }
  return j;
}

void print_table(const Bench& bench, const std::vector<Measured>& measured, const BenchOptions& options,
                 const OpenDevice& device) {
  std::vector<std::vector<std::string>> rows = {
      {"function", "times", "MACs", device.unit(), "estimate", "ratio", "cycles, est.", "per MAC", "result"}};
  uint64_t total = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    const BenchOperator& op = bench.operators[i];
    const uint64_t mean = mean_of(measured[i], options);
    const auto real = static_cast<double>(mean);
    const size_t times = std::max<size_t>(1, op.ops.size());
    total += mean * times;
    rows.push_back({escape_for_display(op.name), std::to_string(times), op.macs > 0 ? with_commas(op.macs) : "",
                    with_commas(static_cast<int64_t>(mean)),
                    op.instructions > 0 ? with_commas(static_cast<int64_t>(op.instructions)) : "",
                    op.instructions > 0 ? fmt::format("{:.2f}", real / op.instructions) : "",
                    op.cycles > 0 ? with_commas(static_cast<int64_t>(op.cycles)) : "",
                    op.macs > 0 ? fmt::format("{:.2f}", real / static_cast<double>(op.macs)) : "",
                    measured[i].right ? (*measured[i].right ? "right" : "WRONG") : ""});
  }
  print_out("{}\n{} {} for all calls of the model, each including its call through the registry\n", format_table(rows),
            with_commas(static_cast<int64_t>(total)), device.unit());
}

// What the firmware needs is there: said before a minute is spent on making it.
Status can_run(const BenchOptions& options, Diagnostics& diags) {
  auto board = project::find_board(options.compile.board_name, diags);
  auto description = project::read_description(project::OperatorProject().source, diags);
  if (!board || !description) return kFailure;
  Location where;
  where.file = "--board " + board->name;
  const bool supported =
      description->platforms.empty() || std::any_of(description->platforms.begin(), description->platforms.end(),
                                                    [&](const auto& p) { return p.name == board->platform; });
  if (!supported) {
    diags
        .error(where, "template-board",
               "'aotc bench' needs a host-driven project, but this board has no host-driven firmware")
        .help(fmt::format("boards with host-driven firmware and an emulator: {}", joined(served_boards(), ", ")));
    return kFailure;
  }
  if (find_program(board->compiler).empty()) {
    diags.error(where, "tool-missing", fmt::format("the compiler '{}' is not installed", board->compiler))
        .help("install it: apt-get install " + joined(board->toolchain_packages));
    return kFailure;
  }
  if (!options.device.port.empty()) return success();
  if (board->emulator_argv.empty() || board->stand_in) {
    diags
        .error(where, "no-emulator",
               board->stand_in ? "the board has no emulator; aotc emulates a different board with the same core, whose "
                                 "times are not comparable"
                               : "the board has no emulator")
        .help(
            "pass -o DIRECTORY and --port PORT: aotc then builds the firmware in DIRECTORY; flash it, and run the "
            "command again")
        .help(fmt::format("boards that run on this machine: {}", joined(served_boards(), ", ")));
    return kFailure;
  }
  if (board->is_host() || !find_program(board->emulator_program).empty()) return success();
  diags.error(where, "tool-missing", fmt::format("'{}' is not installed", board->emulator_program))
      .help("install it: apt-get install " + joined(board->emulator_packages));
  return kFailure;
}

int bench_operators(const BenchOptions& given) {
  Diagnostics diags;
  BenchOptions options = given;
  if (options.compile.board_name.empty()) {
    Location where;
    where.file = options.compile.model_path;
    diags.error(where, "board-missing", "no board is given, but 'aotc bench' times operators on a board")
        .help("pass --board NAME; 'aotc boards' lists the boards");
    return fail(diags, kExitUsage);
  }
  if (!can_run(options, diags)) return fail(diags);
  auto bench = prepare_bench(options.compile, options.seed, diags);
  if (!bench) return fail(diags, kExitBadInput);
  TemporaryDirectory temporary;
  if (!temporary.made(diags)) return fail(diags, kExitBadInput);
  const std::string path = options.keep.empty() ? temporary.path() + "/firmware" : options.keep;
  if (!write_firmware(options, *bench, path, diags)) return fail(diags, kExitBadInput);
  auto project = open_project(path, diags);
  if (!project) return fail(diags, kExitInternal);
  if (int code = build_project(*project, options.common.quiet, diags); code != kExitDone) return fail(diags, code);
  options.device.target = path;
  auto device = open_device(options.device, diags);
  if (!device) return fail(diags, kExitDevice);
  std::vector<Measured> measured;
  Progress progress(options.common.quiet);
  for (const BenchOperator& op : bench->operators) {
    progress.bar("timing " + op.name, static_cast<int64_t>(measured.size()),
                 static_cast<int64_t>(bench->operators.size()));
    auto one = measure(*device->session, op, options, diags);
    if (!one) return fail(diags, kExitDevice);
    measured.push_back(*one);
  }
  progress.clear();
  if (options.common.json) print_out("{}\n", json_text(json_of(*bench, measured, options, *device), 1));
  else print_table(*bench, measured, options, *device);
  const bool wrong =
      std::any_of(measured.begin(), measured.end(), [](const Measured& m) { return !m.right.value_or(true); });
  if (!wrong) print_diagnostics(diags);
  if (!wrong) return kExitDone;
  Location where;
  where.file = options.compile.model_path;
  diags.error(where, "verify-differs", "an operator on the device computed wrong results");
  return fail(diags, kExitVerifyFailed);
}

}  // namespace

options::Command bench_declaration() {
  auto o = std::make_shared<BenchOptions>();
  options::Command out = {
      .name = "bench",
      .summary = "Time operators on a board, and show the estimates beside the times",
      .options = {{.names = "--ops",
                   .value = "MODEL",
                   .target = &o->compile.model_path,
                   .help = "Time each operator of this model or of this operator archive",
                   .required = true,
                   .takes = options::Takes::kFile,
                   .common = true},
                  board_option(o->compile.board_name, "Time on this board"),
                  level_option(o->compile),
                  kernels_option(o->compile),
                  schedules_option(o->compile),
                  {.names = "--repeats",
                   .value = "N",
                   .target = &o->repeats,
                   .help = "Measure N runs",
                   .range = options::Range{1, 1000000},
                   .common = true},
                  {.names = "--warm-up",
                   .value = "N",
                   .target = &o->warm_up,
                   .help = "Run N times before the measured runs",
                   .range = options::Range{0, 1000000}},
                  {.names = "--seed", .value = "N", .target = &o->seed, .help = "Set the seed of the random inputs"},
                  {.names = "--project-option",
                   .value = "NAME=VALUE",
                   .target = &o->project_options,
                   .help = "Set an option of the firmware; 'aotc create --help-project host-driven' lists the options"},
                  {.names = "-o,--directory",
                   .value = "DIRECTORY",
                   .target = &o->keep,
                   .help = "Write the firmware's project to this directory and keep it",
                   .takes = options::Takes::kDirectory,
                   .common = true},
                  {.names = "--force",
                   .target = &o->force,
                   .help = "Replace files that changed since aotc wrote them; keep files that aotc did not write"},
                  json_option(o->common),
                  quiet_option(o->common)},
      .run = [o] { return bench_operators(*o); }};
  for (options::Option& option : device_options(o->device)) out.options.push_back(std::move(option));
  return out;
}

}  // namespace aotc::driver
