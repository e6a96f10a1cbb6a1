// SPDX-License-Identifier: Apache-2.0
// What lowering produces and the builder operators use for it. A lowered operator is a TIR function
// whose parameters are bound to the operator's operands and results, to constants the compiler
// packed, and to scratch. The one thing to know: everything that differs between equal-shaped
// operators must be a constant parameter, not an immediate, wherever that costs nothing, because
// operators with structurally equal functions share one C function.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/schedule.h"
#include "support/calling_convention.h"
#include "support/kernel_form.h"
#include "tir/builder.h"

namespace aotc::ops {

struct OpView;
struct Lowered;
struct TargetLowering;

// What the code is to be good at. kSize shares and loops where kSpeed specialises and unrolls.
enum class Level : uint8_t { kSize, kBalanced, kSpeed };

// Which resource to save where there is a trade-off: -O and --prefer.
struct Goal {
  Level level = Level::kBalanced;
  bool prefer_ram = false;  // where a faster algorithm needs more RAM, take the one that needs less

  bool spends_ram() const { return !prefer_ram; }
  // A faster algorithm may need more RAM, code and tables.
  bool spends_memory() const { return level != Level::kSize && spends_ram(); }
  bool operator==(const Goal&) const = default;
};

// All goals: the levels from size to speed with the preference of `first`, then with the other preference.
std::vector<Goal> goals_from(const Goal& first);

// A core's assembly of the microkernel for three pixels in two words (ops/common/triple_kernel.h), if it has one.
struct TripleText {
  std::string_view family;
  int64_t channels = 1;     // made at a time
  int64_t most_unroll = 4;  // steps that may be written out, a multiple of 4
  bool flipped = false;     // takes bytes of weights with their top bit flipped
  bool many = false;        // takes more than one segment
  std::string_view pack;    // the family of the text that fills its panel (ops/common/triple_pack.h)
  int64_t most_packed = 1;  // elements that it may write out
};

// What lowering may know of the CPU and of what is wanted. compiler/cores fills it from a board.
constexpr double kInstructionsPerByte = 50;

struct TargetInfo : Goal {
  std::string name = "generic";
  std::string_view family;  // of compiler/cores, if one knows the instruction set
  int registers = 12;       // general registers a compiler can hold loop state in
  bool fpu = false;
  bool fp64 = true;         // C's double has 64 bits
  bool narrow_int = false;  // C's int has 16 bits
  // Tables are in a program memory that takes instructions of its own to read.
  bool harvard = false;
  int64_t program_reach = 0;     // harvard: bytes that 16-bit addresses reach, less what others need
  int64_t largest_object = 0;    // bytes of the largest array that C has there; 0: any
  bool unaligned_words = false;  // loads and stores of words at any address
  int gemm_pixels = 2;           // block of output pixels x output channels in convolutions
  int gemm_channels = 2;
  int gemm_unroll = 4;   // steps of the inner loop written out
  int multiply_add = 1;  // instructions that add the product of two words to a third
  // Products of three pixels in two words: channels at a time, 0 where that is not done.
  int triple_channels = 0;
  int triple_unroll = 4;
  TripleText triple_kernel;
  bool fence_steps = false;      // compilers move the loads of unrolled steps too far
  bool quad_units = false;       // products of one row in words of four units' weights
  std::string_view quad_kernel;  // the family of the core's text of it (ops/common/quad_kernel.h)
  KernelForm kernel_form = KernelForm::kAssembly;
  bool vector_bytes = false;  // vectors multiply bytes: weights of 4 bits are worth a byte each
  bool vector_floats = false;  // vectors of float32
  // What the target knows to do better than the operators themselves, in the order in which it is asked.
  std::shared_ptr<const std::vector<TargetLowering>> lowerings;
  Costs costs;  // in instructions: what the cost model goes by
  // Instructions of a run that each further byte of flash must save, except at Level::kSpeed.
  double instructions_per_byte = kInstructionsPerByte;
  // The operator, if the function makes only rows of its result, and how often a run calls the function.
  const OpView* whole = nullptr;
  double calls = 1;
  const Schedule* asked = nullptr;  // what a schedules file asks for the operator being lowered
  int64_t slice = 0;                // instructions that a part of a call may take; 0: calls are not divided

