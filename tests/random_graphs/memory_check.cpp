// SPDX-License-Identifier: Apache-2.0
#include "memory_check.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ops/common/pieces.h"
#include "ops/operator.h"
#include "plan/merge.h"

namespace aotc::tests {

namespace {

using graph::Graph;
using graph::TensorId;
using plan::ProgramStep;
using plan::Storage;
using plan::StorageKind;

// What a byte is: byte `at` of a value. Every time that an operator runs its results are new values.
struct Tag {
  int value = -1;  // nobody's
  int64_t at = 0;
  bool operator==(const Tag&) const = default;
};

struct Memory {
  std::vector<uint8_t> bytes;
  std::vector<Tag> tags;
  explicit Memory(size_t size = 0, uint8_t fill = 0xA5) : bytes(size, fill), tags(size) {}

  void hold(int64_t offset, const std::vector<uint8_t>& from, int value) {
    std::copy(from.begin(), from.end(), bytes.begin() + offset);
    rename(offset, static_cast<int64_t>(from.size()), value);
  }
  void rename(int64_t offset, int64_t size, int value, int64_t from = 0) {
    for (int64_t i = 0; i < size; ++i) tags[static_cast<size_t>(offset + i)] = {value, from + i};
  }
  bool holds(int64_t offset, int64_t size, const Tag& first) const {
    for (int64_t i = 0; i < size; ++i)
      if (tags[static_cast<size_t>(offset + i)] != Tag{first.value, first.at + i}) return false;
    return true;
  }
};

// Which value a tensor of a graph or region is, by tensor id.
using Values = std::vector<int>;

class ShadowRun final : public tir::AccessObserver {
 public:
  explicit ShadowRun(const plan::Program& program)
      : p_(program), arena_(static_cast<size_t>(program.arena_bytes)), state_(0) {
    for (const plan::ProgramConstant& c : p_.constants) {
      constants_.emplace_back(c.data.bytes.size());
      constants_.back().hold(0, c.data.bytes, constant_value(c.data.bytes));
    }
    std::vector<uint8_t> initial = plan::initial_state(p_);
    state_ = Memory(initial.size());
    state_.bytes = initial;
  }

  std::string run(const std::vector<std::vector<uint8_t>>& inputs) {
    const Graph& g = p_.reference();
    Values values = constants_of(g);
    inputs_.clear();
    outputs_.clear();
    std::fill(arena_.tags.begin(), arena_.tags.end(), Tag());
    for (size_t i = 0; i < inputs.size(); ++i) {
      int value = values[at(g.inputs[i].tensor)] = next_value_++;
      inputs_.emplace_back(inputs[i].size());
      inputs_.back().hold(0, inputs[i], value);
      if (p_.inputs[i].kind == StorageKind::kArena) arena_.hold(p_.inputs[i].offset, inputs[i], value);
    }
    for (size_t i = 0; i < g.states.size(); ++i) {
      int value = values[at(g.states[i].before)] = next_value_++;
      state_.rename(p_.states[i].offset, g[g.states[i].before].type.bytes(), value);
    }
    for (const graph::Port& port : g.outputs) outputs_.emplace_back(static_cast<size_t>(g[port.tensor].type.bytes()));
    block(without_repeats(p_.body), g, values, 0);
    if (problem_.empty()) check_end(g, values);
    return problem_;
  }

  void on_read(int param, int64_t offset, int64_t bytes) override {
    const Param& p = params_[static_cast<size_t>(param)];
    if (p.memory == nullptr || !problem_.empty()) return;
    for (int64_t b = offset; b < offset + bytes; ++b) {
      const Tag tag = p.memory->tags[static_cast<size_t>(p.offset + b)];
      if (copied_ && param == 0) read_[b] = tag;
      if (!copied_ && p.checked && tag != tag_of(p.value, b))
        return fail(
            fmt::format("argument {} reads byte {} of its memory as byte {} of value {}, but it is byte {} "
                        "of value {}",
                        param, p.offset + b, b, p.value, tag.at, tag.value));
    }
  }

  void on_write(int param, int64_t offset, int64_t bytes) override {
    const Param& p = params_[static_cast<size_t>(param)];
    if (p.memory == nullptr) return;
    for (int64_t b = offset; b < offset + bytes; ++b)
      p.memory->tags[static_cast<size_t>(p.offset + b)] = copied_ ? read_[b] : Tag{p.value, b};
  }

