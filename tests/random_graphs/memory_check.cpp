// SPDX-License-Identifier: Apache-2.0
#include "memory_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/operator.h"
#include "plan/merge.h"

namespace aotc::tests {

namespace {

using graph::TensorId;
using plan::Storage;
using plan::StorageKind;

constexpr int kNobody = -1;

// Runs a program call by call. A tag is the id of the tensor that a byte was written as, or, for
// scratch, minus the number of the call, less two.
class ShadowRun final : public tir::AccessObserver {
 public:
  ShadowRun(const plan::Program& program, const std::vector<std::vector<uint8_t>>& inputs)
      : p_(program),
        inputs_(inputs),
        arena_(static_cast<size_t>(program.arena_bytes), 0xA5),
        tags_(arena_.size(), kNobody),
        written_(program.graph.tensors.size(), false) {
    for (const graph::Port& port : p_.graph.outputs)
      outputs_.emplace_back(static_cast<size_t>(p_.graph[port.tensor].type.bytes()), uint8_t{0});
    for (size_t i = 0; i < p_.inputs.size(); ++i) {
      if (p_.inputs[i].kind != StorageKind::kArena) continue;
      int tensor = p_.graph.inputs[i].tensor.value;
      auto at = static_cast<long>(p_.inputs[i].offset);
      std::copy(inputs_[i].begin(), inputs_[i].end(), arena_.begin() + at);
      std::fill_n(tags_.begin() + at, inputs_[i].size(), tensor);
      written_[static_cast<size_t>(tensor)] = true;
    }
  }

  std::string run() {
    for (call_ = 0; call_ < static_cast<int>(p_.calls.size()) && problem_.empty(); ++call_) step();
    for (size_t o = 0; o < p_.outputs.size() && problem_.empty(); ++o) check_output(o);
    return problem_;
  }

  void on_read(int param, int64_t offset, int64_t bytes) override { check(param, offset, bytes); }

  void on_write(int param, int64_t offset, int64_t bytes) override {
    const Param& at = params_[static_cast<size_t>(param)];
    if (!at.in_arena) return;
    std::fill_n(tags_.begin() + at.offset + offset, bytes, at.tag);
  }

 private:
  struct Param {
    bool in_arena = false;
    int64_t offset = 0;
    int tag = kNobody;  // what its bytes carry
  };

  const plan::ProgramCall& call() const { return p_.calls[static_cast<size_t>(call_)]; }

  void fail(const std::string& why) {
    if (problem_.empty()) problem_ = fmt::format("call {}: {}", call_, why);
  }

  void check(int param, int64_t offset, int64_t bytes) {
    const Param& at = params_[static_cast<size_t>(param)];
    if (!at.in_arena || !problem_.empty()) return;
    for (int64_t b = at.offset + offset; b < at.offset + offset + bytes; ++b)
      if (int tag = tags_[static_cast<size_t>(b)]; tag != at.tag)
        return fail(
            fmt::format("argument {} reads byte {} of the arena as of tensor {}, but it "
                        "was last written as {}",
                        param, b, at.tag, tag));
  }

  // What the bytes of an output in the arena carry after the run.
  int output_tag(size_t o) const {
    TensorId id = p_.graph.outputs[o].tensor;
    bool copied = p_.outputs[o] != p_.tensors[static_cast<size_t>(id.value)];
    return copied ? INT32_MIN + static_cast<int>(o) : origin(id);
  }

  void check_output(size_t o) {
    if (p_.outputs[o].kind != StorageKind::kArena) return;
    auto begin = tags_.begin() + static_cast<long>(p_.outputs[o].offset);
    auto end = begin + static_cast<long>(outputs_[o].size());
    int tag = output_tag(o);
    if (std::any_of(begin, end, [&](int t) { return t != tag; }))
      fail(fmt::format("output {} does not survive the run", o));
  }

  // The tensor as which the bytes were written: itself, or what it is a view of.
  int origin(TensorId id) const {
    if (written_[static_cast<size_t>(id.value)]) return id.value;
    for (const graph::Op& op : p_.graph.ops)
      if (std::find(op.results.begin(), op.results.end(), id) != op.results.end() &&
          ops::definition_of(op).traits().view)
        return origin(op.operands[0]);
    return kNobody;
  }

