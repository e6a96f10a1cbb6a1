// SPDX-License-Identifier: Apache-2.0
// Plans the blocks that --memory workspace allocates: their lifetimes and contents. Blocks form a stack, so they are
// freed in the opposite order of their allocation.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace aotc::codegen {

// A buffer in a block: a tensor class (arena tensors that share a buffer) or the scratch buffer of a call. The other
// member is -1.
struct WorkspaceOccupant {
  int tensor_class = -1;
  int scratch_of_call = -1;
  bool operator==(const WorkspaceOccupant&) const = default;
};

// A block from TVMBackendAllocWorkspace. It is allocated before call `first`. It is released after call `last`, or
// later if blocks that were allocated after it are still open.
struct WorkspaceBlock {
  int64_t bytes = 0;
  int first = 0, last = 0;
  std::vector<WorkspaceOccupant> occupants;  // their lifetimes do not overlap
};

// The blocks in order of allocation. The stack keeps a dead block allocated while a later block is live. Later tensors
// reuse such dead blocks, so a chain of layers needs two blocks, not one per layer.
std::vector<WorkspaceBlock> workspace_blocks(const plan::Program& program);

// Peak of allocated bytes, as the stack allocator of crt/ counts them.
int64_t workspace_bytes(const plan::Program& program);

}  // namespace aotc::codegen
