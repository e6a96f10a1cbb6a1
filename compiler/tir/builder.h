// SPDX-License-Identifier: Apache-2.0
// FunctionBuilder: constructs TIR functions from C++ code that reads like the algorithm. `Ex` is an expression, and its
// operators fold constants. Both operands of an operator must have the same type (an assertion checks this). Integer
// literals are i32; `cast` converts other types.
//
//   FunctionBuilder f("relu");
//   BufferPtr in = f.input("in", DType::kF32, n), out = f.output("out", DType::kF32, n);
//   f.loop("i", 0, n, [&](Ex i) { f.store(out, i, max(load(in, i), f32(0))); });
//   return f.finish();
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tir/tir.h"

namespace aotc::tir {

class Ex {
 public:
  Ex() = default;
  Ex(ExprPtr e) : e_(std::move(e)) {}         // NOLINT(google-explicit-constructor)
  Ex(int64_t v);                              // NOLINT(google-explicit-constructor): an i32 constant
  Ex(int v) : Ex(static_cast<int64_t>(v)) {}  // NOLINT(google-explicit-constructor)

  const ExprPtr& ptr() const { return e_; }
  DType type() const { return e_->type; }
  // True for an integer constant; stores its value in `*value`.
  bool is_imm(int64_t* value = nullptr) const;

 private:
  ExprPtr e_;
};

Ex i64(int64_t v);
Ex f32(float v);
Ex f64(double v);
Ex imm(DType type, int64_t v);
Ex var_ref(VarPtr v);

Ex operator+(const Ex& a, const Ex& b);
Ex operator-(const Ex& a, const Ex& b);
Ex operator*(const Ex& a, const Ex& b);
Ex operator/(const Ex& a, const Ex& b);
Ex operator%(const Ex& a, const Ex& b);
Ex operator-(const Ex& a);
Ex operator<<(const Ex& a, const Ex& b);
Ex operator>>(const Ex& a, const Ex& b);
Ex operator<(const Ex& a, const Ex& b);
Ex operator<=(const Ex& a, const Ex& b);
Ex operator>(const Ex& a, const Ex& b);
Ex operator>=(const Ex& a, const Ex& b);
Ex operator==(const Ex& a, const Ex& b);
Ex operator!=(const Ex& a, const Ex& b);
Ex operator&&(const Ex& a, const Ex& b);  // evaluates both operands
Ex operator||(const Ex& a, const Ex& b);
Ex operator&(const Ex& a, const Ex& b);
Ex operator|(const Ex& a, const Ex& b);
Ex operator^(const Ex& a, const Ex& b);
Ex min(const Ex& a, const Ex& b);
Ex max(const Ex& a, const Ex& b);
Ex add_wrapping(const Ex& a, const Ex& b);
Ex sub_wrapping(const Ex& a, const Ex& b);
Ex mul_wrapping(const Ex& a, const Ex& b);
Ex shl_wrapping(const Ex& a, const Ex& b);
Ex select(const Ex& condition, const Ex& if_true, const Ex& if_false);
Ex cast(DType type, const Ex& value);
Ex cast_wrapping(DType type, const Ex& value);
Ex call(Intrinsic callee, DType type, std::vector<Ex> args);
Ex load(const BufferPtr& buffer, const Ex& index);
Ex address(const BufferPtr& buffer, const Ex& index);
inline Ex clamp(const Ex& v, const Ex& lo, const Ex& hi) { return min(max(v, lo), hi); }

class FunctionBuilder {
 public:
  explicit FunctionBuilder(std::string name);

  BufferPtr input(std::string name, DType type, int64_t elements);
  BufferPtr output(std::string name, DType type, int64_t elements);
  BufferPtr constant(std::string name, DType type, int64_t elements, int alignment = 4);
  BufferPtr scratch(std::string name, DType type, int64_t elements, int alignment = 4);
  BufferPtr local(std::string name, DType type, int64_t elements);

  using Body = std::function<void()>;
  // Appends a loop from `begin` to `end` (exclusive). A loop with one iteration is replaced by its body; a loop without
  // iterations is omitted.
  void loop(const std::string& name, const Ex& begin, const Ex& end, const std::function<void(Ex)>& body,
            int64_t step = 1);
  void if_(const Ex& condition, const Body& then, const Body& otherwise = nullptr);
  // Stores a value in an immutable variable, and returns the variable. Constants and immutable variables are returned
  // unchanged; a mutable variable is copied.
  Ex let(const std::string& name, const Ex& value);
  // Declares a mutable variable.
  Ex var(const std::string& name, const Ex& init);
  void assign(const Ex& variable, const Ex& value);
  void store(const BufferPtr& buffer, const Ex& index, const Ex& value);
  void copy(const BufferPtr& to, const Ex& to_index, const BufferPtr& from, const Ex& from_index,
            int64_t elements);                                                        // memcpy; equal element types
  void fill_bytes(const BufferPtr& to, const Ex& index, int byte, int64_t elements);  // memset
  void comment(std::string text);
  void fail();
  void trace(int64_t result, const BufferPtr& from, const Ex& index, int64_t elements);
  // Calls a kernel. `args`: an address for each buffer parameter of Kernel::meaning, then an i32 value for each scalar.
  void run(const KernelPtr& kernel, const std::vector<Ex>& args);
  // Adds an i32 parameter; only for a function that becomes the meaning of a kernel.
  Ex scalar(const std::string& name);
  FunctionPtr finish();
  // Returns a kernel whose meaning is the function under construction.
  KernelPtr finish_kernel(std::string family, std::vector<std::pair<std::string, int64_t>> parameters);

 private:
  BufferPtr param(std::string name, DType type, int64_t elements, Role role, int alignment);
  void emit(StmtPtr stmt) { blocks_.back().push_back(std::move(stmt)); }
  StmtPtr collect(const Body& body);

  std::string name_;
  std::vector<BufferPtr> params_;
  std::vector<VarPtr> scalars_;
  std::vector<std::vector<StmtPtr>> blocks_;
  std::set<const Variable*> mutable_;
};

}  // namespace aotc::tir
