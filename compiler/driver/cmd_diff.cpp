// SPDX-License-Identifier: Apache-2.0
// diff: two models, projects or reports, layer by layer; and how often each is right on given data.
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/accuracy.h"
#include "driver/commands.h"
#include "driver/report.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct DiffOptions {
  std::string before, after, labels;
  std::vector<std::string> data;
  CompileOptions compile;
  CommonOptions common;
};

// Either side: what was compiled, or only what an earlier report says.
struct Side {
  std::optional<Report> report;
  ReportJson data;
};

// Told from TVM's graphs, which are JSON as well, by the fields that those have. What is neither is no report, and the
// message says why.
bool is_report(const std::string& path) {
  std::error_code absent;
  if (!path.ends_with(".json") || !std::filesystem::is_regular_file(path, absent)) return false;
  Diagnostics ignored;
  auto bytes = read_file(path, ignored);
  if (!bytes) return false;
  ReportJson graph;
  const bool is_json = !parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, graph);
  return !(is_json && graph.is_object() && (graph.contains("nodes") || graph.contains("arg_nodes")));
}

Result<Side> read_side(const std::string& target, const CompileOptions& compile, Diagnostics& diags) {
  Side out;
  if (is_report(target)) {
    auto read = read_report(target, diags);
    if (!read) return kFailure;
    out.data = std::move(*read);
    return out;
  }
  auto made = make_report(target, compile, diags, false);
  if (!made) return kFailure;
  out.data = made->data;
  out.report = std::move(*made);
  return out;
}

// The class that the reference gives for each input, and how many are right.
struct Classes {
  std::vector<int> found;
  std::optional<size_t> right;
};

Result<Classes> classes_of(const Side& side, const std::string& target, const DiffOptions& o, Diagnostics& diags) {
  Location where;
  where.file = target;
  if (!side.report) {
    diags.error(where, "report-no-model", "a report contains no model, so aotc cannot run the inputs of --data")
        .help("give the model or project instead, or omit --data");
    return kFailure;
  }
  const Compiled& compiled = side.report->compiled;
  auto samples = read_samples(compiled.program.graph, o.data, diags);
  if (!samples) return kFailure;
  RunSequence sequence = sequence_of(compiled.program.reference(), *samples);
  sequence.runs.resize(samples->size());
  Accuracy accuracy(compiled, sequence);
  if (accuracy.classes() == 0) {
    diags.error(where, "labels-invalid", "no output of the model has a value for each class").help("omit --data");
    return kFailure;
  }
  Classes out;
  out.found = accuracy.reference_classes();
  if (o.labels.empty()) return out;
  auto labels = read_labels(o.labels, samples->size(), accuracy.classes(), diags);
  if (!labels) return kFailure;
  out.right = 0;
  for (size_t i = 0; i < labels->size(); ++i) *out.right += (*labels)[i] == out.found[i] ? 1 : 0;
  return out;
}

Status add_accuracy(const Side& before, const Side& after, const DiffOptions& o, ReportJson& difference,
                    Diagnostics& diags) {
  if (o.data.empty()) return success();
  auto a = classes_of(before, o.before, o, diags), b = classes_of(after, o.after, o, diags);
  if (!a || !b) return kFailure;
  if (a->found.size() != b->found.size()) {
    Location where;
    where.file = o.after;
    diags.error(where, "input-shape",
                fmt::format("--data has {} inputs for this model, but {} for the other model", b->found.size(),
                            a->found.size()));
    return kFailure;
  }
  size_t same = 0;
  for (size_t i = 0; i < a->found.size(); ++i) same += a->found[i] == b->found[i] ? 1 : 0;
  difference["accuracy"] = {{"inputs", a->found.size()}, {"same_class", same}};
  if (a->right) difference["accuracy"]["old_right"] = *a->right, difference["accuracy"]["new_right"] = *b->right;
  return success();
}

std::string accuracy_text(const ReportJson& accuracy) {
  const auto inputs = accuracy["inputs"].get<int64_t>();
  std::string out;
  if (accuracy.contains("old_right"))
    out = fmt::format("right: {} before, {} now, of {} inputs\n", with_commas(accuracy["old_right"].get<int64_t>()),
                      with_commas(accuracy["new_right"].get<int64_t>()), with_commas(inputs));
  return out + fmt::format("{} of {} inputs have the same class in both\n",
                           with_commas(accuracy["same_class"].get<int64_t>()), with_commas(inputs));
}

int diff(const DiffOptions& o) {
  Diagnostics diags;
  auto before = read_side(o.before, o.compile, diags);
  if (!before) return fail(diags);
  auto after = read_side(o.after, o.compile, diags);
  if (!after) return fail(diags);
  ReportJson difference = difference_json(before->data, after->data);
  if (!add_accuracy(*before, *after, o, difference, diags)) return fail(diags);
  if (o.common.json) {
    print_out("{}\n", json_text(difference, 1));
    return kExitDone;
  }
  print_out("{}{}", difference_text(difference),
            difference.contains("accuracy") ? accuracy_text(difference["accuracy"]) : "");
  print_diagnostics(diags);
  return kExitDone;
}

}  // namespace

options::Command model_diff_declaration() {
  auto o = std::make_shared<DiffOptions>();
  auto side = [](const char* name, std::string* target, const char* help) {
    return options::Option{
        .names = name, .target = target, .help = help, .required = true, .takes = options::Takes::kFile};
  };
  return {
      .name = "diff",
      .summary = "Compare two models, projects or reports: layers, bytes, instructions, accuracy",
      .options =
          {side("OLD", &o->before, "A model, a project, or the output of 'aotc report --json'"),
           side("NEW", &o->after, "The model, project or report to compare with OLD"),
           {.names = "--data",
            .value = "FILE.npy",
            .target = &o->data,
            .help = "Run both models on these inputs (one file for each input of the model), and count how often both "
                    "find the same class",
            .takes = options::Takes::kFile,
            .common = true},
           {.names = "--labels",
            .value = "FILE.npy",
            .target = &o->labels,
            .help =
                "With --data: read the class of each input from this file, and count the correct results of each model",
            .takes = options::Takes::kFile},
           json_option(o->common),
           quiet_option(o->common)},
      .groups = compile_groups(o->compile),
      .run = [o] {
        if (!o->labels.empty() && o->data.empty())
          return options::usage_error("aotc diff", "--labels needs --data", {"give the labelled inputs with --data"});
        return diff(*o);
      }};
}

}  // namespace aotc::driver
