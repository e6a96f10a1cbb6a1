// Prints the run function of a model: arguments of every call from the plan, or, for
// MemoryMode::kWorkspace, from TVMBackendAllocWorkspace in LIFO order.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "codegen/c_model.h"

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

// Does the model hold an arena of its own? It is `PREFIX_arena` in PREFIX_data.c.
bool has_own_arena(const plan::Program& program, const CodegenOptions& options);

// The ports that are members of the inputs' (outputs') struct: none if they lie in the arena.
std::vector<graph::Port> struct_ports(const std::vector<graph::Port>& ports,
                                      plan::Contract contract);

class RunPrinter {
 public:
  RunPrinter(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names);

  // The function, and in `calls` the source line of every call (lines start at 1 behind
  // `lines_before`).
  std::string print(int lines_before, nlohmann::ordered_json& calls);

 private:
  void line(const std::string& text);
  void check_arguments();
  void print_call(size_t index, nlohmann::ordered_json& calls);
  void print_trace(size_t index);
  std::string pointer(const plan::Storage& storage, const std::string& arena_pointer) const;
  std::string argument(size_t call, size_t argument) const;
  std::string result_pointer(size_t call, graph::TensorId id) const;
  void open_blocks(size_t call);
  void close_blocks(size_t call);

  const plan::Program& program_;
  const CodegenOptions& options_;
  const ModelFiles& names_;
  std::string p_, up_;
  std::string text_;
  int lines_ = 0;
  bool workspace_ = false;
  std::vector<WorkspaceBlock> blocks_;
  std::vector<size_t> open_;  // stack of open blocks, innermost last
};

}  // namespace aotc::codegen
