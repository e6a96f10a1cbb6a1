// SPDX-License-Identifier: Apache-2.0
// Calls the operators of an operator-style archive through its system library and compares every
// result with the model's: call_operators MODEL BOARD ARCHIVE LIBRARY.so
//
// The archive has no constants; those of each operator of the model come from its lowering. What the
// model computes comes from the TIR interpreter over the planned program, which other tests compare
// with LiteRT. The text of the archive must read back to the functions of the lowerings.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <tvm/runtime/crt/module.h>

#include "cores/cpu.h"
#include "frontends/tflite/reader.h"
#include "mlf/archive.h"
#include "mlf/metadata.h"
#include "mlf/operator_archive.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
#include "plan/program.h"
#include "project/board.h"
#include "support/files.h"

namespace {

using namespace aotc;
using Bytes = std::vector<uint8_t>;

[[noreturn]] void fail(const std::string& why) {
  fmt::print("FAILED: {}\n", why);
  std::exit(1);
}

struct Model {
  plan::Program program;
  ops::TargetInfo target;
  std::vector<Bytes> tensors;  // by id: what they hold in one run
};

Model run_model(const std::string& path, const std::string& board_name, Diagnostics& diags) {
  Model out;
  auto board = project::find_board(board_name, diags);
  auto bytes = read_file(path, diags);
  if (!board || !bytes) fail(diags.str());
  auto graph = frontends::read_tflite(std::move(*bytes), path, diags);
  if (!graph || !ops::verify_graph(*graph, diags) || !passes::run_pipeline(*graph, {}, diags)) fail(diags.str());
  plan::PlanOptions options;
  options.target = cores::for_goal(project::target_of(*board), {});
  options.merge_at_least = 0;
  out.target = options.target;
  auto program = plan::plan_program(std::move(*graph), options, diags);
  if (!program) fail(diags.str());
  out.program = std::move(*program);
  const graph::Graph& g = out.program.graph;
  out.tensors.resize(g.tensors.size());
  std::mt19937 random(1);
  std::vector<Bytes> inputs;
  for (const graph::Port& port : g.inputs) {
    Bytes data(static_cast<size_t>(g[port.tensor].type.bytes()));
    for (uint8_t& b : data) b = static_cast<uint8_t>(random());
    if (g[port.tensor].type.dtype == DType::kF32)
      for (size_t i = 0; i + 4 <= data.size(); i += 4) {
        float v = std::uniform_real_distribution<float>(-2, 2)(random);
        std::memcpy(&data[i], &v, 4);
      }
    out.tensors[static_cast<size_t>(port.tensor.value)] = data;
    inputs.push_back(data);
  }
  auto keep = [&](int call, int result, std::span<const uint8_t> data) {
    graph::TensorId id = out.program.calls[static_cast<size_t>(call)].results[static_cast<size_t>(result)];
    out.tensors[static_cast<size_t>(id.value)].assign(data.begin(), data.end());
  };
  if (!plan::run_program(out.program, inputs, diags, keep)) fail(diags.str());
  return out;
}

DLDataType dl_type(DType t) {
  bool is_unsigned = t == DType::kU8 || t == DType::kU16 || t == DType::kU32 || t == DType::kBool;
  return {static_cast<uint8_t>(is_float(t) ? 2 : is_unsigned ? 1 : 0), static_cast<uint8_t>(size_of(t) * 8), 1};
}

TVMBackendPackedCFunc find(const TVMFuncRegistry& registry, const std::string& name) {
  uint16_t count = 0;
  std::memcpy(&count, registry.names, 2);
  const char* at = registry.names + 2;
  for (uint16_t i = 0; i < count; ++i) {
    if (name == at) return registry.funcs[i];
    at += std::strlen(at) + 1;
  }
  fail(fmt::format("'{}' is not registered", name));
}

class Caller {
 public:
  Caller(const Model& model, const mlf::Archive& archive, const TVMFuncRegistry& registry, Diagnostics& diags)
      : model_(model), registry_(registry) {
    for (const mlf::OperatorInfo& info : mlf::operators_of(archive)) infos_[info.name] = info;
    const Bytes* text = archive.find("src/tir-1.txt");
    if (text == nullptr) fail("there is no src/tir-1.txt");
    auto parsed = mlf::parse_operators({text->begin(), text->end()}, "tir-1.txt", diags);
    if (!parsed) fail(diags.str());
    for (const tir::FunctionPtr& f : *parsed) {
      if (!tir::verify(*f, diags)) fail(diags.str());
      functions_[f->name] = f;
    }
    if (functions_.size() != infos_.size() || functions_.size() != parsed->size())
      fail("text and metadata have other functions");
  }

  void check(const mlf::OperatorEntry& entry) {
    if (!functions_.contains(entry.name)) fail(fmt::format("no text of '{}'", entry.name));
    for (int i : entry.ops) call(entry.name, model_.program.graph.ops[static_cast<size_t>(i)]);
    ++entries_;
  }

  int calls() const { return calls_; }
  int entries() const { return entries_; }

