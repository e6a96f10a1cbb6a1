// SPDX-License-Identifier: Apache-2.0
#include "ops/common/movement.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

// Below this a call of memcpy costs more than loads and stores.
constexpr int64_t kUnrolled = 4;

Ex element_immediate(DType type, std::span<const uint8_t> bytes) {
  if (type == DType::kF32) {
    float v;
    std::memcpy(&v, bytes.data(), sizeof v);
    return tir::f32(v);
  }
  uint64_t v = 0;
  for (size_t i = 0; i < bytes.size(); ++i) v |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  auto unused = static_cast<int>(64 - 8 * bytes.size());
  bool is_unsigned = type == DType::kU8 || type == DType::kU16 || type == DType::kBool;
  auto value = is_unsigned ? static_cast<int64_t>(v) : static_cast<int64_t>(v << unused) >> unused;
  return tir::imm(tir::promoted(type), value);
}

}  // namespace

std::vector<int64_t> strides_of(const graph::Shape& shape) {
  std::vector<int64_t> out(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
  return out;
}

Movement simplified(const Movement& move) {
  Movement out;
  out.to_offset = move.to_offset;
  out.from_offset = move.from_offset;
  for (size_t i = 0; i < move.extents.size(); ++i) {
    if (move.extents[i] == 1) continue;
    int64_t extent = move.extents[i], to = move.to_strides[i], from = move.from_strides[i];
    if (!out.extents.empty() && out.to_strides.back() == to * extent && out.from_strides.back() == from * extent) {
      out.extents.back() *= extent;
      out.to_strides.back() = to;
      out.from_strides.back() = from;
      continue;
    }
    out.extents.push_back(extent);
    out.to_strides.push_back(to);
    out.from_strides.push_back(from);
  }
  return out;
}

void run_movement(const Movement& move, std::span<const uint8_t> from, std::span<uint8_t> to, int element_bytes) {
  Movement m = simplified(move);
  size_t rank = m.extents.size();
  std::vector<int64_t> at(rank, 0);
  int64_t to_at = m.to_offset, from_at = m.from_offset;
  for (int64_t left = graph::element_count(m.extents); left > 0; --left) {
    std::memcpy(to.data() + to_at * element_bytes, from.data() + from_at * element_bytes,
                static_cast<size_t>(element_bytes));
    for (size_t d = rank; d-- > 0;) {
      to_at += m.to_strides[d];
      from_at += m.from_strides[d];
      if (++at[d] < m.extents[d]) break;
      to_at -= m.to_strides[d] * m.extents[d];
      from_at -= m.from_strides[d] * m.extents[d];
      at[d] = 0;
    }
  }
}

void emit_run(FunctionBuilder& f, const BufferPtr& to, const Ex& to_index, const BufferPtr& from, const Ex& from_index,
              int64_t elements) {
  if (elements > kUnrolled) return f.copy(to, to_index, from, from_index, elements);
  for (int64_t i = 0; i < elements; ++i) f.store(to, to_index + i, load(from, from_index + i));
}

void emit_fill(FunctionBuilder& f, const BufferPtr& to, const Ex& to_index, std::span<const uint8_t> value,
               int64_t elements) {
  bool same_bytes = std::all_of(value.begin(), value.end(), [&](uint8_t byte) { return byte == value[0]; });
  if (same_bytes && elements > kUnrolled) return f.fill_bytes(to, to_index, value[0], elements);
  Ex element = element_immediate(to->dtype, value);
  if (elements <= kUnrolled) {
    for (int64_t i = 0; i < elements; ++i) f.store(to, to_index + i, element);
    return;
  }
  Ex first = f.let("first", to_index);
  f.loop("k", 0, elements, [&](Ex k) { f.store(to, first + k, element); });
}

void emit_movement(FunctionBuilder& f, const BufferPtr& to, const BufferPtr& from, const Movement& move, const Ex& at) {
  Movement m = simplified(move);
  size_t loops = m.extents.size();
  int64_t run = 1;
  if (loops > 0 && m.to_strides.back() == 1 && m.from_strides.back() == 1) run = m.extents[--loops];
  std::function<void(size_t, Ex, Ex)> nest = [&](size_t d, const Ex& to_at, const Ex& from_at) {
    if (d == loops) {
      if (run <= kUnrolled) return emit_run(f, to, to_at, from, from_at, run);
      return f.copy(to, to_at, from, from_at, run);
    }
    f.loop(fmt::format("i{}", d), 0, m.extents[d], [&](Ex i) {
      Ex t = to_at + i * m.to_strides[d], s = from_at + i * m.from_strides[d];
      // Named once per loop, so that inner loops add to a value instead of multiplying again.
      bool innermost = d + 1 == loops && run == 1;
      nest(d + 1, innermost ? t : f.let("to", t), innermost ? s : f.let("from", s));
    });
  };
  nest(0, at + m.to_offset, Ex(m.from_offset));
}

AxisView view_at(const graph::Shape& shape, size_t axis) {
  AxisView v;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t& part = i < axis ? v.outer : i == axis ? v.axis : v.inner;
    part *= shape[i];
  }
  return v;
}

