// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_model.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codegen/c_comments.h"
#include "codegen/c_constants.h"
#include "codegen/c_data.h"
#include "codegen/c_feed.h"
#include "codegen/c_function.h"
#include "codegen/c_header.h"
#include "codegen/c_helpers.h"
#include "codegen/c_layout.h"
#include "codegen/c_names.h"
#include "codegen/c_places.h"
#include "codegen/c_run.h"
#include "codegen/c_slices.h"
#include "codegen/c_state.h"
#include "codegen/c_support.h"
#include "codegen/c_tvm.h"
#include "support/json.h"
#include "support/text.h"
#include "support/tvm_params.h"

namespace aotc::codegen {

namespace {

using plan::Program;
using plan::ProgramCall;

// Lines of a text that only grows: what was added since the last time is counted.
class LineCount {
 public:
  int of(const std::string& text) {
    for (; counted_ < text.size(); ++counted_) lines_ += text[counted_] == '\n';
    return lines_;
  }

 private:
  size_t counted_ = 0;
  int lines_ = 0;
};

// Is a table the condition of a branch or loop?
bool tests_table(const std::vector<plan::ProgramStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const plan::ProgramStep& step) {
    return (step.kind != plan::ProgramStep::Kind::kCall && step.condition.kind == plan::StorageKind::kConstant) ||
           std::any_of(step.blocks.begin(), step.blocks.end(), tests_table);
  });
}

// Does the run function itself read program memory?
bool reads_program(const Program& program, const CodegenOptions& options) {
  return program.program_tables && (tests_table(program.body) || reads_lists(program, options));
}

// A model of a source: its names, its functions as text, its part of the map of the source.
struct Part {
  Part(const Program& p, const CodegenOptions& o, ModelFiles& names) : program(p), options(o), out(names) {}
  const Program& program;
  const CodegenOptions& options;
  ModelFiles& out;
  std::vector<PrintedFunction> printed;
  std::vector<bool> shared;                   // by function: it is one of an earlier model
  std::map<std::string, size_t> function_of;  // by C name
  nlohmann::ordered_json calls = nlohmann::ordered_json::array();
};

// NAME.c of one model, or of several that share what is the same. Helpers, kernels and macros begin with the prefix
// of `common`, everything else with that of its model.
class SourcePrinter {
 public:
  SourcePrinter(std::vector<Part>& parts, const CodegenOptions& common) : parts_(parts), common_(common) {}

  std::string source(const std::string& first_comment) {
    SupportUse use;
    for (Part& part : parts_) print_functions(part, use);
    // Of several models: they are called plainly.
    TensorTable tensors(parts_[0].program, parts_[0].options, parts_[0].out);
    std::string kernels = kernel_definitions(use, common_, &kernels_);
    std::string s = first_comment + includes(use, tensors) + "\n";
    s += support_functions(use, common_);
    s += operator_macro();
    for (const Part& part : parts_) s += alignment_definitions(part.program, part.options.prefix);
    s += external_declarations(parts_[0].program);
    s += hook_declarations(parts_[0].program);
    if (!tensors.empty())
      s += fold_lines(tensors.definition() + type_codes_definition(common_.prefix, tensors.most_arguments()));
    s += kernel_message(kernels_, common_.prefix) + kernels;
    for (const Part& part : parts_) define_functions(s, part);
    if (common_.convention == CallingConvention::kRegistry) s += registry(parts_[0]);
    for (Part& part : parts_) {
      if (&part != parts_.data()) s += "\n";
      run_functions(s, part, tensors);
    }
    return s;
  }

  bool floating() const { return floating_; }
  const KernelConditions& kernels() const { return kernels_; }
  size_t defined() const { return order_.size(); }

  nlohmann::ordered_json map() const {
    nlohmann::ordered_json out;
    out["file"] = common_.prefix + ".c";
    if (parts_.size() == 1) {
      out["arrangement"] = to_json(parts_[0].program.schedule.arrangement);
      out["functions"] = functions_of(parts_[0]);
      out["calls"] = parts_[0].calls;
      return out;
    }
    out["models"] = nlohmann::ordered_json::array();
    for (const Part& part : parts_)
      out["models"].push_back(
          {{"name", part.options.prefix}, {"functions", functions_of(part)}, {"calls", part.calls}});
    return out;
  }

