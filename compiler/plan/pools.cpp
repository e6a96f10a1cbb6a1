// SPDX-License-Identifier: Apache-2.0
#include "plan/pools.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace aotc::plan {

namespace {

// Buffers and calls' scratch that are packed together.
struct Region {
  std::vector<int> buffers;
  std::set<int> scratch;  // calls
  bool empty() const { return buffers.empty() && scratch.empty(); }
};

class PoolPlacer {
 public:
  PoolPlacer(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls, bool overlap,
             std::vector<Pool> pools, const std::vector<passes::Device>& devices)
      : buffers_(buffers), calls_(calls), overlap_(overlap), devices_(devices) {
    out_.sizes = std::move(pools);
    bool none = std::all_of(out_.sizes.begin(), out_.sizes.end(), [](const Pool& p) { return p.constants; });
    if (none) out_.sizes.insert(out_.sizes.begin(), Pool{"arena"});
    for (const passes::Device& d : devices)
      if (!d.pool.empty() && pool_named(d.pool) < 0) out_.sizes.push_back(Pool{d.pool});
    out_.pools.assign(buffers.size(), 0);
    out_.scratch_pools.assign(calls.size(), 0);
    Placement& p = out_.placement;
    p.offsets.assign(buffers.size(), -1);
    for (size_t b = 0; b < buffers.size(); ++b) p.block.push_back(static_cast<int>(b));
    p.scratch_offsets.assign(calls.size(), -1);
    p.live_bytes.assign(calls.size(), 0);
    p.proven_optimal = true;
  }

  PooledPlacement run() {
    for (size_t d = 0; d < devices_.size() && out_.placement.ok(); ++d) {
      Region region = region_of(static_cast<int>(d));
      // A model without tensors has a placement as well.
      if (region.empty() && d > 0) continue;
      std::vector<int> pools = pools_of(devices_[d]);
      for (size_t i = 0; i < pools.size(); ++i) {
        bool last = i + 1 == pools.size();
        Region rest = last ? Region{} : split(region, out_.sizes[at(pools[i])]);
        accept(region, place(region), pools[i]);
        region = std::move(rest);
      }
    }
    for (const Pool& pool : out_.sizes) out_.placement.bytes += pool.bytes;
    return std::move(out_);
  }

 private:
  static size_t at(int i) { return static_cast<size_t>(i); }

  int pool_named(const std::string& name) const {
    for (size_t i = 0; i < out_.sizes.size(); ++i)
      if (out_.sizes[i].name == name) return static_cast<int>(i);
    return -1;
  }

  // Fast ones first, otherwise in the order given.
  std::vector<int> pools_of(const passes::Device& device) const {
    if (!device.pool.empty()) return {pool_named(device.pool)};
    std::vector<int> fast, slow;
    for (size_t i = 0; i < out_.sizes.size(); ++i) {
      bool taken =
          out_.sizes[i].constants || std::any_of(devices_.begin(), devices_.end(),
                                                 [&](const passes::Device& d) { return d.pool == out_.sizes[i].name; });
      if (!taken) (out_.sizes[i].fast ? fast : slow).push_back(static_cast<int>(i));
    }
    fast.insert(fast.end(), slow.begin(), slow.end());
    if (fast.empty()) fast.push_back(0);
    return fast;
  }

  Region region_of(int device) const {
    Region region;
    for (size_t b = 0; b < buffers_.size(); ++b)
      if (buffers_[b].device == device) region.buffers.push_back(static_cast<int>(b));
    for (size_t c = 0; c < calls_.size(); ++c)
      if (calls_[c].device == device && calls_[c].scratch_bytes > 0) region.scratch.insert(static_cast<int>(c));
    return region;
  }

  Placement place(const Region& region) const {
    std::vector<int> local(buffers_.size(), -1);
    std::vector<Buffer> buffers;
    for (int b : region.buffers) {
      local[at(b)] = static_cast<int>(buffers.size());
      buffers.push_back(buffers_[at(b)]);
    }
    std::vector<BufferUse> uses;
    for (size_t c = 0; c < calls_.size(); ++c) {
      const BufferUse& all = calls_[c];
      BufferUse use;
      for (int b : all.buffers)
        if (local[at(b)] >= 0) use.buffers.push_back(local[at(b)]);
      for (const BufferUse::Overlap& o : all.overlaps)
        if (local[at(o.operand)] >= 0 && local[at(o.result)] >= 0)
          use.overlaps.push_back({local[at(o.operand)], local[at(o.result)], o.order});
      if (region.scratch.contains(static_cast<int>(c))) {
        use.scratch_bytes = all.scratch_bytes;
        use.scratch_alignment = all.scratch_alignment;
        const BufferUse::Overlap& o = all.scratch_overlap;
        if (o.order != nullptr && local[at(o.operand)] >= 0) use.scratch_overlap = {local[at(o.operand)], -1, o.order};
      }
      uses.push_back(std::move(use));
    }
    return place_buffers(buffers, uses, overlap_);
  }

