// SPDX-License-Identifier: Apache-2.0
// Plans the blocks that --memory workspace allocates: their lifetimes and contents. Blocks form a stack, so they are
// freed in the opposite order of their allocation.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace aotc::codegen {

// A user of a block: the tensor `index` of the arena, or the scratch buffer of a call; the other is -1.
struct WorkspaceOccupant {
  int tensor_class = -1;
  int scratch_of_call = -1;
  bool operator==(const WorkspaceOccupant&) const = default;
};

// One TVMBackendAllocWorkspace: allocated before call `first`, released after the first call from `last` on at which no
// later block is open.
struct WorkspaceBlock {
  int64_t bytes = 0;
  int first = 0, last = 0;
  std::vector<WorkspaceOccupant> occupants;  // sequential in time
};

// In order of allocation. The stack keeps dead blocks below live ones allocated; later tensors reuse those, so that a
// chain of layers needs two blocks, not one per layer.
std::vector<WorkspaceBlock> workspace_blocks(const plan::Program& program);

// Peak of allocated bytes, as the stack allocator of crt/ counts them.
int64_t workspace_bytes(const plan::Program& program);

}  // namespace aotc::codegen
