#include "memory_check.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "ops/operator.h"

namespace aotc::tests {

namespace {

using plan::Storage;
using plan::StorageKind;

constexpr int kNobody = -1, kScratchMark = -2;

class Shadow {
 public:
  explicit Shadow(const plan::Program& program)
      : p_(program),
        bytes_(static_cast<size_t>(program.arena_bytes), kNobody),
        producer_(program.graph.tensors.size(), kNobody) {}

  std::string run() {
    for (size_t c = 0; c < p_.calls.size() && problem_.empty(); ++c) step(static_cast<int>(c));
    return problem_;
  }

 private:
  // The call that wrote the tensor's bytes: the definer's, or of what it is a view of.
  int producer(graph::TensorId id) {
    int& known = producer_[static_cast<size_t>(id.value)];
    if (known != kNobody) return known;
    for (const graph::Op& op : p_.graph.ops)
      if (std::find(op.results.begin(), op.results.end(), id) != op.results.end() &&
          ops::definition_of(op).traits().view)
        return producer(op.operands[0]);
    return kNobody;
  }

  void fail(int call, const std::string& why) {
    if (problem_.empty()) problem_ = fmt::format("call {}: {}", call, why);
  }

  bool inside(int call, const Storage& s, int64_t bytes, int64_t alignment) {
    if (s.offset >= 0 && s.offset + bytes <= p_.arena_bytes && s.offset % alignment == 0)
      return true;
    fail(call, fmt::format("{} bytes at {} leave the arena or are misaligned", bytes, s.offset));
    return false;
  }

  void check_read(int c, graph::TensorId id) {
    const Storage& s = p_.tensors[static_cast<size_t>(id.value)];
    const graph::TensorType& t = p_.graph[id].type;
    if (s.kind == StorageKind::kNone)
      return fail(c, fmt::format("reads tensor {}, which has no place", id.value));
    if (s.kind != StorageKind::kArena || !inside(c, s, t.bytes(), size_of(t.dtype))) return;
    for (int64_t b = s.offset; b < s.offset + t.bytes(); ++b)
      if (bytes_[static_cast<size_t>(b)] != producer(id))
        return fail(
            c, fmt::format(
                   "reads byte {} of the arena as tensor {} of call {}, but call {} wrote it last",
                   b, id.value, producer(id), bytes_[static_cast<size_t>(b)]));
  }

  void mark(int c, const Storage& s, int64_t bytes, int64_t alignment, int name) {
    if (s.kind != StorageKind::kArena || !inside(c, s, bytes, alignment)) return;
    std::fill_n(bytes_.begin() + s.offset, bytes, name);
  }

  static bool overlap(const Storage& a, int64_t a_bytes, const Storage& b, int64_t b_bytes) {
    return a.kind == StorageKind::kArena && b.kind == StorageKind::kArena &&
           a.offset < b.offset + b_bytes && b.offset < a.offset + a_bytes;
  }

  // Results and scratch of one call are distinct from each other and from what it reads.
  void check_distinct(int c, const plan::ProgramCall& call) {
    const auto& params = p_.functions[static_cast<size_t>(call.function)].body->params;
    auto bytes = [&](size_t a) { return call.arguments[a].elements * size_of(params[a]->dtype); };
    for (size_t a = 0; a < params.size(); ++a)
      for (size_t b = 0; b < params.size(); ++b) {
        bool writes =
            params[a]->role == tir::Role::kOutput || params[a]->role == tir::Role::kScratch;
        if (a != b && writes &&
            overlap(call.arguments[a].storage, bytes(a), call.arguments[b].storage, bytes(b)))
          fail(c, fmt::format("arguments {} and {} overlap", a, b));
      }
  }

  void step(int c) {
    const plan::ProgramCall& call = p_.calls[static_cast<size_t>(c)];
    check_distinct(c, call);
    if (call.op_index >= 0)
      for (graph::TensorId id : p_.graph.ops[static_cast<size_t>(call.op_index)].operands)
        if (id.valid() && !p_.graph.is_constant(id)) check_read(c, id);
    if (call.op_index < 0)  // a copy of an output
      for (const graph::Port& port : p_.graph.outputs)
        if (p_.tensors[static_cast<size_t>(port.tensor.value)] == call.arguments[0].storage)
          check_read(c, port.tensor);
    mark(c, {StorageKind::kArena, -1, std::max<int64_t>(call.scratch_offset, 0)},
         call.scratch_bytes, 1, kScratchMark);
    for (graph::TensorId id : call.results) {
      const graph::TensorType& t = p_.graph[id].type;
      mark(c, p_.tensors[static_cast<size_t>(id.value)], t.bytes(), size_of(t.dtype), c);
      producer_[static_cast<size_t>(id.value)] = c;
    }
  }

  const plan::Program& p_;
  std::vector<int> bytes_;     // call that wrote each byte of the arena last
  std::vector<int> producer_;  // call that computed each tensor
  std::string problem_;
};

}  // namespace

std::string check_memory(const plan::Program& program) { return Shadow(program).run(); }

}  // namespace aotc::tests
