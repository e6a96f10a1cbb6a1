// SPDX-License-Identifier: Apache-2.0
#include "plan/verify.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/merge.h"
#include "plan/parts.h"
#include "support/text.h"

namespace aotc::plan {

namespace {

class Verifier {
 public:
  Verifier(const Program& program, const Bands* bands, const std::vector<Location>* places, Diagnostics& diags)
      : program_(program),
        bands_(bands != nullptr && !bands->functions.empty() ? bands : nullptr),
        places_(places),
        diags_(diags) {
    where_.file = program.graph.source_file.empty() ? program.graph.name : program.graph.source_file;
  }

  bool run() {
    memories();
    ports("input", program_.graph.inputs, program_.inputs, StorageKind::kInput);
    ports("output", program_.graph.outputs, program_.outputs, StorageKind::kOutput);
    states();
    steps(program_.body);
    if (next_ != program_.calls.size())
      error(fmt::format("{} calls stand nowhere in the tree", program_.calls.size() - next_));
    // What follows looks into the memories that calls name.
    if (failed_) return false;
    for (size_t f = 0; f < program_.functions.size(); ++f) function(f);
    for (size_t c = 0; c < program_.calls.size() && !failed_; ++c) call(c);
    return !failed_;
  }

 private:
  void error(const std::string& message) {
    failed_ = true;
    diags_.error(where_, "program-invalid", message);
  }

  // ---------------------------------------------------------------- memory

  void memories() {
    int64_t all = 0;
    for (const Pool& pool : program_.pools) {
      if (pool.bytes < 0 || (all += pool.bytes) > INT32_MAX) error("the pools have more than 2 GiB");
      if (pool.limit >= 0 && pool.bytes > pool.limit)
        error(fmt::format("pool '{}' has {} bytes, more than its limit", pool.name, pool.bytes));
    }
    for (const ProgramConstant& c : program_.constants)
      if (program_.constant_pool >= 0 &&
          c.offset + bytes_of(c) > program_.pools[static_cast<size_t>(program_.constant_pool)].bytes)
        error(fmt::format("table '{}' is not in its pool", escape_for_display(c.name)));
  }

  static int64_t bytes_of(const ProgramConstant& c) { return static_cast<int64_t>(c.data.bytes.size()); }

  void ports(const char* word, const std::vector<graph::Port>& ports, const std::vector<Storage>& places,
             StorageKind own) {
    for (size_t i = 0; i < ports.size(); ++i) {
      const std::string what = fmt::format("{} '{}'", word, escape_for_display(ports[i].name));
      const bool fine =
          places[i].kind == StorageKind::kArena || (places[i].kind == own && places[i].index == static_cast<int>(i));
      if (!fine) error(what + " is neither in a pool nor the caller's");
      else within(places[i], program_.graph[ports[i].tensor].type.bytes(), what);
    }
  }

  void states() {
    for (size_t i = 0; i < program_.graph.states.size(); ++i) {
      const graph::State& state = program_.graph.states[i];
      const graph::Tensor& tensor = program_.graph[state.before];
      const std::string what = fmt::format("state '{}'", escape_for_display(tensor.name));
      if (program_.states[i].kind != StorageKind::kState) error(what + " is not in the memory of states");
      else within(program_.states[i], tensor.type.bytes(), what);
      if (static_cast<int64_t>(state.initial.bytes.size()) != tensor.type.bytes())
        error(
            fmt::format("{} begins with {} bytes, and has {}", what, state.initial.bytes.size(), tensor.type.bytes()));
    }
  }

