// SPDX-License-Identifier: Apache-2.0
#include "driver/memory_map.h"

#include <algorithm>
#include <map>
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
