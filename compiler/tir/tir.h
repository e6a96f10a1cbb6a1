// SPDX-License-Identifier: Apache-2.0
// TIR: the IR in which the algorithm of every operator is stated, as loop nests over flat buffers. Nodes are immutable
// and shared. A Variable or Buffer is identified by its pointer; its name is only a hint. If i32 arithmetic overflows,
// the interpreter traps, unless the node is marked as wrapping. Elements of type i8, u8, i16, u16 and bool are loaded
// as i32, and their range is checked when a value is stored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "support/dtype.h"
#include "support/result.h"

namespace aotc::tir {

// ---------------------------------------------------------------- buffers and variables

enum class Role : uint8_t {
  kInput,     // parameter, read only
  kConstant,  // parameter, read only: a table that the compiler prepared, such as weights
  kOutput,    // parameter, written; may also be read
  kScratch,   // parameter, contents undefined on entry
  kLocal,     // array on the stack, declared inside the function by Alloc
};

// The address space of a buffer. On Harvard machines (AVR), tables are in program memory, which loads and memcpy access
// with special instructions. The interpreter ignores the space, because results do not depend on it.
enum class Space : uint8_t { kData, kProgram };

// A flat array of `elements` elements.
struct Buffer {
  std::string name;
  DType dtype = DType::kI8;
  int64_t elements = 0;
  Role role = Role::kLocal;
  int alignment = 1;           // guaranteed alignment of the first element in bytes
  Space space = Space::kData;  // kProgram only for parameters that are only read
};
using BufferPtr = std::shared_ptr<const Buffer>;

struct Variable {
  std::string name;
  DType dtype = DType::kI32;
};
using VarPtr = std::shared_ptr<const Variable>;

// The type to which a load converts an element of type `t`: small integers and bool become i32.
constexpr DType promoted(DType t) {
  switch (t) {
    case DType::kBool:
    case DType::kI8:
    case DType::kU8:
    case DType::kI16:
    case DType::kU16: return DType::kI32;
    default: return t;
  }
}

// ---------------------------------------------------------------- expressions

// All kinds of expressions; macros generate other lists of kinds from this one. Each node lists its parts once, in its
// function `fields`. For each part, in order of evaluation, `fields` calls one of these functions of its argument f:
//   f.expr(ExprPtr), f.stmt(StmtPtr)          a part, which may be null if the node permits it
//   f.use(VarPtr), f.define(VarPtr)           a variable that is read or assigned; one whose scope begins here
//   f.buffer(BufferPtr), f.allocate(BufferPtr)  a buffer that is accessed; one whose scope begins here
//   f.kernel(KernelPtr)                       a kernel that is called
//   f.value(x)                                a number or an operator
// tir/visit.h uses `fields` to walk, compare and rewrite functions.
#define AOTC_TIR_EXPRESSIONS(X) \
  X(IntImm) X(FloatImm) X(VarRef) X(Load) X(Unary) X(Binary) X(Cast) X(Select) X(Call) X(Address)

#define AOTC_TIR_KIND(name) k##name,
enum class ExprKind : uint8_t { AOTC_TIR_EXPRESSIONS(AOTC_TIR_KIND) };

enum class UnaryOp : uint8_t { kNeg, kLogicalNot, kBitNot };

// Comparisons and logical operators return i32 0 or 1. kDiv and kMod truncate as in C. kShr is arithmetic on signed
// types, and shift amounts are in [0, width). On floats, kMin is (a < b ? a : b) and kMax is (a > b ? a : b). kAnd and
// kOr evaluate both operands.
enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kMin,
  kMax,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShl,
  kShr,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr
};

// Functions that a Call may name. Only Evaluate may call kMemcpy and kMemset; all other functions are scalar and pure.
enum class Intrinsic : uint8_t {
  kExp,
  kLog,
  kTanh,
  kSqrt,
  kFloor,
  kCeil,
  kRound /* half away from zero */,
  kAbs,
  kErf,
  kSin,
  kCos,
  kPow,
  kRoundToEven,
  // (to: Address, from: Address, bytes: i32); the ranges must not overlap
  kMemcpy,
  // (to: Address, byte value: i32, bytes: i32)
  kMemset,
  // kFloatBits: the bits of an f32 as i32; kFloatFromBits: the inverse
  kFloatBits,
  kFloatFromBits,
  // Returns an i32 unchanged. C compilers cannot look through this call, so they cannot reorder sums around it.
  kKeep,
  // As kKeep, and C compilers cannot move any other work across the call. Without this, gcc moves the loads of many
  // steps together and runs out of registers.
  kFence,
  // For floats: kFmod is the exact remainder of a truncated division; kErfc is 1 - erf(x) and kExpm1 is exp(x) - 1,
  // without cancellation.
  kFmod,
  kErfc,
  kExpm1,
  // The angle of the point (x, y), with operands y and x.
  kAtan2,
};

