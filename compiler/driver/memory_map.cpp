// SPDX-License-Identifier: Apache-2.0
#include "driver/memory_map.h"

#include <algorithm>
#include <map>
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
};

class MemoryMap {
 public:
  explicit MemoryMap(const plan::Program& program) : program_(program) {}

  std::vector<Place> run() {
    const int end = static_cast<int>(program_.calls.size());
    for (size_t i = 0; i < program_.inputs.size(); ++i)
      written(program_.graph.inputs[i].tensor, program_.inputs[i], -1);
    for (int c = 0; c < end; ++c) call(c);
    for (const plan::Storage& output : program_.outputs) read(output, end);
    for (const plan::ProgramStep& step : program_.body) control(step);
    std::stable_sort(places_.begin(), places_.end(),
                     [](const Place& a, const Place& b) { return a.first < b.first; });
    return std::move(places_);
  }

 private:
  void call(int index) {
    const plan::ProgramCall& call = program_.calls[static_cast<size_t>(index)];
    for (const plan::CallArgument& argument : call.arguments) read(argument.storage, index);
    for (graph::TensorId id : call.results)
      written(id, program_.tensors[static_cast<size_t>(id.value)], index);
    if (call.scratch_bytes > 0)
      places_.push_back(
          {"", call.scratch_pool, -1, call.scratch_offset, call.scratch_bytes, index, index});
  }

  struct Span {
    int first = -1, last = -1;
  };

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
      if (p.block >= 0 && p.first <= calls.last && p.last >= calls.first && (p.first < calls.first || p.last > calls.last))
        outside.emplace(p.pool, p.block);
    for (Place& p : places_)
      if (outside.contains({p.pool, p.block}) && p.first <= calls.last && p.last >= calls.first)
        p.first = std::min(p.first, calls.first), p.last = std::max(p.last, calls.last);
  }

  void written(graph::TensorId id, const plan::Storage& storage, int call) {
    if (storage.kind != plan::StorageKind::kArena) return;
    const graph::Tensor& tensor = program_.graph[id];
    known_[key(storage)] = places_.size();  // what lay there ends: a result may take its operand's place
    places_.push_back({tensor.name, storage.pool, storage.index, storage.offset,
                       tensor.type.bytes(), call, call});
  }

  void read(const plan::Storage& storage, int call) {
    if (storage.kind != plan::StorageKind::kArena) return;
    auto reach = [&](Place& place) { place.last = std::max(place.last, call); };
    auto it = known_.find(key(storage));
    if (it != known_.end()) return reach(places_[it->second]);
    // A view of a part, or of parts that lie side by side: all of the block is in use.
    for (Place& place : places_)
      if (place.pool == storage.pool && place.block == storage.index && place.block >= 0)
        reach(place);
  }

  static std::tuple<int, int, int64_t> key(const plan::Storage& s) {
    return {s.pool, s.index, s.offset};
  }

  const plan::Program& program_;
  std::vector<Place> places_;
  std::map<std::tuple<int, int, int64_t>, size_t> known_;
};

}  // namespace

nlohmann::ordered_json memory_json(const plan::Program& program) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Place& place : MemoryMap(program).run()) {
    nlohmann::ordered_json j;
    if (!place.tensor.empty()) j["tensor"] = escape_for_display(place.tensor, 4096);
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
