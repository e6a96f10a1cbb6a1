// SPDX-License-Identifier: Apache-2.0
#include "driver/summary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>

#include "support/text.h"

namespace aotc::driver {

namespace {

struct Place {
  std::string tensor;  // empty: scratch
  int pool = 0;
  int block = -1;  // Storage::index; -1: scratch
  int64_t offset = 0, bytes = 0;
  int first = 0, last = 0;
  int id = -1;  // of the tensor
};

class MemoryMap {
 public:
  explicit MemoryMap(const plan::Program& program) : program_(program) {}

  struct Span {
    int first = -1, last = -1;
  };

  std::vector<Place> run() {
    const int end = static_cast<int>(program_.calls.size());
    for (size_t i = 0; i < program_.inputs.size(); ++i)
      written(program_.graph.inputs[i].tensor, program_.inputs[i], -1);
    for (int c = 0; c < end; ++c) call(c);
    for (const plan::Storage& output : program_.outputs) read(output, end);
    for (const plan::ProgramStep& step : program_.body) control(step);
    std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) { return a.first < b.first; });
    return std::move(places_);
  }

 private:
  void call(int index) {
    const plan::ProgramCall& call = program_.calls[static_cast<size_t>(index)];
    for (const plan::CallArgument& argument : call.arguments) read(argument.storage, index);
    for (graph::TensorId id : call.results) written(id, program_.tensors[static_cast<size_t>(id.value)], index);
    if (call.scratch_bytes > 0)
      places_.push_back({"", call.scratch_pool, -1, call.scratch_offset, call.scratch_bytes, index, index});
  }

  // The calls of blocks, which are numbered in the order of the text.
  static Span calls_of(const std::vector<std::vector<plan::ProgramStep>>& blocks) {
    Span out;
    auto add = [&](const Span& s) {
      if (s.first < 0) return;
      out = {out.first < 0 ? s.first : std::min(out.first, s.first), std::max(out.last, s.last)};
    };
    for (const auto& block : blocks)
      for (const plan::ProgramStep& step : block)
        add(step.kind == plan::ProgramStep::Kind::kCall ? Span{step.call, step.call} : calls_of(step.blocks));
    return out;
  }

  // Conditions are read, and what a turn of a loop leaves to the next is alive in all of it.
  void control(const plan::ProgramStep& step) {
    for (const auto& block : step.blocks)
      for (const plan::ProgramStep& inner : block) control(inner);
    const bool loop = step.kind == plan::ProgramStep::Kind::kLoop;
    if (!loop && step.kind != plan::ProgramStep::Kind::kBranch) return;
    const Span calls = calls_of(step.blocks);
    if (calls.first < 0) return;
    reach_block(step.condition, loop ? calls.last : calls.first);
    if (loop) stay(calls);
  }

  void reach_block(const plan::Storage& storage, int call) {
    if (storage.kind != plan::StorageKind::kArena) return;
    for (Place& place : places_)
      if (place.pool == storage.pool && place.block == storage.index && place.block >= 0 && place.first <= call)
        place.last = std::max(place.last, call);
  }

  // Blocks that hold something before a loop or behind it, and in it.
  void stay(const Span& calls) {
    std::set<std::pair<int, int>> outside;
    for (const Place& p : places_)
      if (p.block >= 0 && p.first <= calls.last && p.last >= calls.first &&
          (p.first < calls.first || p.last > calls.last))
        outside.emplace(p.pool, p.block);
    for (Place& p : places_)
      if (outside.contains({p.pool, p.block}) && p.first <= calls.last && p.last >= calls.first)
        p.first = std::min(p.first, calls.first), p.last = std::max(p.last, calls.last);
  }

  void written(graph::TensorId id, const plan::Storage& storage, int call) {
    if (storage.kind != plan::StorageKind::kArena) return;
    const graph::Tensor& tensor = program_.graph[id];
    known_[key(storage)] = places_.size();  // what lay there ends: a result may take its operand's place
    places_.push_back(
        {tensor.name, storage.pool, storage.index, storage.offset, tensor.type.bytes(), call, call, id.value});
  }

  void read(const plan::Storage& storage, int call) {
    if (storage.kind != plan::StorageKind::kArena) return;
    auto reach = [&](Place& place) { place.last = std::max(place.last, call); };
    auto it = known_.find(key(storage));
    if (it != known_.end()) return reach(places_[it->second]);
    // A view of a part, or of parts that lie side by side: all of the block is in use.
    for (Place& place : places_)
      if (place.pool == storage.pool && place.block == storage.index && place.block >= 0) reach(place);
  }