 private:
  struct Param {
    Memory* memory = nullptr;
    int64_t offset = 0;
    int value = -1;        // what its bytes are, or become
    bool checked = false;  // tables and what the call wrote itself are not
  };

  static size_t at(TensorId id) { return static_cast<size_t>(id.value); }

  void fail(const std::string& why) {
    if (problem_.empty()) problem_ = fmt::format("call {}: {}", call_, why);
  }

  int constant_value(std::vector<uint8_t> bytes) {
    auto [found, is_new] = value_of_constant_.try_emplace(std::move(bytes), next_value_);
    next_value_ += is_new;
    return found->second;
  }
  Values constants_of(const Graph& g) {
    Values out(g.tensors.size(), -1);
    for (size_t i = 0; i < g.tensors.size(); ++i)
      if (g.tensors[i].constant)
        out[i] = constant_value({g.tensors[i].constant->bytes.begin(), g.tensors[i].constant->bytes.end()});
    return out;
  }

  // ---------------------------------------------------------------- the graph and the program's steps

  // The steps of a block beside the operators of its graph, of which `index` is the first. Returns the
  // values of the outputs.
  Values block(const std::vector<ProgramStep>& steps, const Graph& g, Values& values, size_t index) {
    size_t next = 0;
    auto copies = [&] {
      while (next < steps.size() && problem_.empty() && is_copy(steps[next])) copy(steps[next++].call);
    };
    for (const graph::Op& op : g.ops) {
      copies();
      if (!problem_.empty()) return {};
      const ops::Traits traits = ops::definition_of(op).traits();
      if (traits.control != ops::Control::kNone) {
        if (next == steps.size()) return fail("a branch or loop is missing"), Values();
        control(steps[next++], op, values, index);
      } else if (next < steps.size() && runs(steps[next], p_.flat_ops[index])) {
        call_operator(steps[next++].call, op, values);
      } else if (in_rows(op.results[0])) {
        values[at(op.results[0])] = -1;  // nowhere as a whole
      } else if (traits.view) {
        values[at(op.results[0])] = values[at(op.operands[0])];
      } else if (const auto begins = ops::pieces_of({g, op})) {
        const int64_t element = size_of(g[op.operands[0]].type.dtype);
        for (size_t r = 0; r < op.results.size(); ++r) {
          values[at(op.results[r])] = next_value_;
          pieces_[next_value_++] = {values[at(op.operands[0])], (*begins)[r] * element};
        }
      } else if (ops::joined_of({g, op})) {
        values[at(op.results[0])] = next_value_++;
        join(op, values);
      } else {
        fail(fmt::format("operator {} is not called", op.name()));
      }
      ++index;
      for (const Graph& region : op.regions) index += graph::count_ops(region);
    }
    copies();
    if (next < steps.size()) fail("there are more steps than operators");
    Values out;
    for (const graph::Port& port : g.outputs) out.push_back(values[at(port.tensor)]);
    return out;
  }

  bool runs(const ProgramStep& step, int flat_op) const {
    return step.kind == ProgramStep::Kind::kCall && p_.calls[static_cast<size_t>(step.call)].op_index == flat_op;
  }
  bool in_rows(TensorId id) const {
    return std::any_of(p_.calls.begin(), p_.calls.end(), [&](const plan::ProgramCall& c) {
      return std::find(c.rows.begin(), c.rows.end(), id) != c.rows.end();
    });
  }
  bool is_copy(const ProgramStep& step) const { return runs(step, -1); }

  Values region(const std::vector<ProgramStep>& steps, const Graph& g, const Values& arguments, size_t index) {
    Values values = constants_of(g);
    for (size_t i = 0; i < arguments.size(); ++i) values[at(g.inputs[i].tensor)] = arguments[i];
    return block(steps, g, values, index);
  }

