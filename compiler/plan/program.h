// SPDX-License-Identifier: Apache-2.0
// A program: the graph with everything decided that the C printer needs. Every operator is lowered,
// every tensor has a place, every call its arguments. Built by `plan_program`, printed by codegen,
// run on the host by `run_program` (the TIR interpreter over one arena, the second opinion).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/lowering.h"
#include "passes/devices.h"
#include "plan/model_schedule.h"
#include "plan/packing.h"
#include "plan/windows.h"

namespace aotc::plan {

enum class StorageKind : uint8_t {
  kNone,    // nobody needs it
  kArena,   // at `offset` in a pool (the arena, unless pools were asked for); tensors of equal `index` are one buffer,
            // -1 is scratch
  kInput,   // the caller's buffer of graph input `index`
  kOutput,  // the caller's buffer of graph output `index`
  kConstant,  // constant `index` of the program
  kState,     // at `offset` in the memory that lives from run to run: state `index` of the graph
};

struct Storage {
  StorageKind kind = StorageKind::kNone;
  int index = -1;
  int64_t offset = 0;  // bytes from the start of its pool
  int pool = 0;        // kArena: into Program::pools; kConstant: the pool of constants, -1 for none
  bool operator==(const Storage&) const = default;
};

// A table in flash. Equal tables are stored once.
struct ProgramConstant {
  std::string name;   // hint for the C name
  int op_index = -1;  // first operator that uses it, in the graph's order; -1: graph output
  ops::Constant data;
  int64_t offset = 0;  // in the pool of constants, if there is one
};

struct CallArgument {
  Storage storage;
  DType dtype = DType::kI8;
  int64_t elements = 0;
  graph::Shape shape;  // the tensor's; of tables and scratch one dimension
};

// One call of the run function.
struct ProgramCall {
  int device = 0;
  int op_index = -1;                    // into graph.ops; -1: a copy the plan added
  int function = -1;                    // into functions
  std::vector<CallArgument> arguments;  // one per parameter
  int64_t scratch_offset = -1;          // in scratch_pool
  int scratch_pool = 0;
  int64_t scratch_bytes = 0;
  ops::Schedule schedule;
  std::vector<graph::TensorId> results;
  // Of operators that are computed row by row (plan/segments.h) before the last, whose results these are: nowhere in
  // memory as a whole. Traced a row at a time, as results of the call behind those above.
  std::vector<graph::TensorId> rows;
  graph::TensorId rows_of;  // what the first of those operators reads
  bool by_rows = false;     // a segment, which has no such operator if it is fed and has one
};

// Of a program whose caller gives the input a row at a time: how its first call, a segment, is done
// in parts. In the program the call copies the rows from the input as a whole; `part` finds each in
// its slot.
struct Feeding {
  int call = 0;
  // The call's function without its first parameter, the input, for the events [from0, to0).
  tir::FunctionPtr part;
  // By row: its first event, which is behind the one that makes room for it; behind the last row
  // how many events there are. What stands in front of the first row's is done when a run begins.
  std::vector<int64_t> begins;
  bool prepares = false;       // is anything of that more than nothing?
  std::vector<int64_t> slots;  // by row: where it goes, in rows from `place` on
  Storage place;
  int64_t row_bytes = 0;
  // Rows that are frames in time and go on for ever: behind the first rows() come `period` more, again and again, and
  // every `step` of them there is a result. 0: a run ends with its last row.
  int64_t period = 0, step = 1;
  int64_t kept_bytes = 0;  // of the arena that are kept between frames
  // The last rows of the input that nobody reads are not fed.
  int64_t rows() const { return static_cast<int64_t>(slots.size()) - period; }
};

// A list of segments that was tried.
struct StreamTried {
  int64_t arena_bytes = 0;
  double percent = 0;
};

// What runs when: calls one after the other, and blocks of them.
struct ProgramStep {
  enum class Kind : uint8_t {
    kCall,
    kBranch,  // blocks[0] if the condition is true, else blocks[1]
    kLoop,    // blocks[0], and while the condition is then true blocks[1] and again
    kRepeat,  // all blocks one after the other: of each the same calls, in other places (plan/repeats.h)
  };
  Kind kind = Kind::kCall;
  int call = -1;
  Storage condition;         // a bool of one byte
  int condition_index = -1;  // of the planner
  int64_t trip_count = -1;   // kLoop: how often blocks[1] runs; -1: only a run of the model decides
  std::vector<std::vector<ProgramStep>> blocks;
};

struct ProgramFunction {
  tir::FunctionPtr body;   // of an external function: only its parameters
  std::vector<int> calls;  // indices of the calls that share it
  bool merged = false;     // made of functions of several sizes; what numbers differ is the last parameter
  int device = 0;          // functions of two devices are never shared
  std::optional<ops::ExternalFunction> external;
};

// Memory that the caller gives to the run function.
struct Pool {
  std::string name;        // a C identifier; "arena" if no pools were asked for
  int64_t limit = -1;      // bytes there are; -1: as many as needed
  bool fast = false;       // what is used most goes here
  bool constants = false;  // holds the tables and nothing else: the caller fills it once
  int64_t bytes = 0;       // bytes needed: by the plan
};

// Who has the memory of the model's inputs (or outputs).
enum class Contract : uint8_t {
  kPreserve,   // the caller: its buffers are only read (or written)
  kOverwrite,  // the arena: an input may be overwritten after its last reader, an output is valid
               // until the next run
};

struct Program {
  // Without regions: the operators of branches and loops are among the others.
  graph::Graph graph;
  std::shared_ptr<const graph::Graph> source;  // with regions, if it had any
  std::vector<int> flat_ops;                   // by the index that evaluate_graph counts with: that in `graph`, or -1
  // What computes the same as the program.
  const graph::Graph& reference() const { return source ? *source : graph; }
  std::vector<Storage> tensors;  // by tensor id
  Contract input_contract = Contract::kPreserve, output_contract = Contract::kPreserve;
  std::vector<Storage> inputs, outputs;  // by port: kArena, or kInput and kOutput if preserved
  std::vector<Storage> states;           // by state of the graph
  std::vector<int> initial_values;       // by state: the table it begins with, -1: all bytes are equal
  int64_t state_bytes = 0;
  ModelSchedule schedule;       // the program's own: planned again with it, the graph gives the same program
  std::vector<Window> windows;  // of states
  std::vector<ProgramConstant> constants;
  std::vector<ProgramFunction> functions;
  std::vector<ProgramCall> calls;  // in the order in which they stand in the run function
  std::vector<ProgramStep> body;   // which of them run when
  std::optional<Feeding> feeding;
  std::vector<passes::Device> devices;  // the host first
  const passes::Device& device_of(int index) const { return devices[static_cast<size_t>(index)]; }
  std::vector<Pool> pools;       // at least one
  int constant_pool = -1;        // -1: tables are data of the program
  bool constants_apart = false;  // that pool is no memory of the caller: the program finds it by itself
  bool program_tables = false;   // tables are in program memory (tir::Space::kProgram)
  int64_t arena_bytes = 0;       // of all pools
  int64_t arena_lower_bound = 0;
  bool arena_proven_optimal = false;
  // Of plans with other segments that were tried: their arenas, and the percent of instructions that they take more
  // than the one without any, or than that of the fed rows alone.
  std::vector<StreamTried> stream_tried;
  std::string arena_method;
  int64_t arena_without_overlap = 0;  // what the same program needs with no shared bytes
  std::vector<int64_t> live_bytes;    // per call: arena bytes in use
  static constexpr int64_t kArenaAlignment = 16;
  static constexpr int64_t aligned(int64_t bytes) {
    return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  }
};

// Operators as segments of rows (plan/segments.h): never, where that costs next to nothing, or where the arena is
// smaller at any price; or the input's rows are frames that go on for ever (`feed`).
enum class Stream : uint8_t { kOff, kAuto, kMax, kTime };

struct Streaming {
  Stream mode = Stream::kOff;
  int most = 4;  // of kAuto: at most this many percent more instructions