 private:
  PrintedFunction printed(const Part& part, size_t i, const std::string& name) const {
    const Program& program = part.program;
    const plan::ProgramFunction& f = program.functions[i];
    if (f.external) return {};
    std::vector<std::string> bound;
    for (int table : bound_tables(program, f))
      bound.push_back(table < 0 ? "" : part.out.constant_names[static_cast<size_t>(table)]);
    const plan::Bands& bands = part.options.bands;
    const tir::Function* body =
        bands.functions.empty() || !bands.functions[i] ? f.body.get() : bands.functions[i].get();
    if (program.feeding && program.calls[static_cast<size_t>(program.feeding->call)].function == static_cast<int>(i)) {
      body = program.feeding->part.get();
      bound.erase(bound.begin());
    }
    return print_c(*body, name, common_.prefix, form_of(program, part.options, f), bound, part.options.narrow_int,
                   f.calls.empty() ? -1 : f.calls[0]);
  }

  // A function that an earlier model has, too, is called as it is there.
  void print_functions(Part& part, SupportUse& use) {
    for (size_t i = 0; i < part.program.functions.size(); ++i) {
      std::string& name = part.out.function_names[i];
      bool shared = false;
      if (parts_.size() > 1) {
        // Texts are compared under one name, which is as long for all.
        auto [first, fresh] = name_of_text_.emplace(printed(part, i, common_.prefix + "_operator").text, name);
        shared = !fresh && first->second != name;
        if (shared) name = first->second;
      }
      part.shared.push_back(shared);
      part.function_of.emplace(name, i);
      part.printed.push_back(shared ? PrintedFunction() : printed(part, i, name));
      if (is_called(part.program, part.program.functions[i])) use.merge(part.printed.back().use);
    }
  }

  std::string includes(SupportUse& use, const TensorTable& tensors) {
    const CodegenOptions& o = common_;
    std::string s = fmt::format("#include \"{0}.h\"\n#include \"{0}_data.h\"\n\n#include <stddef.h>\n", o.prefix);
    floating_ = use.floating;
    for (const Part& part : parts_) use.program = use.program || reads_program(part.program, part.options);
    if (use.math) s += "#include <math.h>\n";
    if (use.string || parts_[0].program.feeding) s += "#include <string.h>\n";
    if (use.program) s += "\n#include <avr/pgmspace.h>\n";
    s += intrinsic_includes(helper_form(use.functions, o.kernels), o.prefix) + kernels_.includes();
    if (o.memory == MemoryMode::kWorkspace) s += "\n#include <tvm/runtime/c_backend_api.h>\n";
    if (!tensors.empty()) s += "\n" + packed_includes();
    if (o.convention == CallingConvention::kRegistry) s += "#include <tvm/runtime/crt/module.h>\n";
    if (tensors.empty() && !context_devices(parts_[0].program).empty())
      s += "\n#include <tvm/runtime/c_backend_api.h>\n";
    return s;
  }

  // The host's functions come first.
  void define_functions(std::string& s, const Part& part) {
    for (size_t d = 0; d < part.program.devices.size(); ++d)
      for (size_t i = 0; i < part.printed.size(); ++i)
        if (part.program.functions[i].device == static_cast<int>(d) && !part.program.functions[i].external &&
            !part.shared[i] && is_called(part.program, part.program.functions[i]))
          define_function(s, part, i);
  }

  // Places and the run function, with those that do a run in parts.
  void run_functions(std::string& s, Part& part, const TensorTable& tensors) {
    const Program& program = part.program;
    const PlaceNames places(program, part.options, part.out);
    s += places.definition();
    auto printer = [&] { return RunPrinter(program, part.options, part.out, tensors, places); };
    s += row_helpers(program, part.options);
    if (part.options.slices) s += printer().print_lists();
    if (program.feeding) {  // the calls stand in NAME_feed, or in NAME_step
      s += feed_tables(program, part.options) + printer().print_begin() + "\n" + printer().print_row() + "\n";
      s += printer().print_feed(lines_.of(s), part.calls) + "\n";
      if (part.options.slices) s += printer().print_step(lines_.of(s), part.calls) + "\n";
      s += printer().print(lines_.of(s), part.calls);
      return;
    }
    s += printer().print(lines_.of(s), part.calls);
    if (!part.options.slices) return;
    nlohmann::ordered_json unused = nlohmann::ordered_json::array();
    s += "\n" + printer().print_begin();
    s += "\n" + printer().print_step(0, unused);
  }