 private:
  void check_text(const std::string& name, const tir::Function& lowered) {
    const tir::Function& text = *functions_[name];
    if (!tir::structurally_equal(text, lowered)) fail(fmt::format("the text of '{}' is another function", name));
    const mlf::OperatorInfo& info = infos_[name];
    if (info.parameters.size() != text.params.size()) fail(name + ": number of parameters");
    for (size_t i = 0; i < text.params.size(); ++i) {
      const tir::Buffer& b = *text.params[i];
      const mlf::OperatorParameter& p = info.parameters[i];
      if (p.binding != b.name || p.bytes != b.elements * size_of(b.dtype) ||
          p.shape != std::vector<int64_t>{b.elements})
        fail(fmt::format("parameter {} of '{}' is described wrongly", i, name));
    }
  }

  void call(const std::string& name, const graph::Op& op) {
    const graph::Graph& g = model_.program.graph;
    ops::Lowered lowered = ops::lower({g, op}, model_.target);
    check_text(name, *lowered.function);
    std::vector<Bytes> data;
    for (size_t a = 0; a < lowered.args.size(); ++a) {
      auto index = static_cast<size_t>(lowered.args[a].index);
      const tir::Buffer& b = *lowered.function->params[a];
      Bytes bytes(static_cast<size_t>(b.elements) * static_cast<size_t>(size_of(b.dtype)), 0xA5);
      if (lowered.args[a].kind == ops::ArgKind::kOperand) bytes = value_of(op.operands[index]);
      if (lowered.args[a].kind == ops::ArgKind::kConstant) bytes = lowered.constants[index].bytes;
      data.push_back(std::move(bytes));
    }
    invoke(name, *lowered.function, data);
    for (size_t a = 0; a < lowered.args.size(); ++a)
      if (lowered.args[a].kind == ops::ArgKind::kResult &&
          data[a] != value_of(op.results[static_cast<size_t>(lowered.args[a].index)]))
        fail(fmt::format("'{}' gives another result", name));
    ++calls_;
  }

  // A view's result is its operand.
  const Bytes& value_of(graph::TensorId id) {
    const Bytes& known = model_.tensors[static_cast<size_t>(id.value)];
    if (!known.empty()) return known;
    for (const graph::Op& op : model_.program.graph.ops)
      for (graph::TensorId result : op.results)
        if (result.value == id.value && ops::definition_of(op).traits().view) return value_of(op.operands[0]);
    fail(fmt::format("tensor {} was not computed", id.value));
  }

  void invoke(const std::string& name, const tir::Function& f, std::vector<Bytes>& data) {
    std::vector<DLTensor> tensors(data.size());
    std::vector<int64_t> shapes;
    std::vector<TVMValue> values(data.size());
    std::vector<int> codes(data.size(), kTVMDLTensorHandle);
    for (const tir::BufferPtr& b : f.params) shapes.push_back(b->elements);
    for (size_t i = 0; i < data.size(); ++i) {
      tensors[i] = {data[i].data(), {kDLCPU, 0}, 1, dl_type(f.params[i]->dtype), &shapes[i], nullptr, 0};
      values[i].v_handle = &tensors[i];
    }
    TVMValue value{};
    int code = 0;
    TVMBackendPackedCFunc function = find(registry_, name);
    int count = static_cast<int>(data.size());
    int status = function(values.data(), codes.data(), count, &value, &code, nullptr);
    if (status != 0) fail(fmt::format("'{}' gives status {}", name, status));
    // A call that is not as the function expects is refused before anything is read.
    if (function(values.data(), codes.data(), count - 1, &value, &code, nullptr) == 0)
      fail(fmt::format("'{}' takes too few arguments", name));
    codes[0] = kTVMArgInt;
    if (function(values.data(), codes.data(), count, &value, &code, nullptr) == 0)
      fail(fmt::format("'{}' takes a number for a tensor", name));
  }

  const Model& model_;
  const TVMFuncRegistry& registry_;
  std::map<std::string, mlf::OperatorInfo> infos_;
  std::map<std::string, tir::FunctionPtr> functions_;
  int calls_ = 0, entries_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  Diagnostics diags;
  Model model = run_model(argv[1], argv[2], diags);
  auto archive = mlf::read_archive(argv[3], diags, mlf::kOperator);
  if (!archive) fail(diags.str());
  void* library = dlopen(argv[4], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(dlerror());
  auto entry_point = reinterpret_cast<const TVMModule* (*)()>(dlsym(library, "TVMSystemLibEntryPoint"));
  if (entry_point == nullptr) fail("there is no TVMSystemLibEntryPoint");
  mlf::OperatorChoice choice;
  choice.target = model.target;
  auto entries = mlf::collect_operators(model.program.graph, choice, model.program.devices, diags);
  if (!entries) fail(diags.str());
  Caller caller(model, *archive, *entry_point()->registry, diags);
  for (const mlf::OperatorEntry& e : *entries) caller.check(e);
  fmt::print("{} operators of the model, {} functions, equal results\n", caller.calls(), caller.entries());
  return caller.calls() > 0 ? 0 : 1;
}