  int writer_tag(const Storage& storage) const {
    for (TensorId id : call().results)
      if (p_.tensors[static_cast<size_t>(id.value)] == storage) return id.value;
    for (size_t o = 0; o < p_.outputs.size() && call().op_index < 0; ++o)
      if (p_.outputs[o] == storage) return output_tag(o);
    return kNobody;
  }

  // As what must be written what the call reads at `storage`.
  int reader_tag(const Storage& storage) const {
    auto is_it = [&](TensorId id) {
      return id.valid() && p_.tensors[static_cast<size_t>(id.value)] == storage;
    };
    if (call().op_index < 0) {
      for (const graph::Port& port : p_.graph.outputs)
        if (is_it(port.tensor)) return origin(port.tensor);
    } else {
      for (TensorId id : p_.graph.ops[static_cast<size_t>(call().op_index)].operands)
        if (is_it(id)) return origin(id);
    }
    return kNobody;
  }

  uint8_t* memory_of(const Storage& s) {
    auto index = static_cast<size_t>(s.index);
    switch (s.kind) {
      case StorageKind::kArena:
        return arena_.data() + s.offset;
      case StorageKind::kInput:
        return inputs_[index].data();
      case StorageKind::kOutput:
        return outputs_[index].data();
      case StorageKind::kConstant:
        return const_cast<uint8_t*>(p_.constants[index].data.bytes.data());
      case StorageKind::kState:
      case StorageKind::kNone:
        break;
    }
    return nullptr;
  }

  void step() {
    const plan::ProgramFunction& shared = p_.functions[static_cast<size_t>(call().function)];
    std::vector<int64_t> elements;
    for (const plan::CallArgument& a : call().arguments) elements.push_back(a.elements);
    tir::FunctionPtr exact =
        shared.merged ? plan::with_parameter_sizes(*shared.body, elements) : nullptr;
    const tir::Function& f = exact ? *exact : *shared.body;
    std::vector<tir::Memory> memory;
    params_.assign(f.params.size(), {});
    for (size_t a = 0; a < f.params.size() && problem_.empty(); ++a)
      memory.push_back(bind(f, a, elements[a] * size_of(f.params[a]->dtype)));
    if (!problem_.empty()) return;
    Diagnostics diags;
    if (!tir::interpret(f, memory, diags, this)) fail("traps: " + diags.str());
    for (TensorId id : call().results) written_[static_cast<size_t>(id.value)] = true;
  }

  tir::Memory bind(const tir::Function& f, size_t a, int64_t bytes) {
    const Storage& s = call().arguments[a].storage;
    Param& param = params_[a];
    if (s.kind == StorageKind::kNone) fail(fmt::format("argument {} has no place", a));
    if (s.kind == StorageKind::kArena) {
      param.in_arena = true;
      param.offset = s.offset;
      bool inside = s.offset >= 0 && s.offset + bytes <= p_.arena_bytes;
      if (!inside || s.offset % size_of(f.params[a]->dtype) != 0)
        fail(fmt::format("argument {}: {} bytes at {} leave the arena or are misaligned", a, bytes,
                         s.offset));
      switch (f.params[a]->role) {
        case tir::Role::kOutput:
          param.tag = writer_tag(s);
          break;
        case tir::Role::kScratch:
          param.tag = -2 - call_;
          break;
        default:
          param.tag = reader_tag(s);
      }
    }
    return {memory_of(s), bytes};
  }

  const plan::Program& p_;
  std::vector<std::vector<uint8_t>> inputs_, outputs_;
  std::vector<uint8_t> arena_;
  std::vector<int> tags_;      // of every byte of the arena
  std::vector<bool> written_;  // by tensor: a call gave it
  int call_ = 0;
  std::vector<Param> params_;  // of the present call
  std::string problem_;
};

}  // namespace

std::string check_memory(const plan::Program& program,
                         const std::vector<std::vector<uint8_t>>& inputs) {
  return ShadowRun(program, inputs).run();
}

}  // namespace aotc::tests