struct Expr {
  ExprKind kind;
  DType type;
  virtual ~Expr() = default;

 protected:
  Expr(ExprKind k, DType t) : kind(k), type(t) {}
};
using ExprPtr = std::shared_ptr<const Expr>;

struct IntImm final : Expr {
  int64_t value;
  IntImm(DType t, int64_t v) : Expr(ExprKind::kIntImm, t), value(v) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.value);
  }
};
struct FloatImm final : Expr {
  double value;  // exactly representable in `type`
  FloatImm(DType t, double v) : Expr(ExprKind::kFloatImm, t), value(v) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.value);
  }
};
struct VarRef final : Expr {
  VarPtr var;
  explicit VarRef(VarPtr v) : Expr(ExprKind::kVarRef, v->dtype), var(std::move(v)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.use(n.var);
  }
};
// buffer[index]; type is promoted(buffer->dtype).
struct Load final : Expr {
  BufferPtr buffer;
  ExprPtr index;
  Load(BufferPtr b, ExprPtr i) : Expr(ExprKind::kLoad, promoted(b->dtype)), buffer(std::move(b)), index(std::move(i)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.buffer(n.buffer);
    f.expr(n.index);
  }
};
struct Unary final : Expr {
  UnaryOp op;
  ExprPtr value;
  Unary(UnaryOp o, ExprPtr v) : Expr(ExprKind::kUnary, v->type), op(o), value(std::move(v)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.op);
    f.expr(n.value);
  }
};
// Both operands have the same type, shift amounts included. The result also has this type, except for comparisons.
struct Binary final : Expr {
  BinaryOp op;
  ExprPtr lhs;
  ExprPtr rhs;
  bool wrapping;
  Binary(BinaryOp o, DType t, ExprPtr l, ExprPtr r, bool w)
      : Expr(ExprKind::kBinary, t), op(o), lhs(std::move(l)), rhs(std::move(r)), wrapping(w) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.op);
    f.value(n.wrapping);
    f.expr(n.lhs);
    f.expr(n.rhs);
  }
};
// A cast from integer to integer traps if the value is out of range, unless it wraps. A cast from float to integer
// truncates, and traps if the value is out of range. A cast to a small type (such as i8) may only be the value of a
// Store or the operand of a cast to i32.
struct Cast final : Expr {
  ExprPtr value;
  bool wrapping;
  Cast(DType t, ExprPtr v, bool w) : Expr(ExprKind::kCast, t), value(std::move(v)), wrapping(w) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.wrapping);
    f.expr(n.value);
  }
};
// Evaluates the condition and then only the chosen side.
struct Select final : Expr {
  ExprPtr condition;
  ExprPtr if_true;
  ExprPtr if_false;
  Select(ExprPtr c, ExprPtr a, ExprPtr b)
      : Expr(ExprKind::kSelect, a->type), condition(std::move(c)), if_true(std::move(a)), if_false(std::move(b)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.expr(n.condition);
    f.expr(n.if_true);
    f.expr(n.if_false);
  }
};
struct Call final : Expr {
  Intrinsic callee;
  std::vector<ExprPtr> args;
  Call(Intrinsic c, DType t, std::vector<ExprPtr> a) : Expr(ExprKind::kCall, t), callee(c), args(std::move(a)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.callee);
    for (auto& arg : n.args) f.expr(arg);
  }
};
// &buffer[index]; allowed only as an argument of kMemcpy, kMemset and kernels.
struct Address final : Expr {
  BufferPtr buffer;
  ExprPtr index;
  Address(BufferPtr b, ExprPtr i) : Expr(ExprKind::kAddress, DType::kI32), buffer(std::move(b)), index(std::move(i)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.buffer(n.buffer);
    f.expr(n.index);
  }
};

// ---------------------------------------------------------------- statements

#define AOTC_TIR_STATEMENTS(X) \
  X(For) X(If) X(Declare) X(Assign) X(Store) X(Evaluate) X(Block) X(Alloc) X(Comment) X(CallKernel) X(Fail) X(Trace)