  void accept(const Region& region, Placement made, int pool) {
    Placement& all = out_.placement;
    if (!made.ok()) {
      all.too_many_pairs = made.too_many_pairs;
      all.error = made.error;
      return;
    }
    Pool& size = out_.sizes[at(pool)];
    int64_t base = Program::aligned(size.bytes);
    for (size_t i = 0; i < region.buffers.size(); ++i) {
      size_t b = at(region.buffers[i]);
      if (made.offsets[i] >= 0) all.offsets[b] = base + made.offsets[i];
      all.block[b] = region.buffers[at(made.block[i])];
      out_.pools[b] = pool;
    }
    for (int c : region.scratch) {
      all.scratch_offsets[at(c)] = base + made.scratch_offsets[at(c)];
      out_.scratch_pools[at(c)] = pool;
    }
    for (size_t c = 0; c < calls_.size(); ++c) all.live_bytes[c] += made.live_bytes[c];
    if (made.bytes > 0) size.bytes = base + made.bytes;
    all.lower_bound += made.lower_bound;
    all.without_overlap += made.without_overlap;
    all.proven_optimal = all.proven_optimal && made.proven_optimal;
    if (all.method.empty() || made.bytes > 0) all.method = made.method;
  }

  // Takes out of `region` what has to lie elsewhere for the rest to fit the pool: while it does not
  // fit, the buffer at the fullest call that the fewest calls use, of equals the largest.
  Region split(Region& region, const Pool& pool) const {
    Region rest;
    if (pool.limit < 0) return rest;
    int64_t room = std::max<int64_t>(0, pool.limit - Program::aligned(pool.bytes));
    while (!region.empty()) {
      Placement made = place(region);
      if (made.ok() && made.bytes <= room) break;
      if (!evict(region, rest, made, room)) break;
    }
    return rest;
  }

  bool evict(Region& region, Region& rest, const Placement& made, int64_t room) const {
    size_t peak = 0;
    for (size_t c = 1; c < made.live_bytes.size(); ++c)
      if (made.live_bytes[c] > made.live_bytes[peak]) peak = c;
    auto rank = [&](int b) {
      bool hopeless = buffers_[at(b)].bytes > room;
      return std::tuple(!hopeless, uses_of(b), -buffers_[at(b)].bytes);
    };
    auto victim = region.buffers.end();
    for (auto b = region.buffers.begin(); b != region.buffers.end(); ++b) {
      if (buffers_[at(*b)].bytes == 0 || !alive_at(*b, peak)) continue;
      if (victim == region.buffers.end() || rank(*b) < rank(*victim)) victim = b;
    }
    int call = static_cast<int>(peak);
    bool scratch = region.scratch.contains(call);
    if (scratch && (victim == region.buffers.end() || calls_[peak].scratch_bytes > room)) {
      region.scratch.erase(call);
      rest.scratch.insert(call);
      return true;
    }
    if (victim == region.buffers.end()) {
      // Nothing is alive at the peak: the pool is full already.
      rest.buffers.insert(rest.buffers.end(), region.buffers.begin(), region.buffers.end());
      rest.scratch.insert(region.scratch.begin(), region.scratch.end());
      region = {};
      return false;
    }
    rest.buffers.push_back(*victim);
    region.buffers.erase(victim);
    return true;
  }

  int uses_of(int buffer) const {
    int uses = 0;
    for (const BufferUse& use : calls_)
      uses += std::find(use.buffers.begin(), use.buffers.end(), buffer) != use.buffers.end();
    return uses;
  }

  bool alive_at(int buffer, size_t call) const {
    bool before = buffers_[at(buffer)].from_start, behind = buffers_[at(buffer)].to_end;
    for (size_t c = 0; c < calls_.size(); ++c) {
      const auto& used = calls_[c].buffers;
      if (std::find(used.begin(), used.end(), buffer) == used.end()) continue;
      before = before || c <= call;
      behind = behind || c >= call;
    }
    return before && behind;
  }

  const std::vector<Buffer>& buffers_;
  const std::vector<BufferUse>& calls_;
  bool overlap_;
  const std::vector<passes::Device>& devices_;
  PooledPlacement out_;
};

}  // namespace

PooledPlacement place_in_pools(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls, bool overlap,
                               std::vector<Pool> pools, const std::vector<passes::Device>& devices) {
  return PoolPlacer(buffers, calls, overlap, std::move(pools), devices).run();
}

}  // namespace aotc::plan