  void control(const ProgramStep& step, const graph::Op& op, Values& values, size_t index) {
    const size_t second = index + 1 + graph::count_ops(op.regions[0]);
    Values carried;
    for (TensorId id : op.operands) carried.push_back(values[at(id)]);
    if (step.kind == ProgramStep::Kind::kBranch) {
      const int tested = carried[0];
      carried.erase(carried.begin());
      const bool first = condition(step, tested);
      carried = region(step.blocks[first ? 0 : 1], op.regions[first ? 0 : 1], carried, first ? index + 1 : second);
    } else if (step.kind == ProgramStep::Kind::kLoop) {
      for (int turns = 0; problem_.empty(); ++turns) {
        Values tested = region(step.blocks[0], op.regions[0], carried, index + 1);
        if (!problem_.empty() || !condition(step, tested[0])) break;
        if (turns == 1000) return fail("a loop does not end");
        carried = region(step.blocks[1], op.regions[1], carried, second);
      }
    } else {
      fail("a branch or loop is a call");
    }
    for (size_t i = 0; i < op.results.size() && problem_.empty(); ++i) values[at(op.results[i])] = carried[i];
  }

  bool condition(const ProgramStep& step, int value) {
    Memory* memory = memory_of(step.condition);
    if (memory == nullptr) return fail("a condition has no place"), false;
    const int64_t offset = offset_of(step.condition);
    if (!memory->holds(offset, 1, tag_of(value, 0))) fail("a condition is not what is tested");
    return memory->bytes[static_cast<size_t>(offset)] != 0;
  }

  // ---------------------------------------------------------------- memory

  // Byte `b` of a value, which may be a piece of another.
  Tag tag_of(int value, int64_t b) const {
    Tag tag{value, b};
    for (auto piece = pieces_.find(value); piece != pieces_.end(); piece = pieces_.find(tag.value))
      tag = {piece->second.value, tag.at + piece->second.at};
    return tag;
  }

  static int64_t offset_of(const Storage& s) {
    return s.kind == StorageKind::kArena || s.kind == StorageKind::kState ? s.offset : 0;
  }

  Memory* memory_of(const Storage& s) {
    auto index = static_cast<size_t>(s.index);
    switch (s.kind) {
      case StorageKind::kArena: return &arena_;
      case StorageKind::kInput: return &inputs_[index];
      case StorageKind::kOutput: return &outputs_[index];
      case StorageKind::kConstant: return &constants_[index];
      case StorageKind::kState: return &state_;
      case StorageKind::kNone: break;
    }
    return nullptr;
  }

  void check_end(const Graph& g, const Values& values) {
    for (size_t o = 0; o < p_.outputs.size(); ++o) {
      const TensorId id = g.outputs[o].tensor;
      if (!memory_of(p_.outputs[o])->holds(offset_of(p_.outputs[o]), g[id].type.bytes(), tag_of(values[at(id)], 0)))
        fail(fmt::format("output {} does not survive the run", o));
    }
    for (size_t i = 0; i < g.states.size(); ++i)
      if (!state_.holds(p_.states[i].offset, g[g.states[i].before].type.bytes(),
                        tag_of(values[at(g.states[i].after)], 0)))
        fail(fmt::format("state {} does not hold what it is next", i));
  }

  // ---------------------------------------------------------------- calls

  void copy(int call) {
    call_ = call;
    copied_ = true;
    read_.clear();
    interpret([](const Storage&, tir::Role, Param&) {});
    copied_ = false;
  }

  void call_operator(int call, const graph::Op& op, Values& values) {
    call_ = call;
    const plan::ProgramCall& called = p_.calls[static_cast<size_t>(call)];
    const graph::Op& flat = p_.graph.ops[static_cast<size_t>(called.op_index)];
    Values results;
    for (size_t r = 0; r < op.results.size(); ++r) results.push_back(next_value_++);
    const int scratch = next_value_++;
    interpret([&](const Storage& s, tir::Role role, Param& param) {
      const bool in_tensors = s.kind != StorageKind::kConstant && s.index >= 0;
      if (role == tir::Role::kScratch || s.kind == StorageKind::kConstant) {
        param.value = scratch;
        param.checked = s.kind != StorageKind::kConstant;
        return;
      }
      param.checked = true;
      const bool is_result = role == tir::Role::kOutput;
      const std::vector<TensorId> input = {called.rows_of};
      const auto& operands = called.rows.empty() ? flat.operands : input;
      const auto& read = called.rows.empty() ? op.operands : input;
      const auto& ids = is_result ? flat.results : operands;
      for (size_t i = 0; i < ids.size() && in_tensors; ++i) {
        if (!ids[i].valid() || p_.tensors[at(ids[i])] != s) continue;
        const int value = is_result ? results[i] : values[at(read[i])];
        if (param.value >= 0 && tag_of(param.value, 0) != tag_of(value, 0)) fail("two values in one place");
        param.value = value;
      }
    });
    for (size_t r = 0; r < op.results.size(); ++r) values[at(op.results[r])] = results[r];
    if (&p_.reference() == &p_.graph) join(op, values);
  }

