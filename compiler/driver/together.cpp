// SPDX-License-Identifier: Apache-2.0
#include "driver/together.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/compile_checks.h"
#include "driver/estimate.h"
#include "driver/fit.h"
#include "driver/graph_model.h"
#include "driver/project_dir.h"
#include "driver/summary.h"
#include "project/generate.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

Failure wrong_names(const std::string& file, const std::string& what, const std::string& help, Diagnostics& diags) {
  Location where;
  where.file = file;
  diags.error(where, "model-names", what).help(help);
  return kFailure;
}

constexpr const char* kGiveNames =
    "give each model a unique name: pass --name NAME once for each model, in the order of the models";

// What an option says of one model, or what models cannot share.
Status check_options_of_all(const CompileOptions& o, Diagnostics& diags) {
  const std::string& file = o.model_path;
  const char* of_one = first_given({{!o.signature.empty(), "--signature"},
                                    {!o.shapes.empty(), "--shape"},
                                    {!o.dimensions.empty(), "--dim"},
                                    {!o.values.empty(), "--value"},
                                    {!o.states.empty(), "--state"},
                                    {!o.schedules_path.empty(), "--schedules"},
                                    {!o.budget.empty(), "--budget"},
                                    {o.given.contains("--objective"), "--objective"},
                                    {!o.params_path.empty(), "--params"},
                                    {!o.operators.empty(), "--operators"}});
  if (of_one != nullptr)
    return conflicting(file, fmt::format("{} applies to one model, but --together has several", of_one),
                       "omit the option, or compile this model alone", diags);
  const char* apart = first_given({{!o.slice.empty(), "--slice"},
                                   {o.stream.mode != plan::Stream::kOff, "--stream"},
                                   {o.feed, "--input rows"},
                                   {o.tvm_interface, "--interface tvm"},
                                   {o.convention != CallingConvention::kPlain, "--calling-convention"},
                                   {o.memory == codegen::MemoryMode::kWorkspace, "--memory workspace"},
                                   {!o.pools.empty(), "--pool"},
                                   {!o.devices_path.empty(), "--devices"},
                                   {!o.constants_section.empty(), "--constants-section"},
                                   {!o.constants_file.empty(), "--constants-file"}});
  if (apart != nullptr)
    return conflicting(file, fmt::format("{} and --together exclude each other", apart),
                       fmt::format("omit {}, or compile each model alone: their C names do not collide, and one arena "
                                   "of the largest size serves all",
                                   apart),
                       diags);
  return success();
}

// Would names of one, such as `kws_input_frame`, be names of the other?
bool may_collide(const std::string& one, const std::string& other) {
  if (!other.starts_with(one + "_")) return false;
  const std::string rest = other.substr(one.size() + 1) + "_";
  for (const char* word :
       {"input_", "inputs_", "output_", "outputs_", "call", "for_each_", "place_of_", "arena_", "state_"})
    if (rest.starts_with(word)) return true;
  return false;
}

Status check_names(const std::vector<std::string>& names, const std::vector<std::string>& files,
                   const std::string& program, Diagnostics& diags) {
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (upper(names[i]) == upper(names[j]))
        return wrong_names(files[i],
                           fmt::format("'{}' has the name '{}', but '{}' has the same name",
                                       escape_for_display(files[i]), names[i], escape_for_display(files[j])),
                           kGiveNames, diags);
  std::vector<std::string> all = names;
  all.push_back(program);
  for (size_t i = 0; i < names.size(); ++i)
    if (upper(names[i]) == upper(program))
      return wrong_names(files[i], fmt::format("the model '{}' and the program have the same name", names[i]),
                         "give the program another name with --prefix, or the model with --name", diags);
  for (const std::string& one : all)
    for (const std::string& other : all)
      if (may_collide(one, other))
        return wrong_names(files[0],
                           fmt::format("C names that begin with '{}' could collide with names of '{}'", other, one),
                           kGiveNames, diags);
  return success();
}