  // Operators of sources that aotc has not seen bring a system library of their own, unless they
  // are mixed with operators that are emitted here.
  std::string registry(const Part& part) const {
    std::vector<std::string> names;
    std::set<std::string> external;
    bool own = part.options.register_externals;
    for (size_t i = 0; i < part.program.functions.size(); ++i) {
      const plan::ProgramFunction& f = part.program.functions[i];
      if (!f.external) {
        if (!is_called(part.program, f)) continue;
        names.push_back(part.out.function_names[i]);
        own = true;
      } else if (f.external->convention == CallingConvention::kPacked && external.insert(f.external->symbol).second) {
        names.push_back(f.external->symbol);
      }
    }
    return own && !names.empty() ? registry_definition(names, part.options.prefix, external) + "\n" : "";
  }

  std::string operator_macro() const {
    return fmt::format(
        "/* Linkage of the operators. Define it as empty for external linkage. */\n"
        "#ifndef {0}_OPERATOR\n#if defined(__GNUC__)\n"
        "#define {0}_OPERATOR static __attribute__((noinline))\n#else\n"
        "#define {0}_OPERATOR static\n#endif\n#endif\n\n",
        upper(common_.prefix));
  }

  // What calls a function, of every model that has it.
  std::string comment_of(const std::string& name) const {
    std::string s;
    for (const Part& part : parts_) {
      const auto at = part.function_of.find(name);
      if (at == part.function_of.end()) continue;
      if (parts_.size() > 1) s += fmt::format(" * model {}:\n", part.options.prefix);
      s += FunctionComments(part.program, part.options, part.out).of(part.program.functions[at->second]);
    }
    return s;
  }

  void define_function(std::string& s, const Part& part, size_t index) {
    const std::string& name = part.out.function_names[index];
    s += fold_lines("/*\n" + comment_of(name) + " */\n");
    const int begin = lines_.of(s) + 1;
    s += fmt::format("{}_OPERATOR\n{}\n", upper(common_.prefix), part.printed[index].text);
    order_.emplace_back(name, std::pair(begin, lines_.of(s) - 1));
  }

  nlohmann::ordered_json functions_of(const Part& part) const {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const auto& [name, lines] : order_) {
      const auto at = part.function_of.find(name);
      if (at == part.function_of.end()) continue;
      nlohmann::ordered_json entry;
      entry["name"] = name;
      entry["line_begin"] = lines.first;
      entry["line_end"] = lines.second;
      entry["calls"] = part.program.functions[at->second].calls;
      out.push_back(entry);
    }
    return out;
  }

  std::vector<Part>& parts_;
  const CodegenOptions& common_;
  std::map<std::string, std::string> name_of_text_;
  std::vector<std::pair<std::string, std::pair<int, int>>> order_;  // of functions, with their lines
  bool floating_ = false;                                           // the source computes with floats
  KernelConditions kernels_;
  LineCount lines_;  // of the source
};

}  // namespace

ModelFiles print_model(const Program& program, const CodegenOptions& options) {
  UniqueNames functions;
  ModelFiles out = name_model(program, options, functions);
  const std::string& p = options.prefix;
  auto begin = [&](const char* what) { return banner(what, program.graph.name, options); };
  std::vector<Part> parts;
  parts.emplace_back(program, options, out);
  SourcePrinter printer(parts, options);
  out.files[p + ".c"] = printer.source(begin("Operators and run function of a neural network."));
  out.files[p + ".h"] = model_header(program, options, out, kernel_macros(printer.kernels(), p));
  out.files[p + "_data.h"] = begin("Private header of a neural network: its tables.") +
                             fold_lines(data_header(program, options, out, printer.floating()));
  std::string& data = out.files[p + "_data.c"];
  data = begin("Constant tables of a neural network.");
  append_data_source(data, program, options, out);
  data += state_definitions(program, options, out);
  out.files[p + ".map.json"] = json_text(printer.map(), 1) + "\n";
  if (program.constant_pool >= 0 && !has_image(options))
    out.files[p + "_constants.h"] =
        begin("The constants of a neural network.") + constant_pool_header(program, options);
  if (options.tvm_interface) print_tvm_interface(program, options, out);
  if (!has_image(options)) return out;
  out.layout_hash = layout_hash(out.files);
  out.image = image_of(program, out.layout_hash);
  set_hash(out.files, out.layout_hash);
  return out;
}

