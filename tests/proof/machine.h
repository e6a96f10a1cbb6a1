// SPDX-License-Identifier: Apache-2.0
// Machine: runs the instructions of a kernel's text over unknown data. Isa: what differs between instruction sets,
// which is how instructions are read, their table of effects, and their mutants. An instruction that is not in the
// table is refused.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine_code.h"
#include "memory.h"

namespace aotc::tests::proof {

struct Operand {
  enum class Kind : uint8_t { kRegister, kFloat, kNumber, kShift, kMemory, kList, kFloatList };
  enum class Shift : uint8_t { kLeft, kRightUnsigned, kRight, kRotate };
  Kind kind = Kind::kNumber;
  int reg = -1;          // of a register, or the base of an address
  int index = -1;        // register that an address adds
  bool written = false;  // "!"
  Shift shift = Shift::kLeft;
  int64_t number = 0;  // of a number, an address or a shift
  uint32_t list = 0;   // bit r: register r
  friend bool operator==(const Operand&, const Operand&) = default;
};

struct Instruction {
  int at = 0, bytes = 0;
  std::string name;       // without width, condition and "s"
  size_t code = 0;        // of the name: Isa::set_name
  std::string condition;  // empty: always
  bool sets_flags = false;
  std::vector<Operand> operands;
  std::string text;
};

struct Call {
  std::vector<Term> arguments;        // of the first argument register on
  std::vector<std::string> clobbers;  // registers that may change
  int32_t code = 0, stack = 0;        // regions
  int64_t most_steps = 0;
  bool data_decides = false;  // data may decide which instructions run: both ways are run, and their results selected
};

// Another instruction that is tried in a text: what it leaves in registers is compared with what the text's own
// leaves, and bits that differ become unknown. If the run is still accepted, nothing depends on them.
struct Trial {
  size_t where = 0;
  Instruction other;
  bool same = true;  // all bits of all registers and flags, whenever it ran
};

class Machine;

class Isa {
 public:
  virtual ~Isa() = default;
  virtual CoreName core() const = 0;
  // Lines around a text, for the assembler.
  virtual std::pair<std::string, std::string> frame() const = 0;
  // Throws Failure for an instruction that is not known.
  virtual Instruction read(const MachineCode::Line& line) const = 0;
  // Makes it another instruction with the same operands; false if there is none of this name.
  virtual bool set_name(Instruction& to, const std::string& name) const = 0;
  // Lists of instructions with the same operands.
  virtual const std::vector<std::vector<std::string>>& alike() const = 0;
  virtual std::vector<std::string> conditions() const { return {}; }  // of mutants
  virtual int registers() const = 0;                                  // of operands, for mutants
  // An instruction without an effect, in the place of another one.
  virtual Instruction nothing(const Instruction& at) const = 0;
  virtual std::unique_ptr<Machine> machine(Terms& terms, Memory& memory, const std::vector<Instruction>& text,
                                           const Call& call) const = 0;
};

const Isa& thumb();
const Isa& riscv();

class Machine {
 public:
  Machine(Terms& terms, Memory& memory, const std::vector<Instruction>& text, const Call& call);
  virtual ~Machine() = default;

  // Runs to the end of the text. Throws Failure: an access outside of a region, a change of a register that must stay,
  // too many steps, a trial that stores or jumps otherwise. Throws NeedsKnown where a table decides a branch or an
  // address. Marks the instructions that ran.
  void run(std::vector<bool>* ran = nullptr, int64_t* steps = nullptr, Trial* trial = nullptr);

 protected:
  // What compares of Arm's flags are about: a - b, or a result, whose carry may be known.
  struct Flags {
    enum class Of : uint8_t { kNothing, kDifference, kResult };
    Of of = Of::kNothing;
    Term a = 0, b = 0, carry = -1;
    bool of_bytes = false;
    Term byte_a = 0, byte_b = 0;
    friend bool operator==(const Flags&, const Flags&) = default;
  };
  struct State {
    std::vector<Term> r, s;  // registers, those of floats
    Flags flags;
  };

  // Whether the instruction has its effect: a truth, which may be unknown.
  virtual Term condition_of(const Instruction& i) = 0;
  virtual void execute(const Instruction& i) = 0;
  // Where a branch goes; nullopt for other instructions.
  virtual std::optional<int> target_of(const Instruction& i) const = 0;
  virtual bool is_conditional(const Instruction& i) const = 0;
  // A jump to where a register or memory says.
  virtual bool is_computed_jump(const Instruction& i) const = 0;
  virtual int stack_pointer() const = 0;

  // Registers of the caller, as the clobbers name them.
  void begin(int registers, int floats, int first_argument);
  void may_not_change(int r, const std::string& name) { kept_.emplace_back(r, name); }
  void float_may_not_change(int s, const std::string& name) { kept_floats_.emplace_back(s, name); }

  Term get(int r) const { return now_.r[static_cast<size_t>(r)]; }
  void set(int r, Term v) { now_.r[static_cast<size_t>(r)] = v; }
  Term constant(int64_t v) const { return t_.constant(static_cast<uint32_t>(v)); }
  NeedsKnown needs(Term v) const;
  int64_t known(Term v) const;
  // A truth that decides: constant, or unknown if the call lets data decide. Throws NeedsKnown.
  Term decided(Term truth) const;

  Terms::Address address(Term v, int64_t alignment) const;
  Term load(Term at, int bytes, bool is_signed, int64_t alignment);
  void store(Term at, int bytes, Term v, int64_t alignment);

  static const Operand& operand(const Instruction& i, size_t k);
  static int reg(const Instruction& i, size_t k);
  static int64_t number(const Instruction& i, size_t k);

  Terms& t_;
  Memory& memory_;
  const Call& call_;
  State now_;
  int at_ = 0, next_ = 0;

 private:
  struct Stored {
    int32_t region;
    int64_t offset;
    int bytes;
    Term value;
  };

  void run_from(int at, int end);
  void step(const Instruction& i);
  void branch_both_ways(const Instruction& i, Term condition);
  void join(Term condition, const State& taken, const State& other);
  const std::vector<int>& joins();
  void compare(const Instruction& own, Trial& trial);
  int next_after(const Instruction& own, int behind);
  void store_both(const std::vector<Stored>& others, Trial& trial);
  bool forget_difference(Term& to, Term other);
  void check_end() const;
  int end() const { return text_.empty() ? 0 : text_.back().at + text_.back().bytes; }
  // An unknown value that the caller has in a register: its address is none.
  Term unknown(int number) { return t_.operation(Operation::kBase, {}, {-1 - number, 0}); }

  const std::vector<Instruction>& text_;
  std::unordered_map<int, size_t> index_;
  State first_;
  std::vector<std::pair<int, std::string>> kept_, kept_floats_;
  std::vector<int> joins_;  // of each instruction: where all ways from it meet; -1: nowhere
  std::vector<bool>* ran_ = nullptr;
  Trial* trial_ = nullptr;
  int64_t count_ = 0;
  int ways_ = 0;                // that data chooses, around the present instruction
  std::vector<Stored> stored_;  // by the present instruction
  bool dry_ = false;            // stores are only noted
};

}  // namespace aotc::tests::proof
