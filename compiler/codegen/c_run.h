// SPDX-License-Identifier: Apache-2.0
// Prints the run function of a model. The function calls the operators in the selected calling convention, and the
// hooks of devices other than the host. Arguments get their memory from the plan or, for MemoryMode::kWorkspace, from
// TVMBackendAllocWorkspace in LIFO order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "codegen/c_layout.h"
#include "codegen/c_model.h"
#include "codegen/c_packed.h"
#include "codegen/c_places.h"
#include "codegen/c_slices.h"
#include "codegen/workspace.h"
#include "plan/repeats.h"

namespace aotc::codegen {

// Names that all files of the run function use.
using passes::Device;
using passes::Launch;
using plan::Program;
using plan::ProgramCall;
using plan::ProgramFunction;
using plan::Storage;
using plan::StorageKind;

// True if the model has its own arena: `PREFIX_arena` in PREFIX_data.c.
bool has_own_arena(const plan::Program& program, const CodegenOptions& options);

// The name of the arena that the model owns, or that the models of a program share.
std::string arena_name(const CodegenOptions& options);

// True if the caller passes several pools in a struct instead of one arena.
bool has_pools(const plan::Program& program);

// The devices whose context the caller passes, as indices into Program::devices.
std::vector<int> context_devices(const plan::Program& program);

// The ports (inputs or outputs of the model) that are members of struct PREFIX_inputs (PREFIX_outputs). Empty if the
// ports are stored in the arena.
std::vector<graph::Port> struct_ports(const std::vector<graph::Port>& ports, plan::Contract contract);

// "int32_t PREFIX_run(const struct PREFIX_inputs *inputs, ...)", without ';'.
std::string run_prototype(const plan::Program& program, const std::string& prefix);

// True if the run function, an included header or, with `slices`, a step function declares `symbol`. A user-supplied
// function must not have such a name.
bool is_taken(const std::string& symbol, const plan::Program& program, bool slices);

// C definitions that test the alignment of the caller's pointers; empty if all alignments are 1.
std::string alignment_definitions(const plan::Program& program, const std::string& prefix);

// True if repeated calls are printed as loops. This needs the plain calling convention and static memory. The calls of
// each loop must also be divided into equal bands (parts of a call), and run on the host.
bool prints_loops(const plan::Program& program, const CodegenOptions& options);
// True if the printed loops read arguments from lists: static tables with a row for each iteration.
bool reads_lists(const plan::Program& program, const CodegenOptions& options);
// The helper functions that read numbers of several bytes from the rows of these lists.
std::string row_helpers(const plan::Program& program, const CodegenOptions& options);

// Prototypes of the hooks TVMDevice<Name>... that the run function calls.
std::string hook_declarations(const plan::Program& program);

// The device whose Copy hook does this copy between devices; -1 if a function does it, or if the call is no copy.
int copying_device(const plan::Program& program, const plan::ProgramCall& call);
// True if the function is called; false if hooks do its work.
bool is_called(const plan::Program& program, const plan::ProgramFunction& function);

// The title of a call in comments: "CONV_2D 'name'"; the name is escaped, and cut after `longest` characters.
std::string operator_title(const plan::Program& program, const plan::ProgramCall& call, size_t longest = 100);

class RunPrinter {
 public:
  RunPrinter(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names,
             const TensorTable& tensors, const PlaceNames& places);

  // Returns the run function, and adds every call with its source line to `calls`. `lines_before`: number of lines in
  // the source before the function.
  std::string print(int lines_before, nlohmann::ordered_json& calls);

  // The lists from which the loops read their operands, as static tables at file scope. Code with slices needs this
  // scope, because the run function and PREFIX_step both read the lists. Without slices, the lists are inside the run
  // function (c_repeat.cpp).
  std::string print_lists();

  // PREFIX_begin and PREFIX_step (c_slices.cpp). Each needs a RunPrinter of its own. `calls`: see `print`.
  std::string print_begin();
  std::string print_step(int lines_before, nlohmann::ordered_json& calls);

  // PREFIX_row and PREFIX_feed (c_feed.cpp).
  std::string print_row();
  std::string print_feed(int lines_before, nlohmann::ordered_json& calls);

 private:
  // A resource that the run function must release: the label to jump to after a failure, and the C call that releases
  // the resource.
  struct Held {
    std::string label, release;
    int waits_for = -1;  // the device to wait for, instead of calling `release`; -1: none
    bool jumped_to = false;
  };