enum class StmtKind : uint8_t { AOTC_TIR_STATEMENTS(AOTC_TIR_KIND) };
#undef AOTC_TIR_KIND

struct Stmt {
  StmtKind kind;
  virtual ~Stmt() = default;

 protected:
  explicit Stmt(StmtKind k) : kind(k) {}
};
using StmtPtr = std::shared_ptr<const Stmt>;

// for (var = begin; var < end; var += step) body; var is i32 and constant in the body, step > 0.
struct For final : Stmt {
  VarPtr var;
  ExprPtr begin;
  ExprPtr end;
  int64_t step;
  StmtPtr body;
  For(VarPtr v, ExprPtr b, ExprPtr e, int64_t s, StmtPtr body_)
      : Stmt(StmtKind::kFor),
        var(std::move(v)),
        begin(std::move(b)),
        end(std::move(e)),
        step(s),
        body(std::move(body_)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.step);
    f.expr(n.begin);
    f.expr(n.end);
    f.define(n.var);
    f.stmt(n.body);
  }
};
struct If final : Stmt {
  ExprPtr condition;
  StmtPtr then;
  StmtPtr otherwise;  // may be null
  If(ExprPtr c, StmtPtr t, StmtPtr o)
      : Stmt(StmtKind::kIf), condition(std::move(c)), then(std::move(t)), otherwise(std::move(o)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.expr(n.condition);
    f.stmt(n.then);
    f.stmt(n.otherwise);
  }
};
// Declares a variable that is visible to the end of the enclosing block. If `is_mutable` is false ("let"), it is never
// assigned.
struct Declare final : Stmt {
  VarPtr var;
  ExprPtr init;
  bool is_mutable;
  Declare(VarPtr v, ExprPtr i, bool m)
      : Stmt(StmtKind::kDeclare), var(std::move(v)), init(std::move(i)), is_mutable(m) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.is_mutable);
    f.expr(n.init);
    f.define(n.var);
  }
};
struct Assign final : Stmt {
  VarPtr var;
  ExprPtr value;
  Assign(VarPtr v, ExprPtr e) : Stmt(StmtKind::kAssign), var(std::move(v)), value(std::move(e)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.use(n.var);
    f.expr(n.value);
  }
};
// buffer[index] = value. `value` has the promoted element type, or is a Cast to the element type.
struct Store final : Stmt {
  BufferPtr buffer;
  ExprPtr index;
  ExprPtr value;
  Store(BufferPtr b, ExprPtr i, ExprPtr v)
      : Stmt(StmtKind::kStore), buffer(std::move(b)), index(std::move(i)), value(std::move(v)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.buffer(n.buffer);
    f.expr(n.index);
    f.expr(n.value);
  }
};
struct Evaluate final : Stmt {
  ExprPtr value;
  explicit Evaluate(ExprPtr v) : Stmt(StmtKind::kEvaluate), value(std::move(v)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.expr(n.value);
  }
};
struct Block final : Stmt {
  std::vector<StmtPtr> body;
  explicit Block(std::vector<StmtPtr> b) : Stmt(StmtKind::kBlock), body(std::move(b)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    for (auto& s : n.body) f.stmt(s);
  }
};
// Declares a local array (role kLocal) that is visible to the end of the enclosing block. Its contents are undefined.
struct Alloc final : Stmt {
  BufferPtr buffer;
  explicit Alloc(BufferPtr b) : Stmt(StmtKind::kAlloc), buffer(std::move(b)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.allocate(n.buffer);
  }
};
struct Comment final : Stmt {
  std::string text;
  explicit Comment(std::string t) : Stmt(StmtKind::kComment), text(std::move(t)) {}

  template <typename Node, typename F>
  static void fields(Node&, F&&) {}
};

// A microkernel: an inner loop for which compiler/cores has assembly on some CPUs. Kernels with equal `family` and
// `parameters` are the same. `meaning` defines the effect: an implementation must write the same bytes.
struct Function;
struct Kernel {
  std::string family;
  std::vector<std::pair<std::string, int64_t>> parameters;
  // Its parameters are buffers, whose `elements` are unspecified (0), and then scalars; at most four in total.
  std::shared_ptr<const Function> meaning;
};
using KernelPtr = std::shared_ptr<const Kernel>;

