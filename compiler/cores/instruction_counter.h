// SPDX-License-Identifier: Apache-2.0
// InstructionCounter counts the instructions of one call of a lowered function (compiler/plan/instructions.h). It
// counts iterations of a loop that differ one by one, with the values of loop variables, up to a limit. Beyond the
// limit, and if data decides, it assumes the longer branch.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cores/code_model.h"
#include "cores/operation_costs.h"
#include "ops/lowering.h"
#include "tir/tir.h"

namespace aotc::cores {

// The form of the kernels that the target's lowerings call.
KernelForm kernels_of(const ops::TargetInfo& target);

class InstructionCounter {
 public:
  using Number = std::optional<double>;

  static constexpr int64_t kMostTurns = int64_t{1} << 21;
  // Iterations of loops that an estimate of cycles for users counts one by one; the middle one stands for all others.
  static constexpr int64_t kTurnsOfEstimate = int64_t{1} << 14;

  // `kernels`: the form in which the target has texts of kernels. `turns`: the most iterations to
  // count one by one.
  InstructionCounter(const OperationCosts& costs, KernelForm kernels, int64_t turns = kMostTurns)
      : c_(costs), kernels_(kernels), turns_left_(turns) {
    if (c_.code) code_.emplace(*c_.code);
  }

  // Sets the table of a parameter.
  void bind(const tir::Buffer* buffer, const ops::Constant* table) { tables_[buffer] = {table, 0}; }
  void set(const tir::Variable* variable, Number value) { values_[variable] = value; }

  // Prepares the code model, if the costs have one, for the statements of a function. run() and turn() get no others.
  void add(const tir::Function& function) {
    if (code_) code_->add(function);
  }
  CodeModel* code() { return code_ ? &*code_ : nullptr; }

  // From now on, the counter computes only values that decide a count: bounds of loops, conditions, arguments of
  // kernels, and lengths of copies. `body` contains every statement that run() and turn() get later.
  void skip_values_that_decide_nothing(const tir::Stmt& body);

  // A statement once; what it declares is known from there on.
  double run(const tir::Stmt& stmt);
  // The value of an integer expression, if tables and variables are known; otherwise nullopt.
  Number value(const tir::Expr& e);
  // One iteration of a loop, with its variable at `at`.
  double turn(const tir::For& s, double at);
  // True if every iteration takes the same instructions.
  bool is_uniform(const tir::For& s);

 private:
  struct Table {
    const ops::Constant* data = nullptr;
    double begin = 0;  // element at which a kernel's parameter begins
  };

  // The branch that an estimate counts of an If whose condition is not known; null: the longer one.
  const tir::Stmt* usual_branch(const tir::If& s);
  double loop(const tir::For& s);
  bool all_alike(const tir::Stmt& stmt, std::unordered_set<const tir::Variable*>& own);
  double kernel(const tir::CallKernel& s);
  double address(const tir::Expr& e);
  double cost(const tir::Expr& e);
  // cost() of an expression of a statement, which is computed only once.
  double cost_once(const tir::Expr& e);
  // True if no value decides what a statement costs.
  bool is_fixed(const tir::Stmt& stmt) const;
  double block(const tir::Block& s);
  // Instructions of a statement itself: of its expressions and its access.
  double own(const tir::Stmt& stmt, const tir::Expr& value);
  // Copies and fills in an expression, by the code model.
  double blocks(const tir::Expr& e);
  double binary(const tir::Binary& e);
  double call(const tir::Call& e);
  Number value_of(const tir::Binary& e);

  const OperationCosts& c_;
  std::optional<CodeModel> code_;
  std::unordered_set<const tir::Kernel*> modelled_;  // kernels whose meanings the code model has
  KernelForm kernels_;
  int64_t turns_left_;   // iterations that may still be counted one by one
  bool exactly_ = true;  // every loop variable around has a value that it has
  std::unordered_map<const tir::Buffer*, Table> tables_;
  std::unordered_map<const tir::Variable*, Number> values_;
  std::unordered_map<const tir::For*, bool> uniform_;
  std::unordered_map<const tir::Expr*, double> costs_;                // negative: the values of variables decide it
  std::unordered_map<const tir::If*, const tir::Stmt*> usual_;        // by usual_branch
  std::optional<std::unordered_set<const tir::Variable*>> deciding_;  // nothing: all variables
  // A block: the cost of its fixed statements (is_fixed), and its other statements.
  struct Parts {
    double fixed = 0;
    std::vector<const tir::Stmt*> others;
  };
  std::unordered_map<const tir::Block*, Parts> blocks_;
  std::unordered_map<std::string, double> counted_;  // calls of kernels, by kernel and arguments
};

// The cost of one call of a lowered operator; 0 if it is unknown.
struct LoweredCost {
  double instructions = 0, cycles = 0;
};
LoweredCost cost_of(const ops::Lowered& lowered, const ops::TargetInfo& target);
// The estimate that users see: whole numbers, those of plan/instructions.h for a call of the function in a program.
LoweredCost estimate_of(const ops::Lowered& lowered, const ops::TargetInfo& target);

}  // namespace aotc::cores
