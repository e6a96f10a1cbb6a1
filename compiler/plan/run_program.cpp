// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "plan/merge.h"
#include "plan/parts.h"
#include "plan/program.h"
#include "tir/tir.h"

namespace aotc::plan {

std::vector<uint8_t> initial_state(const Program& program) {
  std::vector<uint8_t> memory(static_cast<size_t>(program.state_bytes), 0);
  for (size_t i = 0; i < program.states.size(); ++i) {
    std::span<const uint8_t> bytes = program.graph.states[i].initial.bytes;
    std::copy(bytes.begin(), bytes.end(), memory.begin() + program.states[i].offset);
  }
  return memory;
}

namespace {

using OnResult = std::function<void(int, int, std::span<const uint8_t>)>;

class Runner {
 public:
  Runner(const Program& program, const Bands* bands, const OnResult& on_result, std::vector<uint8_t>& state,
         Diagnostics& diags)
      : program_(program), bands_(bands), on_result_(on_result), state_(state), diags_(diags) {
    for (const Pool& pool : program.pools) pools_.emplace_back(static_cast<size_t>(pool.bytes), 0xA5);
    for (const graph::Port& port : program.graph.outputs)
      out_.emplace_back(static_cast<size_t>(program.graph[port.tensor].type.bytes()), 0x5A);
  }

  Result<std::vector<std::vector<uint8_t>>> run(const std::vector<std::vector<uint8_t>>& inputs) {
    in_ = inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (program_.inputs[i].kind == StorageKind::kArena)
        std::copy(inputs[i].begin(), inputs[i].end(), memory_of(program_.inputs[i]));
    if (!steps(program_.body)) return kFailure;
    for (size_t o = 0; o < out_.size(); ++o)
      if (program_.outputs[o].kind == StorageKind::kArena)
        std::copy_n(memory_of(program_.outputs[o]), out_[o].size(), out_[o].begin());
    return std::move(out_);
  }

 private:
  uint8_t* memory_of(const Storage& s) {
    const auto index = static_cast<size_t>(s.index);
    switch (s.kind) {
      case StorageKind::kArena: return pools_[static_cast<size_t>(s.pool)].data() + s.offset;
      case StorageKind::kInput: return in_[index].data();
      case StorageKind::kOutput: return out_[index].data();
      case StorageKind::kConstant: return const_cast<uint8_t*>(program_.constants[index].data.bytes.data());
      case StorageKind::kState: return state_.data() + s.offset;
      case StorageKind::kNone: return nullptr;
    }
    return nullptr;
  }

  // The call's function, or its parts one behind the other. A merged function has the bounds of its largest call:
  // this call's are checked exactly.
  Status interpret(size_t index, const ProgramCall& call, const std::vector<tir::Memory>& memory,
                   const std::vector<int64_t>& elements) {
    const ProgramFunction& f = program_.functions[static_cast<size_t>(call.function)];
    const bool divided = bands_ != nullptr && bands_->has(call);
    auto run = [&](const tir::FunctionPtr& body) {
      return tir::interpret(f.merged ? *with_parameter_sizes(*body, elements) : *body, memory, diags_);
    };
    if (!divided) return run(f.body);
    const CallBands& bands = bands_->calls[index];
    const tir::Function& body = *bands_->functions[static_cast<size_t>(call.function)];
    for (int64_t part = 0; part < bands.parts(); ++part)
      if (!run(with_kept_scratch(*with_scalars(body, scalars_of_part(bands, part))))) return kFailure;
    return success();
  }

  Status call(size_t index) {
    const ProgramCall& call = program_.calls[index];
    const tir::Function& f = *program_.functions[static_cast<size_t>(call.function)].body;
    std::vector<tir::Memory> memory;
    std::vector<int64_t> elements;
    for (size_t a = 0; a < call.arguments.size(); ++a) {
      elements.push_back(call.arguments[a].elements);
      memory.push_back({memory_of(call.arguments[a].storage), elements.back() * size_of(f.params[a]->dtype)});
    }
    if (!interpret(index, call, memory, elements)) return kFailure;
    if (!on_result_) return success();
    for (size_t r = 0; r < call.results.size(); ++r) {
      const Storage& s = program_.tensors[static_cast<size_t>(call.results[r].value)];
      on_result_(static_cast<int>(index), static_cast<int>(r),
                 {memory_of(s), static_cast<size_t>(program_.graph[call.results[r]].type.bytes())});
    }
    return success();
  }

  Status loop(const ProgramStep& step) {
    while (true) {
      if (!steps(step.blocks[0])) return kFailure;
      if (*memory_of(step.condition) == 0) return success();
      if (iterations_-- == 0) {
        diags_.error(program_.graph.location_of({}), "loop-endless",
                     fmt::format("loops do not end within {} iterations", kMostIterations));
        return kFailure;
      }
      if (!steps(step.blocks[1])) return kFailure;
    }
  }

  Status steps(const std::vector<ProgramStep>& list) {
    for (const ProgramStep& step : list) {
      Status done = success();
      switch (step.kind) {
        case ProgramStep::Kind::kCall: done = call(static_cast<size_t>(step.call)); break;
        case ProgramStep::Kind::kBranch: done = steps(step.blocks[*memory_of(step.condition) != 0 ? 0 : 1]); break;
        case ProgramStep::Kind::kLoop: done = loop(step); break;
        case ProgramStep::Kind::kRepeat:
          for (size_t turn = 0; turn < step.blocks.size() && done; ++turn) done = steps(step.blocks[turn]);
      }
      if (!done) return kFailure;
    }
    return success();
  }

  const Program& program_;
  const Bands* bands_;
  const OnResult& on_result_;
  std::vector<uint8_t>& state_;
  Diagnostics& diags_;
  std::vector<std::vector<uint8_t>> pools_, in_, out_;
  int64_t iterations_ = kMostIterations;
};

Result<std::vector<std::vector<uint8_t>>> run_with(const Program& program, const Bands* bands,
                                                   const std::vector<std::vector<uint8_t>>& inputs, Diagnostics& diags,
                                                   const OnResult& on_result, std::vector<uint8_t>* state) {
  for (const ProgramFunction& f : program.functions) {
    if (!f.external) continue;
    diags.error(program.graph.location_of({}), "external-not-run",
                fmt::format("'{}' is a function of the user's: it runs where it is compiled", f.external->symbol));
    return kFailure;
  }
  std::vector<uint8_t> first_state = state == nullptr ? initial_state(program) : std::vector<uint8_t>();
  return Runner(program, bands, on_result, state == nullptr ? first_state : *state, diags).run(inputs);
}

}  // namespace

Result<std::vector<std::vector<uint8_t>>> run_program(const Program& program,
                                                      const std::vector<std::vector<uint8_t>>& inputs,
                                                      Diagnostics& diags, const OnResult& on_result,
                                                      std::vector<uint8_t>* state) {
  return run_with(program, nullptr, inputs, diags, on_result, state);
}

Result<std::vector<std::vector<uint8_t>>> run_in_parts(const Program& program, const Bands& bands,
                                                       const std::vector<std::vector<uint8_t>>& inputs,
                                                       Diagnostics& diags, const OnResult& on_result,
                                                       std::vector<uint8_t>* state) {
  return run_with(program, &bands, inputs, diags, on_result, state);
}

}  // namespace aotc::plan
