// SPDX-License-Identifier: Apache-2.0
#include "driver/constants_for.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_constants.h"
#include "driver/compile_checks.h"
#include "driver/estimate.h"
#include "driver/project_dir.h"
#include "driver/report.h"
#include "driver/summary.h"
#include "passes/channels.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using nlohmann::ordered_json;

std::string text_of(uint64_t hash) { return fmt::format("{:016x}", hash); }

// A compilation that was written: its manifest, and its code with the placeholder in the place of the hash.
struct Old {
  std::string folder;
  nlohmann::json manifest;
  std::map<std::string, std::string> files;
};

Failure refuse(const std::string& file, const std::string& what, const std::string& help, Diagnostics& diags) {
  Location where;
  where.file = file;
  diags.error(where, "constants-for", what).help(help);
  return kFailure;
}

constexpr const char* kCompileAgain =
    "give the aotc.json of a directory that 'aotc compile --constants-file NAME' wrote";

Result<Old> read_old(const std::string& path, Diagnostics& diags) {
  Old out;
  auto bytes = read_file(path, diags, 1 << 26);
  if (!bytes) return kFailure;
  (void)parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, out.manifest);
  const auto is = [&](const nlohmann::json& j, const char* key, nlohmann::json::value_t type) {
    return j.is_object() && j.contains(key) && j[key].type() == type;
  };
  using T = nlohmann::json::value_t;
  if (!is(out.manifest, "kind", T::string) || out.manifest["kind"] != "model" ||
      !is(out.manifest, "prefix", T::string) || !is(out.manifest, "compile", T::object) ||
      !is(out.manifest, "summary", T::object))
    return refuse(path, "the file is not the aotc.json of a compiled model", kCompileAgain, diags);
  const nlohmann::json file = out.manifest.value("constants_file", nlohmann::json());
  if (!is(file, "name", T::string) || !is(file, "layout_hash", T::string))
    return refuse(path, "the model was compiled without --constants-file, so its tables are in the code", kCompileAgain,
                  diags);
  if (!is_description(out.manifest["compile"]))
    return refuse(path, "the file is damaged, or another version of aotc wrote it", kCompileAgain, diags);
  out.folder = std::filesystem::path(path).parent_path().string();
  const std::string prefix = out.manifest["prefix"].get<std::string>();
  for (const char* end : {".c", ".h", "_data.c", "_data.h"}) {
    const std::string name = prefix + end;
    auto text = read_file((std::filesystem::path(out.folder) / name).string(), diags);
    if (!text) return kFailure;
    out.files[name].assign(text->begin(), text->end());
  }
  return out;
}

// Are these the files that the hash is of?
bool is_whole(Old& old) {
  uint64_t hash = 0;
  const std::string text = old.manifest["constants_file"]["layout_hash"].get<std::string>();
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  hash = std::stoull(text, nullptr, 16);
  codegen::clear_hash(old.files, hash);
  return codegen::layout_hash(old.files) == hash;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    out.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

// "in kws_conv_2d_0": the nearest function above whose definition begins a line. Empty outside of functions.
std::string place_in(const std::vector<std::string>& lines, size_t at) {
  for (size_t i = std::min(at + 1, lines.size()); i-- > 0;) {
    const std::string& line = lines[i];
    if (line.empty() || line[0] == ' ' || line[0] == '#' || line[0] == '{' || line[0] == '}') continue;
    const size_t bracket = line.find('('), name = line.rfind(' ', bracket);
    if (bracket == std::string::npos || name == std::string::npos || line.back() == ';') return "";
    return ", in " + line.substr(name + 1 + (line[name + 1] == '*' ? 1 : 0), bracket - name - 1);
  }
  return "";
}

std::string shortened(const std::string& line) {
  const size_t from = std::min(line.find_first_not_of(' '), line.size());
  return line.substr(from, 90) + (line.size() - from > 90 ? "..." : "");
}

// The first line of a file that differs.
void note_lines(const std::string& name, const std::string& old, const std::string& now, Diagnostic& d) {
  const auto before = lines_of(codegen::without_comments(old)), after = lines_of(codegen::without_comments(now));
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const std::string was = i < before.size() ? before[i] : "", is = i < after.size() ? after[i] : "";
    if (was == is) continue;
    d.note(fmt::format("{}{}: '{}' was '{}'", name, place_in(after, i), escape_for_display(shortened(is)),
                       escape_for_display(shortened(was))));
    return;
  }
}

// Without what the cost model expects: "pairs: pixels 3; shift 12, about 296 k instructions" to "pairs: pixels 3; shift
// 12".
std::string form_of(const std::string& schedule) { return schedule.substr(0, schedule.find(", about")); }