  // Kernels are the target's text of them, where it has one.
  bool has_assembly() const {
    return kernel_form == KernelForm::kAssembly && (lowerings || !triple_kernel.family.empty());
  }
  // True if kernels are C that calls intrinsics.
  bool calls_intrinsics() const { return kernel_form == KernelForm::kIntrinsics && lowerings; }
  bool asks_for(std::string_view algorithm) const { return asked && asked->algorithm == algorithm; }
  // The algorithm is not ruled out by what was asked.
  bool allows(std::string_view algorithm) const {
    return !asked || asked->algorithm.empty() || asked->algorithm == algorithm;
  }
  // The number that was asked for, between `least` and `most`, or else the one chosen.
  int64_t wish(const std::string& number, int64_t chosen, int64_t least, int64_t most) const {
    auto found = asked ? asked->numbers.find(number) : std::map<std::string, int64_t>::const_iterator();
    if (!asked || found == asked->numbers.end()) return chosen;
    return std::clamp(found->second, least, std::max(least, most));
  }
};

// A lowering of one operator that a target brings along (compiler/cores/family.h). The results are those of
// the operator's own.
struct TargetLowering {
  std::string_view op;  // "conv_2d"
  int priority = 0;     // of those that apply the highest is asked first, and the operator itself last
  bool (*applies)(const OpView& op, const TargetInfo& target);
  // Nothing where its kernels do not fit after all.
  std::optional<Lowered> (*lower)(const OpView& op, const TargetInfo& target);
};

// The operator's code for the target: that of the first of its lowerings that gives one, else the operator's own.
// Of operators with a lowering that were verified; not of views.
Lowered lower(const OpView& op, const TargetInfo& target);

enum class ArgKind : uint8_t { kOperand, kResult, kConstant, kScratch };
struct Arg {
  ArgKind kind;
  int index;         // operand, result or constants index; 0 for scratch (a function has at most one)
  int operand = -1;  // of a constant that is an operand's bytes as they are: which
};

// A function that the user's sources define. The lowered TIR function then is a prototype: it has
// the parameters and no statement.
struct ExternalFunction {
  std::string symbol;
  CallingConvention convention = CallingConvention::kPacked;  // not kRegistry
  bool context = false;  // plain and unpacked: a last parameter `void *context` of the device
  bool flatten = false;  // packed: tensors are passed with one dimension
  bool operator==(const ExternalFunction&) const = default;
};

// A table the compiler made. Bytes are little endian.
struct Constant {
  std::string name;  // hint: "weights", "bias"
  DType dtype = DType::kI8;
  std::vector<uint8_t> bytes;
  int alignment = 4;
};

// The order in which a function reads an operand and writes its last result, for planners that let
// the two share bytes. All in bytes from the start of the tensor.
struct WriteOrder {
  // Lowerings publish none that would be longer: a plan for tensors this large would cost more memory
  // than sharing saves.
  static constexpr int64_t kMostSteps = 1 << 16;
  struct Step {
    int64_t read_begin = 0, read_end = 0;    // empty if equal
    int64_t write_begin = 0, write_end = 0;  // empty if equal
  };
  int operand = 0;
  // Steps run one after the other; within a step reads and writes come in any order. Together they
  // cover every access. Empty: nothing is known but `in_place`.
  std::vector<Step> steps;
  // The result may begin exactly where the operand does, if it is not larger: no byte is read after
  // the result's byte at the same place was written.
  bool in_place = false;
};

struct Lowered {
  tir::FunctionPtr function;
  std::optional<ExternalFunction> external;
  std::vector<Arg> args;  // one per parameter of the function
  std::vector<Constant> constants;
  int64_t scratch_bytes = 0;
  int scratch_alignment = 1;
  Schedule schedule;
  std::vector<WriteOrder> write_orders;
};

// How units of work that do not depend on each other are done: `size` at a time, and the `rest` behind them.
struct Turns {
  int64_t size = 0, whole = 0, rest = 0;
};
// All at once, unless calls are divided and these units, of so many instructions each, would take most of a part: then
// in turns that are a fourth of a part, of a multiple of `group` units.
Turns turns_of(int64_t units, double each, const TargetInfo& target, int64_t group = 1);

// FunctionBuilder plus the bookkeeping of arguments. Operands that are constants in the graph become
// constant parameters with their bytes as they are.
class LoweringBuilder : public tir::FunctionBuilder {
 public:
  LoweringBuilder(const OpView& op, std::string name);

  tir::BufferPtr operand(size_t i);
  // One of so many equal pieces of an operand that is no constant.
  tir::BufferPtr piece(size_t i, int64_t pieces);
  tir::BufferPtr result(size_t i = 0);
  template <typename T>
  tir::BufferPtr constant(const std::string& name, DType type, const std::vector<T>& values, int alignment = 4) {
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return constant_bytes(name, type, std::move(bytes), alignment);
  }
  tir::BufferPtr constant_bytes(const std::string& name, DType type, std::vector<uint8_t> bytes, int alignment = 4);
  // At most one per function.
  tir::BufferPtr scratch(const std::string& name, DType type, int64_t elements, int alignment = 4);
  void publish(WriteOrder order) { lowered_.write_orders.push_back(std::move(order)); }
  // The result may replace operand i byte for byte.
  void publish_in_place(int operand) { publish({operand, {}, true}); }
  // The function is not made here: it has this symbol, and the parameters declared so far.
  void external(ExternalFunction function) { lowered_.external = std::move(function); }
  // Does what `body` does for so many units from `first` on, turn after turn.
  void take_turns(const Turns& turns, const std::function<void(tir::Ex first, int64_t units)>& body);
  // What the schedule is: recorded, printed by reports, and what --schedules may ask for.
  void algorithm(std::string name) { lowered_.schedule.algorithm = std::move(name); }
  // The way is faster than another by so many instructions of a run, and takes so many more bytes of tables.
  void buys_flash(double more_bytes, double saved_instructions) {
    lowered_.schedule.more_bytes = more_bytes;
    lowered_.schedule.saved_instructions = saved_instructions;
  }
  void choice(const std::string& name, int64_t value) { lowered_.schedule.numbers[name] = value; }
  // What the cost model expects of a run of the function.
  void estimate(const Work& work, const TargetInfo& target) { lowered_.schedule.instructions = target.costs.of(work); }
  // `note`: what else a report should say of how the operator was lowered.
  Lowered finish(std::string note = "");

 private:
  // What the view shows, so that the view may be a temporary.
  const graph::Graph& graph_;
  const graph::Op& op_;
  Lowered lowered_;
};

}  // namespace aotc::ops