  void line(const std::string& text);
  size_t width() const { return kCColumns - 4 * static_cast<size_t>(depth_); }  // columns of text at this depth
  void declare_locals();
  void declare_memory();
  void declare_call_locals();
  void check_arguments();
  void open_devices();
  void close_everything();
  std::string fail();  // the C statement that leaves the function after a failed call
  void fail_if_status(const std::string& indent = "    ");
  void print_steps(const std::vector<plan::ProgramStep>& steps, nlohmann::ordered_json& calls);
  void print_repeat(const plan::ProgramStep& step, nlohmann::ordered_json& calls);
  void print_lists(const std::string& indent);
  std::string list_name(const char* what) const;
  void print_columns(const std::string& indent, bool places, bool tables, bool rows);
  std::string row_value(const plan::RepeatLayout::Packed::Entry& entry) const;
  std::string row_table(size_t number, size_t argument) const;
  void print_row_tables(size_t number);
  std::string type_of_tables() const;
  std::string entry(const char* row, size_t column, bool wide) const;
  std::string table_of_row(size_t column) const;
  void print_turn(const Slice& slice);
  void print_repeated_call(size_t number, std::vector<nlohmann::ordered_json>& entries);
  std::string repeated_argument(size_t call, size_t argument) const;
  nlohmann::ordered_json call_entry(size_t index) const;
  void forget_locals();
  void print_call(size_t index, nlohmann::ordered_json& calls);
  void print_call_itself(size_t index, nlohmann::ordered_json& calls);
  std::string condition(const plan::Storage& storage) const;
  void print_direct_call(size_t index);
  void print_packed_call(size_t index);
  std::string tensor_for(size_t call, size_t argument, const std::string& local);
  void print_copy(size_t index);
  void print_trace(size_t index);
  std::string trace_index(size_t index) const;
  // Waits for pending work of devices whose tensors the call accesses.
  void sync_for(size_t index);
  void sync(int device);
  std::string local_name(int device) const;
  bool uses_context(int device) const;
  std::string local_prefix(int device) const;
  std::string context(int device) const;
  std::string base(int pool) const;
  std::string pointer(const plan::Storage& storage, size_t call = 0) const;
  bool may_fail(size_t call) const { return may_fail_[call]; }  // false: the function of the call returns void
  std::string argument(size_t call, size_t argument) const;
  std::string result_pointer(size_t call, graph::TensorId id) const;
  void open_blocks(size_t call);
  void close_blocks(size_t call);
  std::string begin_body();
  std::string step_cases(const std::vector<Slice>& slices, nlohmann::ordered_json& calls);
  void print_events(const std::string& from, const std::string& to);
  void begin_rows();
  void check_context();
  std::string finish_feed(std::string body, int lines_before, nlohmann::ordered_json& calls);
  void print_slice_of_rows();
  void print_period();
  std::string print_run_by_rows();
  // The extra arguments of a call that can run in parts: the begin and end of the part as "from0", "to0" ..., or
  // numbers for the whole call.
  std::vector<std::string> band_arguments(size_t call) const;
  void print_band(size_t call);
  void print_next_band(size_t call);
  bool in_parts(size_t call) const;
  void step_locals(const std::string& cases);
  void step_end();
  // Stores the status of a failed run in the context.
  void keep_failure(const std::string& indent);
  bool closes(int device) const;  // true if the device has hooks for the end of a run
  // Slices launch synchronously, because the time of the next slice is unknown.
  passes::Launch launch_of(int device) const;
  void list(const std::string& head, const std::vector<std::string>& arguments);

  const plan::Program& program_;
  const std::vector<int> parts_ = plan::parts_of(program_.graph);  // by operator
  const CodegenOptions& options_;
  const ModelFiles& names_;
  const TensorTable& tensors_;
  const PlaceNames& places_;
  std::string p_, up_;
  std::string text_;
  int lines_ = 0;
  int depth_ = 0;  // nesting of branches and loops around the printed code
  bool workspace_ = false;
  bool sliced_ = false;
  std::vector<bool> may_fail_;  // by call
  bool has_status_ = false;     // true if any part of a run can fail
  std::vector<WorkspaceBlock> blocks_;
  std::vector<size_t> open_;    // stack of open blocks, innermost last
  std::vector<Held> held_;      // innermost last
  std::vector<int> under_way_;  // by device: the launched call that the host has not awaited, or -1
  bool jumps_to_done_ = false;
  bool feeding_ = false;  // the function is PREFIX_feed
  bool jumps_to_failed_ = false;
  // The loop that is being printed, and the index of its first call.
  const plan::RepeatLayout* repeat_ = nullptr;
  size_t repeat_first_ = 0;
  const char* turn() const { return sliced_ ? "context->turn" : "turn"; }
  // The present contents of the local arrays of tensors and arguments, by prefix of the arrays' names. A call reuses a
  // tensor whose contents match.
  struct Locals {
    size_t most = 0;                   // maximal number of tensors
    std::vector<std::string> tensors;  // each: "INDEX ADDRESS", from PREFIX_tensors[INDEX]
    std::vector<size_t> used;          // by tensor: the last call that used it
    std::vector<std::string> args;
  };
  std::map<std::string, Locals> locals_;
};

}  // namespace aotc::codegen