// Which channel of an operator of the model stands out, where one does: by its scale, by the sum of its weights.
std::string extremes_of(const graph::Graph& graph, const std::string& op_index) {
  for (const graph::Op& op : graph.ops) {
    if (std::to_string(op.location.op_index) != op_index) continue;
    for (graph::TensorId id : op.operands) {
      if (id.value < 0 || !graph[id].constant || graph[id].type.dtype != DType::kI8 ||
          !graph[id].type.quantization.per_channel())
        continue;
      const graph::TensorType& type = graph[id].type;
      const auto axis = static_cast<size_t>(type.quantization.axis);
      if (axis >= type.shape.size()) continue;
      size_t inner = 1;
      for (size_t d = axis + 1; d < type.shape.size(); ++d) inner *= static_cast<size_t>(type.shape[d]);
      const std::vector<float>& scales = type.quantization.scale;
      std::vector<double> sums(scales.size());
      for (size_t i = 0; i < graph[id].constant->bytes.size(); ++i)
        sums[i / inner % sums.size()] += std::abs(static_cast<int>(static_cast<int8_t>(graph[id].constant->bytes[i])));
      auto largest = [](std::vector<double> values, const char* what) {
        const auto at = std::max_element(values.begin(), values.end()) - values.begin();
        const double most = values[static_cast<size_t>(at)];
        std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
        return fmt::format("channel {} has the largest {} ({:.3g} times the median)", at, what,
                           most / std::max(values[values.size() / 2], 1e-30));
      };
      return fmt::format("{}, {}", largest({scales.begin(), scales.end()}, "scale"), largest(sums, "sum of weights"));
    }
  }
  return "";
}

// What was decided of an operator by its weights and scales.
void note_operators(const ordered_json& before, const ordered_json& after, const graph::Graph& model, Diagnostic& d) {
  constexpr int kMost = 8;
  int said = 0;
  for (size_t i = 0; i < after.size() && i < before.size() && said < kMost; ++i) {
    const std::string was = form_of(text_at(before[i], "schedule")), is = form_of(text_at(after[i], "schedule"));
    const bool same_operator = text_at(before[i], "op_type") == text_at(after[i], "op_type");
    if (was == is && same_operator && text_at(before[i], "function") == text_at(after[i], "function")) continue;
    ++said;
    const std::string index =
        after[i].contains("op_index") && after[i]["op_index"].is_number_integer() ? after[i]["op_index"].dump() : "?";
    if (!same_operator)
      d.note(fmt::format("call {}: {} was {}", i, text_at(after[i], "op_type"),
                         escape_for_display(text_at(before[i], "op_type"))));
    else if (was != is) {
      const std::string extremes = extremes_of(model, index);
      d.note(fmt::format("op {} {}: the new weights or scales need schedule '{}' instead of '{}'{}", index,
                         text_at(after[i], "op_type"), is, escape_for_display(was),
                         extremes.empty() ? "" : "; " + extremes));
    } else
      d.note(fmt::format("op {} {}: the function that computes it is {}, was {}", index, text_at(after[i], "op_type"),
                         text_at(after[i], "function"), escape_for_display(text_at(before[i], "function"))));
  }
  if (before.size() != after.size()) d.note(fmt::format("{} operator calls, were {}", after.size(), before.size()));
}

void note_channels(const ordered_json& before, const ordered_json& after, Diagnostic& d) {
  for (const char* kind : {"constant", "unread"}) {
    auto count = [&](const ordered_json& j) {
      return j.contains("channels_removed") && j["channels_removed"].is_object() &&
                     j["channels_removed"].value(kind, ordered_json()).is_number_integer()
                 ? j["channels_removed"][kind].get<int64_t>()
                 : int64_t{0};
    };
    const int64_t was = count(before), is = count(after);
    if (was != is)
      d.note(fmt::format("the new code leaves out {} channels that are {}; the old code leaves out {}", is,
                         std::string_view(kind) == "constant" ? "constant for every input" : "unread", was));
  }
}

// Of the model, by tensor: channels that are constant whatever the input, and those that nobody reads.
ordered_json channels_left_out(const graph::Graph& model) {
  ordered_json out = ordered_json::array();
  const passes::ChannelAnalysis analysis = passes::analyze_channels(model);
  const passes::LiveChannels live = passes::find_live_channels(model, analysis);
  for (size_t t = 0; t < live.size(); ++t) {
    ordered_json constant = ordered_json::array(), unread = ordered_json::array();
    for (size_t c = 0; c < live[t].size(); ++c)
      if (live[t][c] == 0) (analysis.ranges[t][c].constant() ? constant : unread).push_back(c);
    if (!constant.empty() || !unread.empty())
      out.push_back({{"tensor", whole_name(model.tensors[t].name)}, {"constant", constant}, {"unread", unread}});
  }
  return out;
}

