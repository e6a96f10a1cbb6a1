// SPDX-License-Identifier: Apache-2.0
// TIR: loop nests over flat buffers, the form in which every operator's algorithm is stated. Nodes are immutable and
// shared; a Var or Buffer is identified by its pointer, names are hints. i32 arithmetic that overflows traps in the
// interpreter unless the node is marked wrapping; i8/u8/i16/u16/bool are loaded into i32 to compute and range-checked
// on store.
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
  kConstant,  // parameter, read only: a table that the compiler packed
  kOutput,    // parameter, written (may also be read back)
  kScratch,   // parameter, contents undefined on entry
  kLocal,     // Alloc inside the function: on the stack
};

// The memory of the bytes. On Harvard machines tables are in program memory, which loads and memcpy access with special
// instructions; the result is the same, so the interpreter ignores it.
enum class Space : uint8_t { kData, kProgram };

// A flat array of `elements` addressable elements.
struct Buffer {
  std::string name;
  DType dtype = DType::kI8;
  int64_t elements = 0;
  Role role = Role::kLocal;
  int alignment = 1;           // bytes, guaranteed for the first element
  Space space = Space::kData;  // kProgram: of parameters that are only read
};
using BufferPtr = std::shared_ptr<const Buffer>;

struct Variable {
  std::string name;
  DType dtype = DType::kI32;
};
using VarPtr = std::shared_ptr<const Variable>;

// The type of a loaded element of type `t`: small integers and bool become i32.
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

// Every kind of expression; other lists of kinds are generated from this one. A node lists its parts once, in `fields`,
// which calls for each part, in order of evaluation,
//   f.expr(ExprPtr), f.stmt(StmtPtr)          a part, which may be null if the node permits it
//   f.use(VarPtr), f.define(VarPtr)           a variable that is read or assigned; one whose scope begins here
//   f.buffer(BufferPtr), f.allocate(BufferPtr)  a buffer that is accessed; one whose scope begins here
//   f.kernel(KernelPtr)                       a kernel that is called
//   f.value(x)                                a number or an operator
// tir/visit.h walks, compares and rewrites functions with it.
#define AOTC_TIR_EXPRESSIONS(X) \
  X(IntImm) X(FloatImm) X(VarRef) X(Load) X(Unary) X(Binary) X(Cast) X(Select) X(Call) X(Address)

#define AOTC_TIR_KIND(name) k##name,
enum class ExprKind : uint8_t { AOTC_TIR_EXPRESSIONS(AOTC_TIR_KIND) };

enum class UnaryOp : uint8_t { kNeg, kLogicalNot, kBitNot };

// Comparisons and logical operators give i32 0 or 1. kDiv and kMod truncate as C's; kShr is
// arithmetic on signed types; shifts take amounts in [0, width). kMin/kMax of floats follow
// (a < b ? a : b) and (a > b ? a : b). Logical and/or evaluate both sides.
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

// Functions that a Call may name. Scalar ones are pure; kMemcpy and kMemset are for Evaluate only.
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
  // Returns an i32 unchanged. C compilers cannot look through it, so they cannot reorder sums.
  kKeep,
  // As kKeep, and C compilers cannot move other work across it. Without it, gcc moves the loads of many steps together
  // and runs out of registers.
  kFence,
  // For floats: the remainder of a truncated division, which is exact; 1 - erf(x) and exp(x) - 1 without cancellation.
  kFmod,
  kErfc,
  kExpm1,
  // The angle of a point (y, x).
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
// Both sides have the same type (shift amounts too). The result has that type, except for comparisons.
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
// Integer to integer traps if the value is out of range, unless wrapping. Float to integer truncates, and traps if the
// value is out of range. A cast to a small type (i8 etc.) is allowed only directly under a Store or a Cast to i32.
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
// Evaluates only the chosen side.
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
// &buffer[index], only as an argument of kMemcpy, kMemset and kernels.
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
// A variable visible to the end of the enclosing block. Not `is_mutable`: "let", never assigned.
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
// buffer[index] = value; value's type is the promoted element type (or a Cast to the element type).
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
// A local array (role kLocal) visible to the end of the enclosing block, contents undefined.
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

