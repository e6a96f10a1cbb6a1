// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_packed.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/c_function.h"
#include "codegen/c_run.h"
#include "support/text.h"
#include "support/tvm_params.h"

namespace aotc::codegen {

namespace {

using plan::Program;
using plan::ProgramCall;
using plan::ProgramFunction;

std::string dl_type(DType type) {
  static constexpr const char* kCodes[] = {"kDLInt", "kDLUInt", "kDLFloat"};
  auto t = tvm::DataType::of(type);
  return fmt::format("{{{}, {}, {}}}", kCodes[t.code], t.bits, t.lanes);
}

}  // namespace

CallingConvention form_of(const Program& program, const CodegenOptions& options, const ProgramFunction& function) {
  bool packed = options.convention != CallingConvention::kPlain ||
                program.device_of(function.device).launch != passes::Launch::kNone;
  return packed ? CallingConvention::kPacked : CallingConvention::kPlain;
}

bool is_packed(const Program& program, const CodegenOptions& options, const ProgramCall& call) {
  if (copying_device(program, call) >= 0) return false;  // a hook does it
  const ProgramFunction& f = program.functions[static_cast<size_t>(call.function)];
  if (f.external) return f.external->convention == CallingConvention::kPacked;
  return form_of(program, options, f) == CallingConvention::kPacked;
}

bool is_table(const plan::Storage& storage) { return storage.kind == plan::StorageKind::kConstant && storage.pool < 0; }

bool is_looked_up(const Program& program, const CodegenOptions& options, const ProgramCall& call) {
  return options.convention == CallingConvention::kRegistry && is_packed(program, options, call) &&
         program.device_of(call.device).launch == passes::Launch::kNone;
}

std::vector<int> bound_tables(const Program& program, const ProgramFunction& function) {
  std::vector<int> bound(function.body->params.size(), -1);
  if (function.external) return bound;
  for (size_t i = 0; i < bound.size(); ++i) {
    auto storage = [&](int call) -> const plan::Storage& {
      return program.calls[static_cast<size_t>(call)].arguments[i].storage;
    };
    const plan::Storage& first = storage(function.calls[0]);
    bool same = is_table(first) &&
                std::all_of(function.calls.begin(), function.calls.end(), [&](int c) { return storage(c) == first; });
    if (same) bound[i] = first.index;
  }
  return bound;
}

TensorTable::TensorTable(const Program& program, const CodegenOptions& options, const ModelFiles& names)
    : program_(program), options_(options), names_(names) {
  std::vector<std::vector<int>> bound;
  for (const ProgramFunction& f : program.functions) bound.push_back(bound_tables(program, f));
  std::map<std::string, int> known;
  for (const ProgramCall& call : program.calls) {
    packed_.push_back(is_packed(program, options, call));
    std::vector<int>& indices = of_call_.emplace_back();
    for (size_t i = 0; packed_.back() && i < call.arguments.size(); ++i) {
      indices.push_back(-1);
      if (bound[static_cast<size_t>(call.function)][i] >= 0) continue;
      std::string text = entry(call, call.arguments[i]);
      auto [place, is_new] = known.try_emplace(text, static_cast<int>(entries_.size()));
      if (is_new) entries_.push_back(text);
      indices.back() = place->second;
    }
  }
}

// The initialiser of an argument's DLTensor.
std::string TensorTable::entry(const ProgramCall& call, const plan::CallArgument& a) {
  const auto& external = program_.functions[static_cast<size_t>(call.function)].external;
  graph::Shape shape = external && external->flatten ? graph::Shape{a.elements} : a.shape;
  auto found = std::search(shapes_.begin(), shapes_.end(), shape.begin(), shape.end());
  auto at = found - shapes_.begin();
  if (found == shapes_.end()) shapes_.insert(shapes_.end(), shape.begin(), shape.end());
  std::string data = "NULL", dims = "NULL";
  if (is_table(a.storage)) data = "(void *)" + names_.constant_names[static_cast<size_t>(a.storage.index)];
  if (!shape.empty()) dims = fmt::format("(int64_t *)&{}_shapes[{}]", options_.prefix, at);
  return fmt::format("{{{}, {{{}, 0}}, {}, {}, {}, NULL, 0}}", data, program_.device_of(call.device).type, shape.size(),
                     dl_type(a.dtype), dims);
}

int TensorTable::arguments_of(size_t call) const {
  const std::vector<int>& indices = of_call_[call];
  return static_cast<int>(std::count_if(indices.begin(), indices.end(), [](int i) { return i >= 0; }));
}

int TensorTable::most_arguments(int device) const {
  int most = 0;
  for (size_t c = 0; c < program_.calls.size(); ++c)
    if (packed_[c] && (device < 0 || program_.calls[c].device == device)) most = std::max(most, arguments_of(c));
  return most;
}

int TensorTable::most_places(int device) const {
  int64_t most = 0;
  for (size_t c = 0; c < program_.calls.size(); ++c) {
    const ProgramCall& call = program_.calls[c];
    if (!packed_[c] || call.device != device) continue;
    most = std::max<int64_t>(most, std::count_if(call.arguments.begin(), call.arguments.end(),
                                                 [](const auto& a) { return !is_table(a.storage); }));
  }
  return static_cast<int>(most);
}

std::string TensorTable::definition() const {
  const std::string& p = options_.prefix;
  std::string s = "/* Shapes and types of the operators' arguments, and addresses of tables. */\n";
  if (!shapes_.empty()) {
    std::string line = "   ";
    s += fmt::format("static const int64_t {}_shapes[] = {{\n", p);
    for (int64_t d : shapes_) {
      std::string text = fmt::format(" {},", d);
      if (line.size() + text.size() > kCColumns) {
        s += line + "\n";
        line = "   ";
      }
      line += text;
    }
    s += line + "\n};\n";
  }
  s += fmt::format("static const DLTensor {}_tensors[] = {{\n", p);
  for (size_t i = 0; i < entries_.size(); ++i) s += fmt::format("    /* {} */ {},\n", i, entries_[i]);
  s += "};\n";
  return s + "\n";
}

std::string type_codes_definition(const std::string& prefix, int count) {
  std::string s = fmt::format(
      "/* All arguments are tensors, so calls from this file need no checks. */\n"
      "static const int {}_type_codes[] = {{\n",
      prefix);
  for (int i = 0; i < std::max(count, 1); ++i) s += "    kTVMDLTensorHandle,\n";
  return s + "};\n\n";
}

std::string external_declarations(const Program& program) {
  std::string s;
  std::set<std::string> seen;
  for (const ProgramFunction& f : program.functions) {
    if (!f.external || !seen.insert(f.external->symbol).second) continue;
    if (s.empty()) s += "/* Operators that other sources define. */\n";
    std::string parameters;
    if (f.external->convention == CallingConvention::kPacked) {
      parameters =
          "void *args, int32_t *type_codes, int32_t num_args, void *ret_value,\n"
          "        int32_t *ret_type_code, void *resource_handle";
    } else {
      bool plain = f.external->convention == CallingConvention::kPlain;
      for (const tir::BufferPtr& b : f.body->params) {
        bool writes = b->role == tir::Role::kOutput || b->role == tir::Role::kScratch;
        parameters += fmt::format("{}{}{} *{}", parameters.empty() ? "" : ", ", plain && !writes ? "const " : "",
                                  c_type_of(b->dtype), b->name);
      }
      if (f.external->context) parameters += parameters.empty() ? "void *context" : ", void *context";
      if (parameters.empty()) parameters = "void";
    }
    s += fmt::format("extern int32_t {}(\n        {});\n", f.external->symbol, parameters);
  }
  return s.empty() ? s : s + "\n";
}

std::string registry_definition(const std::vector<std::string>& names, const std::string& p,
                                const std::set<std::string>& external) {
  std::vector<std::pair<uint32_t, std::string>> sorted;
  for (const std::string& n : names) sorted.emplace_back(fnv1a_32(n), n);
  std::sort(sorted.begin(), sorted.end());
  std::string s = "/* The system library: functions by name, sorted by the FNV-1a hashes of the names. */\n";
  // The count is in the byte order of the target.
  size_t count = sorted.size();
  s += fmt::format(
      "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__\n"
      "#define {0}_COUNT \"\\{2:03o}\" \"\\{1:03o}\"\n#else\n"
      "#define {0}_COUNT \"\\{1:03o}\" \"\\{2:03o}\"\n#endif\n",
      upper(p), count & 0xff, count >> 8);
  s += fmt::format("static const char {0}_names[] = {1}_COUNT", p, upper(p));
  for (const auto& [hash, name] : sorted) s += fmt::format("\n    \"{}\\0\"", name);
  s += fmt::format(";\nstatic const TVMBackendPackedCFunc {}_functions[] = {{\n", p);
  for (const auto& [hash, name] : sorted)
    s += fmt::format("    {}{},\n", external.contains(name) ? "(TVMBackendPackedCFunc)" : "", name);
  s += fmt::format("}};\nstatic const uint32_t {}_hashes[] = {{\n", p);
  for (const auto& [hash, name] : sorted) s += fmt::format("    0x{:08x}u,\n", hash);
  s += "};\n";
  std::string offsets;
  size_t offset = 2;
  for (const auto& [hash, name] : sorted) {
    offsets += fmt::format("    {},\n", offset);
    offset += name.size() + 1;
  }
  // More names than 16 bits reach are walked.
  bool reached = offset <= UINT16_MAX;
  if (reached)
    s += fmt::format("/* Offset of each name. */\nstatic const uint16_t {}_offsets[] = {{\n{}    {}\n}};\n", p, offsets,
                     offset);
  s += fmt::format(
      "static const TVMFuncRegistry {0}_registry = {{\n"
      "    {0}_names,\n    {0}_functions,\n    {0}_hashes,\n    {1}\n}};\n"
      "static const TVMModule {0}_module = {{\n    &{0}_registry\n}};\n\n"
      "const TVMModule *TVMSystemLibEntryPoint(void);\n"
      "const TVMModule *TVMSystemLibEntryPoint(void)\n{{\n    return &{0}_module;\n}}\n",
      p, reached ? p + "_offsets" : "NULL");
  return s;
}

}  // namespace aotc::codegen