// Channels that are left out of one of the two and not of the other, by tensor.
void note_which(const nlohmann::json& before, const ordered_json& after, Diagnostic& d) {
  using Channels = std::map<std::pair<std::string, int64_t>, std::string>;
  auto read = [](const auto& list) {
    Channels out;
    if (!list.is_array()) return out;
    for (const auto& entry : list) {
      if (!entry.is_object() || !entry.contains("tensor") || !entry["tensor"].is_string()) continue;
      for (const char* kind : {"constant", "unread"})
        if (entry.contains(kind) && entry[kind].is_array())
          for (const auto& channel : entry[kind])
            if (channel.is_number_integer())
              out[{entry["tensor"].template get<std::string>(), channel.template get<int64_t>()}] = kind;
    }
    return out;
  };
  constexpr int kMost = 8;
  const Channels was = read(before), is = read(after);
  int left = kMost;
  auto note = [&](const Channels& these, const Channels& others, const char* what) {
    for (const auto& [channel, kind] : these)
      if (!others.contains(channel) && left-- > 0)
        d.note(fmt::format("tensor '{}': channel {} {} {}", escape_for_display(channel.first), channel.second, what,
                           kind == "constant" ? "constant for every input" : "unread"));
  };
  note(was, is, "is used now, but was");
  note(is, was, "is now");
}

void report_difference(const Old& old, const Compiled& now, const std::map<std::string, std::string>& files,
                       Diagnostics& diags) {
  Location where;
  where.file = now.options.model_path;
  auto& d = diags.error(where, "constants-differ",
                        "this model needs code that differs from the code of " +
                            (std::filesystem::path(old.folder) / project::kManifest).string() +
                            ": the old code depends on the old weights");
  const ordered_json before = old.manifest["summary"], after = summary_json(now);
  note_channels(before, after, d);
  note_which(old.manifest["constants_file"].value("channels", nlohmann::json()), constants_file_json(now)["channels"],
             d);
  note_operators(before.value("layers", ordered_json::array()), after["layers"], now.original, d);
  for (const auto& [name, text] : files)
    if (auto at = old.files.find(name); at != old.files.end()) note_lines(name, at->second, text, d);
  d.help("compile the code and tables of the new model, and update both; --constants-open writes code for any weights");
}

}  // namespace

ordered_json constants_file_json(const Compiled& c) {
  return {{"name", c.options.constants_file},
          {"bytes", c.c.image.size()},
          {"layout_hash", text_of(c.c.layout_hash)},
          {"channels", channels_left_out(c.original)}};
}

std::string price_of_open(const Compiled& open) {
  if (!open.options.constants_open) return "";
  CompileOptions closed_options = open.options;
  closed_options.constants_open = false;
  Diagnostics said_already;
  auto closed = compile_model(closed_options, said_already);
  if (!closed) return "";
  const int64_t with = estimated_cycles(open).total, without = estimated_cycles(*closed).total;
  if (with <= 0 || without <= 0) return "";
  return fmt::format(
      "--constants-open: {:.1f} times the cycles of code for these weights ({} estimated, {} without); constants {}, "
      "{} without\n",
      static_cast<double>(with) / static_cast<double>(without), with_commas(with), with_commas(without),
      exact_bytes(figures_of(open).constant_bytes), exact_bytes(figures_of(*closed).constant_bytes));
}

int constants_for_command(const CompileOptions& given, const std::string& manifest, const std::string& out,
                          const CommonOptions& common) {
  Diagnostics diags;
  CompileOptions plain;
  plain.model_path = given.model_path;
  if (describe_compile(given) != describe_compile(plain) || !given.prefix.empty() || !given.board_name.empty()) {
    (void)conflicting(given.model_path,
                      "--constants-for compiles with the options of the old model and accepts no other options",
                      "omit the other options", diags);
    return fail(diags, kExitUsage);
  }
  auto old = read_old(manifest, diags);
  if (!old) return fail(diags);
  if (!is_whole(*old)) {
    (void)refuse(manifest, "the C code beside this file was changed, or belongs to another model",
                 "compile the old model again", diags);
    return fail(diags);
  }
  ProjectDir as_project;
  as_project.path = old->folder;
  as_project.manifest = old->manifest;
  as_project.manifest["board"] = text_at(old->manifest["summary"], "board");
  CompileOptions options = as_project.compile_options();
  options.model_path = given.model_path;
  auto compiled = compile_model(options, diags);
  if (!compiled) return fail(diags);
  const std::string recorded = old->manifest["constants_file"]["layout_hash"].get<std::string>();
  if (text_of(compiled->c.layout_hash) != recorded) {
    std::map<std::string, std::string> files = compiled->c.files;
    codegen::clear_hash(files, compiled->c.layout_hash);
    report_difference(*old, *compiled, files, diags);
    return fail(diags);
  }
  const std::string path = out.empty() ? options.constants_file : out;
  if (!write_file(path, compiled->c.image, diags)) return fail(diags);
  print_diagnostics(diags);
  if (common.json) print_out("{}\n", json_text(constants_file_json(*compiled), 1));
  else
    print_out("wrote {}: {}, for the code of {}\n", path, exact_bytes(static_cast<int64_t>(compiled->c.image.size())),
              manifest);
  return kExitDone;
}

}  // namespace aotc::driver