// Runs a kernel. Arguments: an Address for each buffer parameter of its meaning (with an equal element type), then an
// i32 for each scalar.
struct CallKernel final : Stmt {
  KernelPtr kernel;
  std::vector<ExprPtr> args;
  CallKernel(KernelPtr k, std::vector<ExprPtr> a)
      : Stmt(StmtKind::kCallKernel), kernel(std::move(k)), args(std::move(a)) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.kernel(n.kernel);
    for (auto& arg : n.args) f.expr(arg);
  }
};

// Ends the function because the input data is outside of the operator's domain. The run of the model then returns
// kFailStatus, and its results are undefined. Not allowed in a kernel's meaning.
struct Fail final : Stmt {
  Fail() : Stmt(StmtKind::kFail) {}

  template <typename Node, typename F>
  static void fields(Node&, F&&) {}
};
inline constexpr int kFailStatus = -3;

// Passes `bytes` bytes from an address on to the trace hook. They are the next part of a result that is never
// materialised as a whole. A Trace changes nothing. Not allowed in a kernel's meaning.
struct Trace final : Stmt {
  int64_t result;  // index of the result in the operator call for which the function was built
  ExprPtr from;    // an Address
  int64_t bytes;
  Trace(int64_t r, ExprPtr f, int64_t b) : Stmt(StmtKind::kTrace), result(r), from(std::move(f)), bytes(b) {}

  template <typename Node, typename F>
  static void fields(Node& n, F&& f) {
    f.value(n.result);
    f.expr(n.from);
    f.value(n.bytes);
  }
};

// ---------------------------------------------------------------- functions

// A function with its parameters in call order: buffers of role kOutput, kInput, kConstant and kScratch. Inputs and
// outputs do not overlap, unless the memory plan relies on the write order that the function declares.
struct Function {
  std::string name;
  std::vector<BufferPtr> params;
  StmtPtr body;                      // a Block
  std::vector<VarPtr> scalars = {};  // i32 parameters after the buffers; only in a kernel's meaning
};
using FunctionPtr = std::shared_ptr<const Function>;

// ---------------------------------------------------------------- text, checks, execution

// Prints and parses the text form (docs/ir.md). `print` makes names unique; print(parse(print(f))) == print(f).
std::string print(const Function& function);
Result<FunctionPtr> parse(const std::string& text, const std::string& file, Diagnostics& diags);

// Checks a function: types match; variables and buffers are declared before use and in scope; immutable variables
// (let), inputs and constant tables are not written; constant divisors and shift amounts are valid. Also checks that
// accesses are inside their buffers, if interval analysis of loop variables and conditions can decide it. Reports
// [tir-invalid].
Status verify(const Function& function, Diagnostics& diags);

// True if both functions have equal parameters and equal statements; names of variables, buffers and functions are
// ignored.
bool structurally_equal(const Function& a, const Function& b);
uint64_t structural_hash(const Function& function);

// The memory of one parameter: exactly elements * element size bytes. The host must be little endian.
struct Memory {
  uint8_t* data = nullptr;
  int64_t bytes = 0;
};

// Is called for each access to the memory of a parameter during an execution. `offset`: in bytes from the start of the
// parameter.
class AccessObserver {
 public:
  virtual ~AccessObserver() = default;
  virtual void on_read(int param, int64_t offset, int64_t bytes) = 0;
  virtual void on_write(int param, int64_t offset, int64_t bytes) = 0;
};

// Runs the function on the host. `memory` has one entry for each parameter. A trap is reported as [tir-trap] with the
// text of the statement. Traps are: an access out of range, overflow without wrapping, a stored value that does not fit
// its element, division by zero, and reading an undefined element of a local array.
Status interpret(const Function& function, const std::vector<Memory>& memory, Diagnostics& diags,
                 AccessObserver* observer = nullptr);

// Returns the function with every kernel call replaced by the kernel's meaning; the function itself if it calls no
// kernel.
FunctionPtr inline_kernels(const FunctionPtr& function);

// Returns each kernel that a function calls once, in the order of first calls. Kernels that another kernel calls
// precede it.
std::vector<KernelPtr> kernels_of(const Function& function);

// Returns a unique name of the kernel: "gemm_pairs_4_2". Equal kernels have equal names.
std::string name_of(const Kernel& kernel);

// Returns the number of nodes of the function, for cost estimates.
int64_t count_nodes(const Function& function);

// True if the function has a parameter, local, variable or value of this type.
bool uses_type(const Function& function, DType type);

// True if the statement contains a Fail.
bool can_fail(const StmtPtr& statement);

}  // namespace aotc::tir