  // Bytes that there are from a place on; -1: there is no such place.
  int64_t bytes_at(const Storage& s) const {
    auto of = [&](const auto& list) { return s.index >= 0 && static_cast<size_t>(s.index) < list.size(); };
    auto port = [&](const std::vector<graph::Port>& ports) {
      return of(ports) ? program_.graph[ports[static_cast<size_t>(s.index)].tensor].type.bytes() : -1;
    };
    switch (s.kind) {
      case StorageKind::kArena: {
        const bool known = s.pool >= 0 && static_cast<size_t>(s.pool) < program_.pools.size();
        return known && s.offset >= 0 ? program_.pools[static_cast<size_t>(s.pool)].bytes - s.offset : -1;
      }
      case StorageKind::kInput: return port(program_.graph.inputs);
      case StorageKind::kOutput: return port(program_.graph.outputs);
      case StorageKind::kConstant:
        return of(program_.constants) ? bytes_of(program_.constants[static_cast<size_t>(s.index)]) : -1;
      case StorageKind::kState: return s.offset >= 0 ? program_.state_bytes - s.offset : -1;
      case StorageKind::kNone: return 0;
    }
    return -1;
  }

  void within(const Storage& s, int64_t bytes, const std::string& what) {
    const int64_t there = bytes_at(s);
    if (bytes > there || there < 0)
      error(fmt::format("{} has {} bytes, and where it lies {}", what, bytes,
                        there < 0 ? "is no memory" : fmt::format("there are {}", there)));
  }

  // ---------------------------------------------------------------- the tree

  void condition(const ProgramStep& step, const char* what) {
    within(step.condition, 1, fmt::format("the condition of {}", what));
  }

  void steps(const std::vector<ProgramStep>& list) {
    for (const ProgramStep& step : list) {
      switch (step.kind) {
        case ProgramStep::Kind::kCall:
          // Whoever prints or runs a program counts on it.
          if (step.call != static_cast<int>(next_++)) error("calls stand in another order than they are numbered");
          break;
        case ProgramStep::Kind::kBranch: condition(step, "a branch"); break;
        case ProgramStep::Kind::kLoop: condition(step, "a loop"); break;
        case ProgramStep::Kind::kRepeat: repeat(step); break;
      }
      for (const std::vector<ProgramStep>& block : step.blocks) steps(block);
    }
  }

  // Every turn does the same calls, in other places.
  void repeat(const ProgramStep& step) {
    for (const std::vector<ProgramStep>& turn : step.blocks) {
      const bool calls = std::all_of(turn.begin(), turn.end(),
                                     [](const ProgramStep& inner) { return inner.kind == ProgramStep::Kind::kCall; });
      if (!calls || turn.size() != step.blocks[0].size())
        return error("the turns of a repeat are not as many calls each");
    }
  }

  // ---------------------------------------------------------------- functions and calls

  void function(size_t index) {
    const ProgramFunction& f = program_.functions[index];
    if (f.device < 0 || static_cast<size_t>(f.device) >= program_.devices.size())
      error(fmt::format("'{}' is for a device that there is not", f.body->name));
    if (f.external || (bands_ != nullptr && bands_->functions[index] != nullptr)) return;
    if (!tir::verify(*f.body, diags_)) failed_ = true;
  }

  void call(size_t index) {
    const ProgramCall& c = program_.calls[index];
    const Location before = where_;
    if (places_ != nullptr) where_ = (*places_)[index];
    const std::string what = fmt::format("call {}", index);
    const ProgramFunction& f = program_.functions[static_cast<size_t>(c.function)];
    if (c.device != f.device) error(what + " is not on the device of its function");
    if (c.arguments.size() != f.body->params.size()) {
      error(fmt::format("{} has {} arguments, and its function {}", what, c.arguments.size(), f.body->params.size()));
    } else {
      for (size_t a = 0; a < c.arguments.size(); ++a) argument(c, a, fmt::format("argument {} of {}", a + 1, what));
      if (!failed_) apart(c, what);
    }
    for (graph::TensorId id : c.results)
      if (const Storage& s = program_.tensors[static_cast<size_t>(id.value)]; s.kind != StorageKind::kNone)
        within(s, program_.graph[id].type.bytes(), fmt::format("a result of {}", what));
    if (bands_ != nullptr && bands_->has(c)) parts(index, what);
    where_ = before;
  }

