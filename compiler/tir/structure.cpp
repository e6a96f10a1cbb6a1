// SPDX-License-Identifier: Apache-2.0
// Comparison, hashing and counting of functions. A function is written out as words in which
// variables and buffers are numbered by first appearance; what comparisons ignore (names, comments,
// blocks that only group) is not written.
#include <bit>
#include <set>
#include <unordered_map>
#include <vector>

#include "support/text.h"
#include "tir/uses.h"
#include "tir/visit.h"

namespace aotc::tir {

namespace {

class Words {
 public:
  // `used` (if any) gets every buffer and variable behind its declaration.
  explicit Words(const Function& f, std::unordered_set<const void*>* used = nullptr);
  std::vector<uint64_t> words;
  int64_t nodes = 0;
  std::set<DType> types;  // of buffers and values

  // What a node consists of.
  void expr(const ExprPtr& e);
  void stmt(const StmtPtr& s) {
    statement(s);
    put(kEnd);
  }
  void use(const VarPtr& v) { put_number(v.get()); }
  void define(const VarPtr& v) {
    put_new(v.get());
    put(static_cast<uint64_t>(v->dtype));
  }
  void buffer(const BufferPtr& b) { put_number(b.get()); }
  void allocate(const BufferPtr& b) { shape(*b); }
  void kernel(const KernelPtr& k) { put(stable_hash(name_of(*k))); }
  void value(double v) { put(std::bit_cast<uint64_t>(v)); }
  template <typename T>
  void value(T v) {
    put(static_cast<uint64_t>(v));
  }

 private:
  static constexpr uint64_t kNothing = 0xFFFF;
  static constexpr uint64_t kEnd = 0xFFFE;
  static constexpr uint64_t kProgramSpace = 0xFFFD;
  static constexpr uint64_t kStatement = 0x100;

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
  void statement(const StmtPtr& s);

  std::unordered_map<const void*, uint64_t> numbers_;
  uint64_t next_ = 0;
  std::unordered_set<const void*>* used_;
};

Words::Words(const Function& f, std::unordered_set<const void*>* used) : used_(used) {
  put(f.params.size());
  for (const BufferPtr& b : f.params) shape(*b);
  stmt(f.body);
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
  // Only these have as many parts as they like.
  if (e->kind == ExprKind::kCall) put(static_cast<const Call&>(*e).args.size());
  visit(*e, [&](const auto& n) { std::decay_t<decltype(n)>::fields(n, *this); });
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
  visit(*s, [&](const auto& n) { std::decay_t<decltype(n)>::fields(n, *this); });
}

}  // namespace

bool structurally_equal(const Function& a, const Function& b) { return Words(a).words == Words(b).words; }

uint64_t structural_hash(const Function& function) {
  std::string bytes;
  for (uint64_t w : Words(function).words)
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>((w >> (8 * i)) & 0xFF);
  return stable_hash(bytes);
}

int64_t count_nodes(const Function& function) { return Words(function).nodes; }

bool uses_type(const Function& function, DType type) { return Words(function).types.contains(type); }

std::unordered_set<const void*> used_in(const Function& function) {
  std::unordered_set<const void*> used;
  Words words(function, &used);
  return used;
}

bool can_fail(const StmtPtr& statement) {
  bool found = false;
  if (statement) for_each_stmt(*statement, [&](const Stmt& s) { found = found || s.kind == StmtKind::kFail; });
  return found;
}

}  // namespace aotc::tir