int64_t Parts::row() const {
  int64_t sum = 0;
  for (int64_t n : row_elements) sum += n;
  return sum;
}

void join_parts(const Parts& parts, const std::vector<std::span<const uint8_t>>& from, std::span<uint8_t> whole,
                int element_bytes) {
  uint8_t* to = whole.data();
  for (int64_t o = 0; o < parts.outer; ++o)
    for (size_t i = 0; i < from.size(); ++i) {
      int64_t bytes = parts.row_elements[i] * element_bytes;
      std::copy_n(from[i].data() + o * bytes, bytes, to);
      to += bytes;
    }
}

void split_parts(const Parts& parts, std::span<const uint8_t> whole, const std::vector<std::span<uint8_t>>& to,
                 int element_bytes) {
  const uint8_t* from = whole.data();
  for (int64_t o = 0; o < parts.outer; ++o)
    for (size_t i = 0; i < to.size(); ++i) {
      int64_t bytes = parts.row_elements[i] * element_bytes;
      std::copy_n(from, bytes, to[i].data() + o * bytes);
      from += bytes;
    }
}

Lowered lower_join(const OpView& op, const Parts& parts) {
  LoweringBuilder f(op, std::string(op.op.name()));
  std::vector<BufferPtr> from;
  for (size_t i = 0; i < op.operand_count(); ++i) from.push_back(f.operand(i));
  BufferPtr whole = f.result();
  f.loop("row", 0, parts.outer, [&](Ex row) {
    Ex at = f.let("to", row * parts.row());
    int64_t before = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      int64_t n = parts.row_elements[i];
      emit_run(f, whole, at + before, from[i], row * n, n);
      before += n;
    }
  });
  return f.finish("copy");
}

Lowered lower_split(const OpView& op, const Parts& parts) {
  LoweringBuilder f(op, std::string(op.op.name()));
  BufferPtr whole = f.operand(0);
  std::vector<BufferPtr> to;
  for (size_t i = 0; i < op.op.results.size(); ++i) to.push_back(f.result(i));
  f.loop("row", 0, parts.outer, [&](Ex row) {
    Ex at = f.let("from", row * parts.row());
    int64_t before = 0;
    for (size_t i = 0; i < to.size(); ++i) {
      int64_t n = parts.row_elements[i];
      emit_run(f, to[i], row * n, whole, at + before, n);
      before += n;
    }
  });
  return f.finish("copy");
}

std::vector<TypeEntry> movable_types(std::string_view bool_note) {
  return {DType::kI8,  DType::kF32, DType::kI16, DType::kU16,
          DType::kI32, DType::kI64, DType::kU8,  {DType::kBool, bool_note}};
}

bool check_amounts(const OpView& op, std::span<const int64_t> before, std::span<const int64_t> after,
                   Diagnostics& diags) {
  const size_t rank = op.operand(0).shape.size();
  return (before.size() == rank && after.size() == rank) ||
         bad_attribute(op, diags,
                       fmt::format("{} and {} amounts for a tensor of rank {}", before.size(), after.size(), rank));
}

bool check_moves(const OpView& op, std::span<const size_t> operands, Diagnostics& diags) {
  bool good = true;
  for (size_t i : operands) {
    good = check_type(
               op, i,
               {DType::kI8, DType::kF32, DType::kI16, DType::kU16, DType::kI32, DType::kI64, DType::kU8, DType::kBool},
               diags) &&
           good;
    if (op.operand(i).quantization.per_channel()) {
      diags
          .error(op.where(), "op-quantization",
                 fmt::format("operand {} ('{}') of {} is quantised per channel", i,
                             escape_for_display(op.operand_tensor(i).name), op.op.name()))
          .help("quantise activations per tensor");
      good = false;
    }
    bool quantized = op.operand(i).dtype != DType::kI32 && op.operand(i).dtype != DType::kI64;
    for (size_t r = 0; r < op.op.results.size(); ++r) {
      if (!check_result_type(op, r, op.operand(i).dtype, diags)) {
        good = false;
      } else if (quantized) {
        good = check_same_quantization(op, i, r, diags) && good;
      }
    }
  }
  return good;
}

}  // namespace aotc::ops