  static std::tuple<int, int, int64_t> key(const plan::Storage& s) { return {s.pool, s.index, s.offset}; }

  const plan::Program& program_;
  std::vector<Place> places_;
  std::map<std::tuple<int, int, int64_t>, size_t> known_;
};

// From which call to which a tensor in the arena is alive. One without a place of its own is a view, or is made
// of parts: it is alive as long as what it is made of.
class Lifetimes {
 public:
  explicit Lifetimes(const plan::Program& program) : program_(program), places_(MemoryMap(program).run()) {
    for (size_t i = 0; i < places_.size(); ++i)
      if (places_[i].id >= 0) own_[places_[i].id] = i;
    for (size_t i = 0; i < program.graph.ops.size(); ++i)
      for (graph::TensorId id : program.graph.ops[i].results) producer_[id.value] = i;
  }

  MemoryMap::Span of(graph::TensorId id, int depth = 0) const {
    if (auto own = own_.find(id.value); own != own_.end())
      return {places_[own->second].first, places_[own->second].last};
    constexpr int kDeepest = 1000;  // views of views
    std::optional<MemoryMap::Span> out;
    auto add = [&](const MemoryMap::Span& s) {
      out = out ? MemoryMap::Span{std::min(out->first, s.first), std::max(out->last, s.last)} : s;
    };
    const plan::Storage& storage = storage_of(id);
    if (auto made = producer_.find(id.value); made != producer_.end() && depth < kDeepest)
      for (graph::TensorId operand : program_.graph.ops[made->second].operands)
        if (operand.value >= 0 && same_block(storage_of(operand), storage)) add(of(operand, depth + 1));
    if (out) return *out;
    for (const Place& place : places_)
      if (place.pool == storage.pool && place.block == storage.index) add({place.first, place.last});
    return out.value_or(MemoryMap::Span{});
  }

 private:
  static bool same_block(const plan::Storage& a, const plan::Storage& b) {
    return a.kind == b.kind && a.pool == b.pool && a.index == b.index;
  }
  const plan::Storage& storage_of(graph::TensorId id) const { return program_.tensors[static_cast<size_t>(id.value)]; }

  const plan::Program& program_;
  std::vector<Place> places_;
  std::map<int, size_t> own_, producer_;
};

const char* name_of(plan::StorageKind kind) {
  switch (kind) {
    case plan::StorageKind::kArena: return "arena";
    case plan::StorageKind::kInput: return "input";
    case plan::StorageKind::kOutput: return "output";
    case plan::StorageKind::kConstant: return "constant";
    case plan::StorageKind::kState: return "state";
    case plan::StorageKind::kNone: break;
  }
  return "none";
}

}  // namespace

std::string whole_name(const std::string& tensor) { return escape_for_display(tensor, std::string::npos); }

nlohmann::ordered_json tensors_json(const plan::Program& program) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  const Lifetimes lifetimes(program);
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const plan::Storage& storage = program.tensors[i];
    if (storage.kind == plan::StorageKind::kNone) continue;
    const graph::TensorId id{static_cast<int>(i)};
    const graph::Tensor& tensor = program.graph[id];
    nlohmann::ordered_json j = {{"name", whole_name(tensor.name)},
                                {"dtype", aotc::name_of(tensor.type.dtype)},
                                {"shape", tensor.type.shape},
                                {"bytes", tensor.type.bytes()},
                                {"storage", name_of(storage.kind)}};
    const bool arena = storage.kind == plan::StorageKind::kArena;
    if (arena && program.pools.size() > 1) j["pool"] = program.pools[static_cast<size_t>(storage.pool)].name;
    if (arena || storage.kind == plan::StorageKind::kState) j["offset"] = storage.offset;
    else if (storage.index >= 0) j["index"] = storage.index;
    if (arena) {
      const MemoryMap::Span span = lifetimes.of(id);
      j["first_call"] = span.first;
      j["last_call"] = span.last;
    }
    out.push_back(std::move(j));
  }
  return out;
}

nlohmann::ordered_json memory_json(const plan::Program& program) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Place& place : MemoryMap(program).run()) {
    nlohmann::ordered_json j;
    if (!place.tensor.empty()) j["tensor"] = whole_name(place.tensor);
    if (program.pools.size() > 1) j["pool"] = program.pools[static_cast<size_t>(place.pool)].name;
    j["offset"] = place.offset;
    j["bytes"] = place.bytes;
    j["first_call"] = place.first;
    j["last_call"] = place.last;
    out.push_back(std::move(j));
  }
  return out;
}

}  // namespace aotc::driver