  void argument(const ProgramCall& c, size_t a, const std::string& what) {
    const ProgramFunction& f = program_.functions[static_cast<size_t>(c.function)];
    const tir::Buffer& param = *f.body->params[a];
    const CallArgument& argument = c.arguments[a];
    const Storage& s = argument.storage;
    // A merged function has the sizes of its largest call.
    if (argument.elements > param.elements || (argument.elements < param.elements && !f.merged && !f.external))
      return error(
          fmt::format("{} has {} elements, and the function takes {}", what, argument.elements, param.elements));
    within(s, argument.elements * size_of(param.dtype), what);
    if (param.role == tir::Role::kOutput && (s.kind == StorageKind::kInput || s.kind == StorageKind::kConstant))
      error(what + " is written, and it is only to be read");
    const bool aligned = s.kind == StorageKind::kArena || s.kind == StorageKind::kState;
    if (aligned && s.offset % std::max(param.alignment, size_of(param.dtype)) != 0)
      error(fmt::format("{} is at {}, which is no multiple of {}", what, s.offset,
                        std::max(param.alignment, size_of(param.dtype))));
  }

  // What a call writes lies over nothing else that it writes; over what it reads only as a whole function may.
  void apart(const ProgramCall& c, const std::string& what) {
    const auto& params = program_.functions[static_cast<size_t>(c.function)].body->params;
    auto written = [&](size_t a) {
      return params[a]->role == tir::Role::kOutput || params[a]->role == tir::Role::kScratch;
    };
    for (size_t a = 0; a < params.size(); ++a)
      for (size_t b = 0; b < params.size(); ++b) {
        const bool both = a != b && written(a) && (b > a || !written(b));
        // Rows and panels of a segment are in one memory, which may lie over what is read.
        const bool rows = params[a]->role == tir::Role::kScratch && c.by_rows;
        const bool ordered = (params[a]->role == tir::Role::kOutput || rows) && !written(b);
        if (both && !ordered && !(rows && params[b]->role == tir::Role::kScratch) &&
            overlap(c.arguments[a], c.arguments[b]))
          error(fmt::format("arguments {} and {} of {} lie over each other", std::min(a, b) + 1, std::max(a, b) + 1,
                            what));
      }
  }

  static bool overlap(const CallArgument& a, const CallArgument& b) {
    const Storage &s = a.storage, &t = b.storage;
    if (s.kind != t.kind || (s.kind != StorageKind::kArena && s.kind != StorageKind::kState)) return false;
    const int64_t end = s.offset + a.elements * size_of(a.dtype), other = t.offset + b.elements * size_of(b.dtype);
    return s.pool == t.pool && s.offset < other && t.offset < end;
  }

  // All parts of the call's function, as one.
  void parts(size_t index, const std::string& what) {
    const ProgramCall& c = program_.calls[index];
    const tir::Function& divided = *bands_->functions[static_cast<size_t>(c.function)];
    const std::vector<BandLevel>& levels = bands_->calls[index].levels;
    if (divided.scalars.size() != scalars_of(levels.size()))
      return error(fmt::format("{} has {} loops in parts, and its function {} scalars", what, levels.size(),
                               divided.scalars.size()));
    for (const BandLevel& level : levels)
      if (level.end < level.begin) return error(what + " has a loop that ends before it begins");
    std::vector<int64_t> elements;
    for (const CallArgument& a : c.arguments) elements.push_back(a.elements);
    const tir::FunctionPtr whole = with_scalars(divided, scalars_of_part(bands_->calls[index], std::nullopt));
    if (!tir::verify(*with_parameter_sizes(*whole, elements), diags_)) failed_ = true;
  }

  const Program& program_;
  const Bands* bands_;
  const std::vector<Location>* places_;
  Diagnostics& diags_;
  Location where_;
  size_t next_ = 0;  // call of the tree
  bool failed_ = false;
};

}  // namespace

Status verify(const Program& program, Diagnostics& diags, const Bands* bands, const std::vector<Location>* calls) {
  return Verifier(program, bands, calls, diags).run() ? success() : Status(kFailure);
}

}  // namespace aotc::plan