// The prefixes of the models.
Result<std::vector<std::string>> names_of(const ModelsChoice& choice, Diagnostics& diags) {
  std::vector<std::string> out;
  if (!choice.names.empty() && choice.names.size() != choice.paths.size())
    return wrong_names(
        choice.paths[0],
        fmt::format("there are {} models, but {} names in --name", choice.paths.size(), choice.names.size()),
        kGiveNames, diags);
  for (size_t i = 0; i < choice.paths.size(); ++i) {
    if (choice.names.empty()) {
      out.push_back(prefix_of(std::filesystem::path(choice.paths[i]).stem().string()));
    } else if (choice.names[i].empty() || prefix_of(choice.names[i]) != choice.names[i]) {
      return wrong_names(choice.paths[i],
                         fmt::format("'{}' is not a valid C name", escape_for_display(choice.names[i])),
                         "use letters, digits and '_', but no name of the C standard headers", diags);
    } else {
      out.push_back(choice.names[i]);
    }
  }
  return out;
}

int64_t sum_of(const Together& t, int64_t Figures::* figure) {
  int64_t sum = 0;
  for (const Compiled& m : t.models) sum += figures_of(m).*figure;
  return sum;
}

int64_t functions_of_all(const Together& t) {
  int64_t sum = 0;
  for (const Compiled& m : t.models) sum += static_cast<int64_t>(m.program.functions.size());
  return sum;
}

// As firmware on the board, which there is.
Need need_together(const Together& t) {
  const Compiled& first = t.models[0];
  Need need;
  for (const Compiled& m : t.models) {
    const Need one = need_of(m, *m.board);
    const int64_t caller = need.caller + one.caller, harness = std::max(need.harness, one.harness);
    need = one;
    need.caller = caller;
    need.harness = harness;
  }
  need.tensors = need.arena = t.c.arena_bytes;
  need.constants = t.c.constant_bytes;
  need.code = code_of_firmware(t.c.files, *first.board);
  return need;
}

bool check_fit_together(const Together& t, Diagnostics& diags) {
  const Compiled& first = t.models[0];
  if (!first.board) return true;
  const Fit fit = fit_of(need_together(t), *first.board);
  if (fit.both()) return true;
  Location where;
  where.file = t.prefix;
  const project::Memory& memory = fit.ram ? *fit.constants : *fit.arena;
  diags
      .error(
          where, "does-not-fit",
          fmt::format("the models do not fit board {}: its memory {} must hold {}, but has {}", first.board->name,
                      memory.name, exact_bytes(fit.ram ? fit.flash_needed : fit.ram_needed), exact_bytes(memory.size)))
      .help("run 'aotc check MODEL --board ...' for each model: it shows how to make the model smaller");
  return false;
}

// The price of a byte of tables with which the model alone keeps the limit for its tables.
double price_of_tables(const CompileOptions& options) {
  Diagnostics ignored;  // whoever plans the model reports why it is refused
  const auto alone = compile_model(options, ignored);
  return alone ? alone->options.instructions_per_byte : options.instructions_per_byte;
}

}  // namespace

Result<Together> compile_together(const CompileOptions& options, const ModelsChoice& choice, Diagnostics& diags) {
  Together out;
  CompileOptions one = options;
  one.model_path = choice.paths.empty() ? "" : choice.paths[0];
  if (choice.paths.size() < 2)
    return conflicting(one.model_path, "--together needs at least two models", "omit --together, or name another model",
                       diags);
  if (!check_options_of_all(one, diags)) return kFailure;
  auto names = names_of(choice, diags);
  if (!names) return kFailure;
  std::string joined;
  for (const std::string& name : *names) joined += (joined.empty() ? "" : "_") + name;
  out.prefix = prefix_of(options.prefix.empty() ? joined : options.prefix);
  if (!check_names(*names, choice.paths, out.prefix, diags)) return kFailure;
  std::vector<codegen::ModelOfProgram> printed(choice.paths.size());
  codegen::CodegenOptions common;
  for (size_t i = 0; i < choice.paths.size(); ++i) {
    one.model_path = choice.paths[i];
    one.prefix = (*names)[i];
    one.instructions_per_byte = options.instructions_per_byte;
    one.instructions_per_byte = price_of_tables(one);
    auto planned = plan_model(one, printed[i].options, diags);
    if (!planned) return kFailure;
    if (kind_of(one.model_path, planned->model_bytes) != ModelKind::kModel)
      return conflicting(one.model_path, "--together does not support TVM graphs, which have their own functions",
                         "compile the graph alone", diags);
    printed[i].options.program = out.prefix;
    out.models.push_back(std::move(*planned));
  }
  common = printed[0].options;
  common.prefix = out.prefix;
  common.program.clear();
  for (size_t i = 0; i < printed.size(); ++i) printed[i].program = &out.models[i].program;
  out.c = codegen::print_program(printed, common);
  for (size_t i = 0; i < printed.size(); ++i) out.models[i].c = std::move(printed[i].names);
  return out;
}

