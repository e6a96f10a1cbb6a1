// SPDX-License-Identifier: Apache-2.0
// Comparison, hashing and counting of functions. A function is written out as words in which
// variables and buffers are numbered by first appearance; what comparisons ignore (names, comments,
// blocks that only group) is not written.
#include <bit>
#include <set>
#include <unordered_map>
#include <vector>

#include "support/text.h"
#include "tir/tir.h"
#include "tir/uses.h"

namespace aotc::tir {

namespace {

class Words {
 public:
  // `used` (if any) gets every buffer and variable behind its declaration.
  explicit Words(const Function& f, std::unordered_set<const void*>* used = nullptr);
  std::vector<uint64_t> words;
  int64_t nodes = 0;
  std::set<DType> types;  // of buffers and values

 private:
  void put(uint64_t v) { words.push_back(v); }
  // At a declaration: a name that loops share means a new variable in each.
  void put_new(const void* identity) { put(numbers_[identity] = next_++); }
  void put_number(const void* identity) {
    if (used_ != nullptr) used_->insert(identity);
    auto it = numbers_.find(identity);
    if (it == numbers_.end()) {
      put_new(identity);
    } else {
      put(it->second);
    }
  }
  void shape(const Buffer& b);
  void expr(const ExprPtr& e);
  void statement(const StmtPtr& s);
  void body(const StmtPtr& s);

  std::unordered_map<const void*, uint64_t> numbers_;
  uint64_t next_ = 0;
  std::unordered_set<const void*>* used_;
};

constexpr uint64_t kNothing = 0xFFFF;
constexpr uint64_t kEnd = 0xFFFE;
constexpr uint64_t kProgramSpace = 0xFFFD;
constexpr uint64_t kStatement = 0x100;

Words::Words(const Function& f, std::unordered_set<const void*>* used) : used_(used) {
  put(f.params.size());
  for (const BufferPtr& b : f.params) shape(*b);
  body(f.body);
}

void Words::shape(const Buffer& b) {
  put_new(&b);
  types.insert(b.dtype);
  put(static_cast<uint64_t>(b.dtype));
  put(static_cast<uint64_t>(b.role));
  put(static_cast<uint64_t>(b.elements));
  put(static_cast<uint64_t>(b.alignment));
  if (b.space != Space::kData) put(kProgramSpace);
}

void Words::expr(const ExprPtr& e) {
  if (!e) return put(kNothing);
  ++nodes;
  types.insert(e->type);
  put(static_cast<uint64_t>(e->kind) | static_cast<uint64_t>(e->type) << 8);
  switch (e->kind) {
    case ExprKind::kIntImm: return put(static_cast<uint64_t>(static_cast<const IntImm&>(*e).value));
    case ExprKind::kFloatImm:
      return put(std::bit_cast<uint64_t>(static_cast<const FloatImm&>(*e).value));
    case ExprKind::kVar: return put_number(static_cast<const VarRef&>(*e).var.get());
    case ExprKind::kLoad:
      put_number(static_cast<const Load&>(*e).buffer.get());
      return expr(static_cast<const Load&>(*e).index);
    case ExprKind::kAddress:
      put_number(static_cast<const Address&>(*e).buffer.get());
      return expr(static_cast<const Address&>(*e).index);
    case ExprKind::kUnary:
      put(static_cast<uint64_t>(static_cast<const Unary&>(*e).op));
      return expr(static_cast<const Unary&>(*e).value);
    case ExprKind::kBinary: {
      const Binary& b = static_cast<const Binary&>(*e);
      put(static_cast<uint64_t>(b.op) | (b.wrapping ? 0x100 : 0));
      expr(b.lhs);
      return expr(b.rhs);
    }
    case ExprKind::kCast:
      put(static_cast<const Cast&>(*e).wrapping ? 1 : 0);
      return expr(static_cast<const Cast&>(*e).value);
    case ExprKind::kSelect: {
      const Select& s = static_cast<const Select&>(*e);
      expr(s.condition);
      expr(s.if_true);
      return expr(s.if_false);
    }
    case ExprKind::kCall: {
      const Call& c = static_cast<const Call&>(*e);
      put(static_cast<uint64_t>(c.callee) | static_cast<uint64_t>(c.args.size()) << 8);
      for (const ExprPtr& a : c.args) expr(a);
      return;
    }
  }
}

void Words::body(const StmtPtr& s) {
  statement(s);
  put(kEnd);
}

void Words::statement(const StmtPtr& s) {
  if (!s) return put(kNothing);
  if (s->kind == StmtKind::kComment) return;
  if (s->kind == StmtKind::kBlock) {
    for (const StmtPtr& child : static_cast<const Block&>(*s).body) statement(child);
    return;
  }
  ++nodes;
  put(kStatement | static_cast<uint64_t>(s->kind));
  switch (s->kind) {
    case StmtKind::kFor: {
      const For& f = static_cast<const For&>(*s);
      expr(f.begin);
      expr(f.end);
      put_new(f.var.get());
      put(static_cast<uint64_t>(f.step));
      return body(f.body);
    }
    case StmtKind::kIf: {
      const If& i = static_cast<const If&>(*s);
      expr(i.condition);
      body(i.then);
      return body(i.otherwise);
    }
    case StmtKind::kDeclare: {
      const Declare& d = static_cast<const Declare&>(*s);
      expr(d.init);
      put_new(d.var.get());
      put(static_cast<uint64_t>(d.var->dtype) | (d.is_mutable ? 0x100 : 0));
      return;
    }
    case StmtKind::kAssign:
      put_number(static_cast<const Assign&>(*s).var.get());
      return expr(static_cast<const Assign&>(*s).value);
    case StmtKind::kStore: {
      const Store& t = static_cast<const Store&>(*s);
      put_number(t.buffer.get());
      expr(t.index);
      return expr(t.value);
    }
    case StmtKind::kEvaluate: return expr(static_cast<const Evaluate&>(*s).value);
    case StmtKind::kAlloc: return shape(*static_cast<const Alloc&>(*s).buffer);
    case StmtKind::kCallKernel: {
      const CallKernel& c = static_cast<const CallKernel&>(*s);
      put(stable_hash(name_of(*c.kernel)));
      for (const ExprPtr& a : c.args) expr(a);
      return;
    }
    case StmtKind::kBlock:
    case StmtKind::kComment:
    case StmtKind::kFail: return;
  }
}

}  // namespace

bool structurally_equal(const Function& a, const Function& b) {
  return Words(a).words == Words(b).words;
}

uint64_t structural_hash(const Function& function) {
  std::string bytes;
  for (uint64_t w : Words(function).words)
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>((w >> (8 * i)) & 0xFF);
  return stable_hash(bytes);
}

int64_t count_nodes(const Function& function) { return Words(function).nodes; }

bool uses_type(const Function& function, DType type) {
  return Words(function).types.contains(type);
}

std::unordered_set<const void*> used_in(const Function& function) {
  std::unordered_set<const void*> used;
  Words words(function, &used);
  return used;
}

bool can_fail(const StmtPtr& statement) {
  if (!statement) return false;
  switch (statement->kind) {
    case StmtKind::kFail: return true;
    case StmtKind::kFor: return can_fail(static_cast<const For&>(*statement).body);
    case StmtKind::kIf: {
      const If& i = static_cast<const If&>(*statement);
      return can_fail(i.then) || can_fail(i.otherwise);
    }
    case StmtKind::kBlock:
      for (const StmtPtr& child : static_cast<const Block&>(*statement).body)
        if (can_fail(child)) return true;
      return false;
    default: return false;
  }
}

}  // namespace aotc::tir
