// SPDX-License-Identifier: Apache-2.0
// Which blocks --memory workspace allocates when, and who lies in them. The one thing to know: blocks
// are a stack, so they are freed in the opposite order of their allocation.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace aotc::codegen {

// What lies in a block of workspace at some time: tensors of the arena's `index`, or the scratch of
// a call; the other is -1.
struct WorkspaceOccupant {
  int tensor_class = -1;
  int scratch_of_call = -1;
  bool operator==(const WorkspaceOccupant&) const = default;
};

// One TVMBackendAllocWorkspace: allocated before call `first`, released behind the first call from
// `last` on at which no later block is open.
struct WorkspaceBlock {
  int64_t bytes = 0;
  int first = 0, last = 0;
  std::vector<WorkspaceOccupant> occupants;  // one after another
};

// In order of allocation. The order of a stack keeps dead blocks allocated below live ones; later
// tensors take those over, so that a chain of layers needs two blocks and not one for each layer.
std::vector<WorkspaceBlock> workspace_blocks(const plan::Program& program);

// Most bytes in use at a time, as the stack allocator of crt/ counts them.
int64_t workspace_bytes(const plan::Program& program);

}  // namespace aotc::codegen