  // Operands that lie where they are joined: they must be there, and are pieces of the result from here on.
  void join(const graph::Op& op, const Values& values) {
    const Graph& g = p_.graph;
    const auto begins = ops::joined_of({g, op});
    if (!begins) return;
    const Storage& whole = p_.tensors[at(op.results[0])];
    for (size_t i = 0; i < begins->size() && whole.kind == StorageKind::kState; ++i) {
      const int64_t from = (*begins)[i] * size_of(g[op.operands[i]].type.dtype), bytes = g[op.operands[i]].type.bytes();
      Storage place = whole;
      place.offset += from;
      const int value = values[at(op.operands[i])];
      if (p_.tensors[at(op.operands[i])] != place || pieces_.contains(value)) continue;
      if (!state_.holds(place.offset, bytes, tag_of(value, 0))) fail(fmt::format("operand {} is not in its window", i));
      state_.rename(place.offset, bytes, values[at(op.results[0])], from);
      pieces_[value] = {values[at(op.results[0])], from};
    }
  }

  template <typename Name>
  void interpret(const Name& name) {
    const plan::ProgramCall& call = p_.calls[static_cast<size_t>(call_)];
    const plan::ProgramFunction& shared = p_.functions[static_cast<size_t>(call.function)];
    std::vector<int64_t> elements;
    for (const plan::CallArgument& a : call.arguments) elements.push_back(a.elements);
    tir::FunctionPtr exact = shared.merged ? plan::with_parameter_sizes(*shared.body, elements) : nullptr;
    const tir::Function& f = exact ? *exact : *shared.body;
    std::vector<tir::Memory> memory;
    params_.assign(f.params.size(), {});
    for (size_t a = 0; a < f.params.size() && problem_.empty(); ++a) {
      const Storage& s = call.arguments[a].storage;
      memory.push_back(bind(s, a, elements[a] * size_of(f.params[a]->dtype), size_of(f.params[a]->dtype)));
      name(s, f.params[a]->role, params_[a]);
    }
    if (!problem_.empty()) return;
    Diagnostics diags;
    if (!tir::interpret(f, memory, diags, this)) fail("traps: " + diags.str());
  }

  tir::Memory bind(const Storage& s, size_t a, int64_t bytes, int element) {
    Memory* memory = memory_of(s);
    if (memory == nullptr) return fail(fmt::format("argument {} has no place", a)), tir::Memory{};
    const int64_t offset = offset_of(s);
    if (offset < 0 || offset + bytes > static_cast<int64_t>(memory->bytes.size()) || offset % element != 0)
      return fail(fmt::format("argument {}: {} bytes at {} leave the memory or are misaligned", a, bytes, offset)),
             tir::Memory{};
    params_[a].memory = memory;
    params_[a].offset = offset;
    return {memory->bytes.data() + offset, bytes};
  }

  const plan::Program& p_;
  Memory arena_, state_;
  std::vector<Memory> inputs_, outputs_, constants_;
  std::map<std::vector<uint8_t>, int> value_of_constant_;
  std::map<int, Tag> pieces_;  // values that lie in others, by operators that no call makes
  int next_value_ = 0;
  int call_ = -1;
  bool copied_ = false;          // the call is a copy of the planner's: tags go with the bytes
  std::map<int64_t, Tag> read_;  // by it
  std::vector<Param> params_;    // of the present call
  std::string problem_;
};

}  // namespace

std::string check_memory(const plan::Program& program, const std::vector<std::vector<std::vector<uint8_t>>>& runs) {
  ShadowRun shadow(program);
  for (size_t i = 0; i < runs.size(); ++i)
    if (std::string bad = shadow.run(runs[i]); !bad.empty()) return fmt::format("run {}: {}", i, bad);
  return "";
}

std::vector<ProgramStep> without_repeats(const std::vector<ProgramStep>& steps) {
  std::vector<ProgramStep> out;
  for (const ProgramStep& step : steps) {
    if (step.kind != ProgramStep::Kind::kRepeat) {
      out.push_back(step);
      continue;
    }
    for (const std::vector<ProgramStep>& turn : step.blocks) out.insert(out.end(), turn.begin(), turn.end());
  }
  return out;
}

}  // namespace aotc::tests