namespace {

// The header of what models have in common.
std::string program_header(const std::vector<ModelOfProgram>& models, const CodegenOptions& common, int64_t arena,
                           const std::string& kernels) {
  const std::string up = upper(common.prefix);
  std::string s = fmt::format(
      "#ifndef {0}_H\n#define {0}_H\n\n#include <stdint.h>\n\n"
      "/* Bytes and alignment of an arena that all models share; the largest model needs this size. Only one run may\n"
      " * be active at a time, and every run overwrites what the others left in the arena. Fill inputs in the arena\n"
      " * right before the run of their model, and read outputs in the arena before any other run. The states of\n"
      " * the models are not in the arena: you keep one for each model. */\n"
      "#define {0}_ARENA_SIZE {1}u\n#define {0}_ARENA_ALIGN {2}u\n",
      up, arena, Program::kArenaAlignment);
  s += kernels;
  for (const ModelOfProgram& m : models) s += fmt::format("\n#include \"{}.h\"", m.options.prefix);
  s += fmt::format(
      "\n\n/* X(name, NAME) for every model, for name_run and NAME_ARENA_SIZE. */\n#define {}_FOR_EACH_MODEL(X)", up);
  for (const ModelOfProgram& m : models)
    s += fmt::format(" \\\n    X({}, {})", m.options.prefix, upper(m.options.prefix));
  return fold_lines(s + "\n\n#endif\n");
}

// The tables of all models as those of one program, each once; the models' names become those that are there.
Program tables_of(std::vector<ModelOfProgram>& models, ModelFiles& names) {
  Program all;
  all.pools = {plan::Pool{"arena"}};
  all.program_tables = models[0].program->program_tables;
  std::map<std::pair<DType, std::vector<uint8_t>>, size_t> known;
  for (ModelOfProgram& m : models)
    for (size_t i = 0; i < m.program->constants.size(); ++i) {
      if (m.names.is_row[i]) continue;
      const plan::ProgramConstant& c = m.program->constants[i];
      auto [at, fresh] = known.emplace(std::pair(c.data.dtype, c.data.bytes), all.constants.size());
      if (fresh) {
        all.constants.push_back(c);
        names.constant_names.push_back(m.names.constant_names[i]);
        names.is_row.push_back(false);
      } else {
        auto& alignment = all.constants[at->second].data.alignment;
        alignment = std::max(alignment, c.data.alignment);
        m.names.constant_names[i] = names.constant_names[at->second];
      }
    }
  for (const ModelOfProgram& m : models) all.arena_bytes = std::max(all.arena_bytes, m.program->arena_bytes);
  return all;
}

}  // namespace

ProgramFiles print_program(std::vector<ModelOfProgram>& models, const CodegenOptions& common) {
  ProgramFiles out;
  const std::string& p = common.prefix;
  UniqueNames functions;
  std::vector<Part> parts;
  std::string titles;
  for (ModelOfProgram& m : models) {
    m.names = name_model(*m.program, m.options, functions);
    out.files[m.options.prefix + ".h"] = model_header(*m.program, m.options, m.names);
    titles += (titles.empty() ? "" : ", ") + m.program->graph.name;
  }
  auto begin = [&](const char* what) { return banner(what, titles, common); };
  ModelFiles tables;
  const Program all = tables_of(models, tables);
  for (ModelOfProgram& m : models) parts.emplace_back(*m.program, m.options, m.names);
  SourcePrinter printer(parts, common);
  out.files[p + ".c"] = printer.source(begin("Operators and run functions of neural networks."));
  out.files[p + ".h"] = begin("Interface of neural networks that share code, tables and an arena.") +
                        program_header(models, common, all.arena_bytes, kernel_macros(printer.kernels(), p));
  out.files[p + "_data.h"] = begin("Private header of neural networks: their tables.") +
                             fold_lines(data_header(all, common, tables, printer.floating()));
  std::string& data = out.files[p + "_data.c"];
  data = begin("Constant tables of neural networks.");
  append_data_source(data, all, common, tables);
  for (const ModelOfProgram& m : models) data += state_definitions(*m.program, m.options, m.names);
  out.files[p + ".map.json"] = json_text(printer.map(), 1) + "\n";
  out.arena_bytes = all.arena_bytes;
  for (const plan::ProgramConstant& c : all.constants) out.constant_bytes += static_cast<int64_t>(c.data.bytes.size());
  for (const ModelOfProgram& m : models) out.constant_bytes += m.names.loop_table_bytes;
  out.functions = static_cast<int64_t>(printer.defined());
  return out;
}

}  // namespace aotc::codegen