// A microkernel: an inner loop that compiler/cores has in assembly for some CPUs. `family` and `parameters` identify
// it: kernels that agree in both are the same. `meaning` defines its effect; an implementation must leave the same
// bytes.
struct Function;
struct Kernel {
  std::string family;
  std::vector<std::pair<std::string, int64_t>> parameters;
  // Parameters are buffers whose `elements` are unspecified (0), then scalars; at most four together.
  std::shared_ptr<const Function> meaning;
};
using KernelPtr = std::shared_ptr<const Kernel>;

// Runs the kernel. Arguments: an Address for each buffer of the meaning (element types agree), then an i32 for each
// scalar.
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

// Ends the function with a failure: its data is outside of the operator's domain. The run of the model returns
// kFailStatus, and the results are undefined. Not allowed in a kernel's meaning.
struct Fail final : Stmt {
  Fail() : Stmt(StmtKind::kFail) {}

  template <typename Node, typename F>
  static void fields(Node&, F&&) {}
};
inline constexpr int kFailStatus = -3;

// Reports `bytes` from an address on to the trace hook: the next part of a result that is never materialised as a
// whole. Changes nothing. Not allowed in a kernel's meaning.
struct Trace final : Stmt {
  int64_t result;  // index of the result of the call for which the function is made
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

// Parameters in call order; buffers of role kOutput, kInput, kConstant, kScratch. Inputs and outputs of a function do
// not overlap, unless the plan relies on the function's declared write order.
struct Function {
  std::string name;
  std::vector<BufferPtr> params;
  StmtPtr body;                      // a Block
  std::vector<VarPtr> scalars = {};  // i32 parameters after the buffers; only for a kernel's meaning
};
using FunctionPtr = std::shared_ptr<const Function>;

// ---------------------------------------------------------------- text, checks, execution

// Text form (docs/ir.md). print(parse(print(f))) == print(f). Names are made unique by printing.
std::string print(const Function& function);
Result<FunctionPtr> parse(const std::string& text, const std::string& file, Diagnostics& diags);

// Types agree, variables and buffers are declared before use and in scope, lets are not assigned,
// input and constant buffers are not stored to, divisors and shifts are legal where constant, and
// every access that interval analysis of loop variables and If conditions can decide is inside its
// buffer. Reports [tir-invalid].
Status verify(const Function& function, Diagnostics& diags);

// True for the same behaviour and parameters, whatever the names of variables, buffers and the function.
bool structurally_equal(const Function& a, const Function& b);
uint64_t structural_hash(const Function& function);

// The memory of one parameter of a call: exactly elements * size bytes, little endian host.
struct Memory {
  uint8_t* data = nullptr;
  int64_t bytes = 0;
};

// Observes memory accesses of an execution, for example for shadow memory. Byte offsets into the parameter.
class AccessObserver {
 public:
  virtual ~AccessObserver() = default;
  virtual void on_read(int param, int64_t offset, int64_t bytes) = 0;
  virtual void on_write(int param, int64_t offset, int64_t bytes) = 0;
};

// Runs the function on the host. Traps (out-of-range access, overflow that is not marked, a value that does not fit its
// store, division by zero, read of an undefined local element) are reported as [tir-trap] with the statement's text.
// `memory` has one entry per parameter.
Status interpret(const Function& function, const std::vector<Memory>& memory, Diagnostics& diags,
                 AccessObserver* observer = nullptr);

// The function with every kernel call replaced by the kernel's meaning; the function itself if it has no kernel calls.
FunctionPtr inline_kernels(const FunctionPtr& function);

// The kernels that a function calls, each once, in order of first call; kernels that a kernel calls precede it.
std::vector<KernelPtr> kernels_of(const Function& function);

// "gemm_pairs_4_2": equal for equal kernels, different for different ones.
std::string name_of(const Kernel& kernel);

// Number of nodes, for cost estimates; nothing is run.
int64_t count_nodes(const Function& function);

// True if the function has a parameter, local, variable or value of this type.
bool uses_type(const Function& function, DType type);

// True if it contains a Fail.
bool can_fail(const StmtPtr& statement);

}  // namespace aotc::tir