  // True if so many percent more instructions are not too many.
  bool allows(double percent) const { return mode == Stream::kMax || percent <= most; }
  bool operator==(const Streaming& other) const {
    return mode == other.mode && (mode != Stream::kAuto || most == other.most);
  }
};

// A pass of the planner.
struct PlanPass {
  const char* name;
  const char* reason;  // one line: why it is at its place
};
// All passes, in their order.
std::vector<PlanPass> plan_passes();

struct PlanOptions {
  ops::TargetInfo target;
  Streaming stream;
  // Order, windows and segments, whatever they cost; nullopt: `plan_program` searches for them.
  std::optional<Arrangement> arrangement = {};
  // Receives the time of each pass, for every arrangement that is planned.
  std::function<void(const PlanPass& pass, std::chrono::nanoseconds time)> timed = {};
  bool feed = false;  // the caller gives the input by rows: the first operators are a segment
                      // (Program::feeding)
  Contract inputs = Contract::kPreserve;
  Contract outputs = Contract::kPreserve;
  bool program_tables = false;   // tables in program memory, for targets that are `harvard`
  bool overlap = true;           // results may be written over operands that die, where it is safe
  int merge_at_least = 3;        // how many functions that differ only in numbers become one; 0: never
  bool repeats = true;           // calls that come again and again become repeats, where that is smaller
  std::vector<Pool> pools = {};  // empty: one arena without limit
  bool constants_apart = false;  // the pool of constants is none of the caller's
  passes::DeviceSet devices = {};
  ops::Schedules schedules = {};  // asked for
};

// What a level asks for.
int merge_at_least(ops::Level level);

// Facts of a plan that lead to better ones.
struct PlanHints {
  std::optional<std::vector<int>> order;  // an order of the operators that may need a smaller arena
};

// Lowers the operators, shares equal functions and constants, and places tensors and scratch, all as `schedule` says;
// `schedules` and `arrangement` of the options are ignored. The graph must have passed ops::verify_graph. Reports
// [schedule-unknown-op], [schedule-impossible] and [arrangement-impossible] for what the graph cannot have,
// [rows-impossible] if the input cannot be fed by rows, [arena-too-large], the errors of spaces.h, and internal errors
// of the packer. `hints` may be null.
Result<Program> plan_schedule(graph::Graph graph, const ModelSchedule& schedule, const PlanOptions& options,
                              Diagnostics& diags, PlanHints* hints = nullptr);

// The program with the least memory that the options allow: a search (plan/search.cpp) over arrangements, or
// `plan_schedule` with the arrangement of the options. Reports the errors of `plan_schedule`, and [time-impossible] if
// the input's rows cannot be frames in time.
Result<Program> plan_program(graph::Graph graph, const PlanOptions& options, Diagnostics& diags);

// Runs the program in the TIR interpreter over one arena filled with garbage. `inputs` in graph
// order. `state` has Program::state_bytes and is kept from run to run; null: a first run. `on_result`
// (if any) sees every call's results as they are written. Reports [loop-endless] when loops have made
// kMostIterations together, and what the interpreter does.
inline constexpr int64_t kMostIterations = int64_t{1} << 16;
Result<std::vector<std::vector<uint8_t>>> run_program(
    const Program& program, const std::vector<std::vector<uint8_t>>& inputs, Diagnostics& diags,
    const std::function<void(int call, int result, std::span<const uint8_t>)>& on_result = nullptr,
    std::vector<uint8_t>* state = nullptr);

// The memory of a program's states before the first run; bytes between them are 0.
std::vector<uint8_t> initial_state(const Program& program);

}  // namespace aotc::plan
