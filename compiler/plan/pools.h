// SPDX-License-Identifier: Apache-2.0
// Places buffers and scratch in several pools: each device has a region of its own, so that no byte
// ever serves two devices, and a device that may use several pools has what is used most in the first
// of them as far as it fits. The one thing to know: within a region it is place_buffers that packs.
#pragma once

#include <string>
#include <vector>

#include "plan/placement.h"
#include "plan/program.h"

namespace aotc::plan {

struct PooledPlacement {
  Placement placement;             // offsets from the start of the pool
  std::vector<int> pools;          // by buffer
  std::vector<int> scratch_pools;  // by call
  std::vector<Pool> sizes;         // the pools with the bytes they need
};

// `devices` by index of Buffer::device and BufferUse::device; a pool that one of them names is only
// for those that name it, and is added if it is not among `pools`. `pools` may be empty: one arena.
PooledPlacement place_in_pools(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls, bool overlap,
                               std::vector<Pool> pools, const std::vector<passes::Device>& devices);

}  // namespace aotc::plan
