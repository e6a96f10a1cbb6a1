// SPDX-License-Identifier: Apache-2.0
#include "batches.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "codegen/c_model.h"
#include "plan/bands.h"
#include "support/process.h"
#include "support/text.h"

namespace aotc::tests {

namespace fs = std::filesystem;

namespace {

std::string table(const std::string& name, const std::vector<uint8_t>& bytes) {
  std::string out = fmt::format("static const TABLE({}, {}) = {{{{", name, std::max<size_t>(bytes.size(), 1));
  for (uint8_t b : bytes) out += fmt::format("{},", b);
  return out + "}};\n";
}

// A function that runs sample `s` of model `p` and compares.
std::string sample_function(const std::string& p, size_t s, const plan::Program& program,
                            const codegen::ModelFiles& names, const Batches::Values& in, const Batches::Values& want,
                            bool caller_arena, bool slices) {
  std::string tables, set_in, set_out, guards, fills, checks;
  std::string arena = caller_arena ? fmt::format("{}_arena_bytes.bytes + GUARD", p) : "NULL";
  for (size_t i = 0; i < in.size(); ++i) {
    std::string name = fmt::format("{}_s{}_in{}", p, s, i);
    tables += table(name, in[i]);
    if (program.inputs[i].kind == plan::StorageKind::kArena)
      fills += fmt::format("    memcpy({}_input_{}({}), {}.bytes, {});\n", p, names.input_fields[i], arena, name,
                           in[i].size());
    else set_in += fmt::format("(const void *){}.bytes, ", name);
  }
  for (size_t o = 0; o < want.size(); ++o) {
    std::string name = fmt::format("{}_s{}_want{}", p, s, o), have = fmt::format("{}_s{}_have{}", p, s, o);
    size_t n = want[o].size();
    bool is_float = program.graph[program.graph.outputs[o].tensor].type.dtype == DType::kF32;
    tables += table(name, want[o]);
    if (program.outputs[o].kind == plan::StorageKind::kArena) {
      checks += fmt::format("    if (differs((const uint8_t *){}_output_{}({}), {}.bytes, {}, {})) return 2000 + {};\n",
                            p, names.output_fields[o], arena, name, n, is_float ? 1 : 0, o);
      continue;
    }
    tables += fmt::format("static TABLE({}, {} + 2 * GUARD);\n", have, n);
    set_out += fmt::format("(void *)({}.bytes + GUARD), ", have);
    guards += fmt::format("    guard({}.bytes, {}, 0x3C);\n", have, n);
    checks += fmt::format(
        "    if (guard_broken({0}.bytes, {1}, 0x3C)) return 1000 + {3};\n"
        "    if (differs({0}.bytes + GUARD, {2}.bytes, {1}, {4})) return 2000 + {3};\n",
        have, n, name, o, is_float ? 1 : 0);
  }
  std::string up = upper(p), state;
  if (program.state_bytes > 0) {
    state = fmt::format(", {}_state_bytes.bytes + GUARD", p);
    checks += fmt::format("    if (guard_broken({0}_state_bytes.bytes, {1}_STATE_SIZE, 0x69)) return 4000;\n", p, up);
  }
  if (caller_arena) {
    guards += fmt::format("    guard({0}_arena_bytes.bytes, {1}_ARENA_SIZE, 0xC3);\n", p, up);
    checks += fmt::format("    if (guard_broken({0}_arena_bytes.bytes, {1}_ARENA_SIZE, 0xC3)) return 3000;\n", p, up);
  }
  const std::string run = slices && !program.feeding
                              ? fmt::format(
                                    "    status = {0}_begin(&{0}_context, &in, &out, {1}{2});\n"
                                    "    if (status == 0) {{\n"
                                    "        do {{ status = {0}_step(&{0}_context); }} while (status == {3}_MORE);\n"
                                    "        status = status == {3}_DONE ? 0 : status;\n    }}\n",
                                    p, arena, state, up)
                              : fmt::format("    status = {0}_run(&in, &out, {1}{2});\n", p, arena, state);
  return tables + fmt::format(
                      "static int32_t {0}_sample{1}(void)\n{{\n    const struct {0}_inputs in = {{ {2} }};\n"
                      "    const struct {0}_outputs out = {{ {3} }};\n    int32_t status;\n{4}{6}{7}"
                      "    if (status != 0) return status;\n{5}"
                      "    return 0;\n}}\n",
                      p, s, set_in.empty() ? "0" : set_in, set_out.empty() ? "0" : set_out, guards, checks, fills, run);
}

// Memory of the state, and a function that makes the next run a first run.
std::string state_memory(const std::string& p) {
  return fmt::format(
      "static union {{ uint8_t bytes[{1}_STATE_SIZE + 2 * GUARD]; uint64_t a; }} {0}_state_bytes "
      "__attribute__((aligned(16)));\n"
      "static int32_t {0}_forget(void)\n{{\n    guard({0}_state_bytes.bytes, {1}_STATE_SIZE, 0x69);\n"
      "    return {0}_init({0}_state_bytes.bytes + GUARD);\n}}\n"
      "static int32_t {0}_first(void)\n{{\n    int32_t status = {0}_forget();\n"
      "    return status != 0 ? status : {0}_sample0();\n}}\n",
      p, upper(p));
}

}  // namespace

Batches::Batches(std::string folder, std::vector<std::string> compiler, size_t batch_size)
    : folder_(std::move(folder)), compiler_(std::move(compiler)), batch_size_(batch_size) {
  fs::create_directories(folder_);
}

void Batches::add(const std::string& name, const plan::Program& program, const Runs& runs,
                  const std::optional<Slices>& slices) {
  std::string p = fmt::format("m{}", models_);
  codegen::CodegenOptions options;
  options.prefix = p;
  options.version = "test";
  bool preserve =
      program.input_contract == plan::Contract::kPreserve && program.output_contract == plan::Contract::kPreserve;
  if (models_ % 3 == 1) options.arena = codegen::ArenaOwner::kModel;
  // Workspace is for models without branches and loops.
  if (slices) {
    Diagnostics diags;
    options.slices = true;
    if (slices->limit > 0) options.bands = *plan::plan_bands(program, slices->target, slices->limit, diags);
  } else if (preserve && models_ % 3 != 1 && program.source == nullptr && !program.feeding) {
    options.memory = codegen::MemoryMode::kWorkspace;
  }
  ++models_;
  bool workspace = options.memory == codegen::MemoryMode::kWorkspace;
  bool caller = !workspace && options.arena == codegen::ArenaOwner::kCaller;
  codegen::ModelFiles printed = codegen::print_model(program, options);
  for (const auto& [file, text] : printed.files)
    if (!file.ends_with(".json")) std::ofstream(fs::path(folder_) / file, std::ios::binary) << text;
  source_ += fmt::format("#include \"{0}.c\"\n#include \"{0}_data.c\"\n", p);
  if (caller)
    source_ += fmt::format(
        "static union {{ uint8_t bytes[{0}_ARENA_SIZE + 2 * GUARD]; uint64_t a; }} "
        "{1}_arena_bytes __attribute__((aligned(16)));\n",
        upper(p), p);
  if (slices && !program.feeding) source_ += fmt::format("static struct {0}_context {0}_context;\n", p);
  const bool state = program.state_bytes > 0;
  if (state) source_ += fmt::format("static int32_t {}_sample0(void);\n", p) + state_memory(p);
  std::string body;
  for (size_t s = 0; s < runs.inputs.size(); ++s) {
    source_ += sample_function(p, s, program, printed, runs.inputs[s], runs.expected[s], caller, slices && s % 2 == 0);
    if (state && (s == 0 || s == runs.reset))
      body += fmt::format("    status = {0}_{1};\n    if (status != 0) return report(\"{2}\", \"reset\", status);\n", p,
                          s == 0 ? "forget()" : fmt::format("reset({}_state_bytes.bytes + GUARD)", p), name);
    body += fmt::format(
        "    status = {0}_sample{1}();\n    if (status != 0) return report(\"{2}\", \"sample "
        "{1}\", status);\n",
        p, s, name);
  }
  if (workspace)
    body += fmt::format(
        "    if (inject(\"{1}\", {0}_{3}, {2}_ERROR_WORKSPACE, {2}_WORKSPACE_SIZE)) return "
        "1;\n",
        p, name, upper(p), state ? "first" : "sample0");
  else if (state) body += fmt::format("    (void){}_first;\n", p);
  source_ += fmt::format("static int {0}_all(void)\n{{\n    int32_t status;\n{1}    return 0;\n}}\n", p, body);
  calls_ += fmt::format("    passed += {}_all() == 0;\n", p);
  if (++in_batch_ == batch_size_) flush();
}

void Batches::flush() {
  if (in_batch_ == 0) return;
  std::string name = fmt::format("batch{}", programs_.size());
  std::ofstream(fs::path(folder_) / (name + ".c"), std::ios::binary)
      << "#define _POSIX_C_SOURCE 200809L\n#include \"batch_main.h\"\n"
      << source_ << "int main(void)\n{\n    int passed = 0;\n    (void)inject;\n"
      << calls_ << "    printf(\"passed %d\\n\", passed);\n    return 0;\n}\n";
  programs_.push_back(name);
  source_.clear();
  calls_.clear();
  in_batch_ = 0;
}

std::vector<std::string> Batches::run(int* ran) {
  flush();
  std::vector<std::vector<std::string>> failures(programs_.size());
  std::vector<int> passed(programs_.size());
  auto one = [&](size_t i) {
    std::vector<std::string> command = compiler_;
    std::string image = (fs::path(folder_) / programs_[i]).string();
    for (const std::string& arg : {image + ".c", std::string("-lm"), std::string("-o"), image}) command.push_back(arg);
    ProcessResult built = run_process(command, "", 300);
    if (!built.started || built.exit_code != 0) {
      failures[i].push_back(fmt::format("FAILED {}: does not compile\n{}", programs_[i], built.output.substr(0, 2000)));
      return;
    }
    ProcessResult done = run_process({image}, "", 60);
    size_t begin = 0;
    for (size_t end; (end = done.output.find('\n', begin)) != std::string::npos; begin = end + 1) {
      std::string line = done.output.substr(begin, end - begin);
      if (line.starts_with("passed ")) passed[i] = std::stoi(line.substr(7));
      else failures[i].push_back(line);
    }
    if (done.exit_code != 0)
      failures[i].push_back(fmt::format("FAILED {}: exit code {}", programs_[i], done.exit_code));
  };
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = t; i < programs_.size(); i += 2) one(i);
    });
  for (std::thread& t : threads) t.join();
  std::vector<std::string> out;
  for (auto& list : failures) out.insert(out.end(), list.begin(), list.end());
  for (int n : passed) *ran += n;
  return out;
}

}  // namespace aotc::tests