std::string together_text(const Together& t) {
  std::vector<std::vector<std::string>> rows = {{"", "together", "sum of all"}};
  for (const Compiled& m : t.models) rows[0].push_back(m.prefix);
  auto row = [&](const char* what, int64_t together, int64_t sum, auto of_one) {
    rows.push_back({what, with_commas(together), with_commas(sum)});
    for (const Compiled& m : t.models) rows.back().push_back(with_commas(of_one(m)));
  };
  row("RAM: arena", t.c.arena_bytes, sum_of(t, &Figures::arena_bytes),
      [](const Compiled& m) { return figures_of(m).arena_bytes; });
  if (const int64_t state = sum_of(t, &Figures::state_bytes); state > 0)
    row("RAM: state", state, state, [](const Compiled& m) { return figures_of(m).state_bytes; });
  const int64_t caller = sum_of(t, &Figures::caller_bytes);
  row("RAM: caller's tensors", caller, caller, [](const Compiled& m) { return figures_of(m).caller_bytes; });
  row("flash: constants", t.c.constant_bytes, sum_of(t, &Figures::constant_bytes),
      [](const Compiled& m) { return figures_of(m).constant_bytes; });
  row("functions", t.c.functions, functions_of_all(t),
      [](const Compiled& m) { return static_cast<int64_t>(m.program.functions.size()); });
  return format_table(rows);
}

nlohmann::ordered_json together_json(const Together& t) {
  nlohmann::ordered_json j;
  j["format_version"] = project::kFormatVersion;
  j["prefix"] = t.prefix;
  auto add = [&](const char* name, int64_t together, int64_t sum) { j[name] = {{"together", together}, {"sum", sum}}; };
  add("arena_bytes", t.c.arena_bytes, sum_of(t, &Figures::arena_bytes));
  add("constants_bytes", t.c.constant_bytes, sum_of(t, &Figures::constant_bytes));
  add("functions", t.c.functions, functions_of_all(t));
  j["models"] = nlohmann::ordered_json::array();
  for (const Compiled& m : t.models) j["models"].push_back(summary_json(m));
  return j;
}

int check_together_command(const CompileOptions& options, const ModelsChoice& choice, const CommonOptions& common) {
  Diagnostics diags;
  auto compiled = compile_together(options, choice, diags);
  if (!compiled) return fail(diags);
  const bool fits = check_fit_together(*compiled, diags);
  if (common.json) print_out("{}\n", json_text(together_json(*compiled), 1));
  else print_out("{}", together_text(*compiled));
  if (!fits) return fail(diags);
  print_diagnostics(diags);
  return kExitDone;
}

int compile_together_command(const CompileOptions& options, const ModelsChoice& choice, const std::string& out,
                             bool force, const CommonOptions& common) {
  Diagnostics diags;
  auto compiled = compile_together(options, choice, diags);
  if (!compiled) return fail(diags);
  if (const auto& board = compiled->models[0].board; board)
    warn_of_fit(need_together(*compiled), *board, choice.paths[0], diags);
  OutputDirectory directory(out.empty() ? compiled->prefix : out, project::kManifest, force);
  for (auto& [name, text] : compiled->c.files) directory.add(name, std::move(text));
  nlohmann::ordered_json manifest = begin_manifest("models", compiled->prefix, compiled->models[0].options);
  manifest["together"] = together_json(*compiled);
  directory.add(project::kManifest, json_text(manifest, 1) + "\n");
  if (!directory.commit(diags)) return fail(diags);
  print_diagnostics(diags);
  if (common.json) {
    print_out("{}\n", json_text(together_json(*compiled), 1));
    return kExitDone;
  }
  print_out("{}wrote {}/:", together_text(*compiled), directory.path());
  for (const std::string& name : directory.names()) print_out(" {}", name);
  print_out("\nnext: add {0}.c and {0}_data.c to your firmware, and call", compiled->prefix);
  for (const Compiled& m : compiled->models) print_out("{} {}_run", &m == compiled->models.data() ? "" : ",", m.prefix);
  print_out(" from {}.h\n", compiled->prefix);
  return kExitDone;
}

}  // namespace aotc::driver
