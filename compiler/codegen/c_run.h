// Prints the run function of a model: arguments of every call from the plan, or, for
// MemoryMode::kWorkspace, from TVMBackendAllocWorkspace in LIFO order.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "codegen/c_model.h"

namespace aotc::codegen {

class RunPrinter {
 public:
  RunPrinter(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names);

  // The function, and in `calls` the source line of every call (lines start at 1 behind
  // `lines_before`).
  std::string print(int lines_before, nlohmann::ordered_json& calls);

 private:
  // A buffer of the workspace mode: a tensor class or a scratch, from its first to its last call.
  struct Block {
    int64_t arena_offset = 0;
    int64_t bytes = 0;
    int first = 0, last = 0;
    int call = -1;  // scratch of this call, else a tensor class
  };

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
  std::vector<Block> blocks_;
  std::vector<size_t> open_;  // stack of open blocks, innermost last
};

// Most bytes that the workspace mode has allocated at a time.
int64_t workspace_bytes(const plan::Program& program);

}  // namespace aotc::codegen
