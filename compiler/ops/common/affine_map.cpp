// SPDX-License-Identifier: Apache-2.0
#include "ops/common/affine_map.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

using AxisPieces = std::vector<Movement>;

// Loop nests that are written out. Beyond, the pieces of an axis are rows of a table.
constexpr int64_t kMostNests = 6;
// Elements that are moved one by one instead of in a loop.
constexpr int64_t kMostInRow = 4;

// Both moves, one within the other.
Movement nested(Movement outer, const Movement& inner) {
  auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(outer.extents, inner.extents);
  append(outer.to_strides, inner.to_strides);
  append(outer.from_strides, inner.from_strides);
  outer.to_offset += inner.to_offset;
  outer.from_offset += inner.from_offset;
  return outer;
}

// From the innermost axis outwards: an axis of one piece becomes part of the one around it, unless
// that one is `tabled`.
AffineMap folded(const AffineMap& map, std::vector<bool>& tabled) {
  AffineMap out;
  out.fill = map.fill;
  for (const AxisPieces& pieces : map.axes) {
    out.axes.emplace_back();
    for (const Movement& piece : pieces) out.axes.back().push_back(simplified(piece));
  }
  for (size_t k = out.axes.size(); k-- > 1;) {
    if (out.axes[k].size() != 1 || tabled[k - 1]) continue;
    for (Movement& piece : out.axes[k - 1]) piece = simplified(nested(piece, out.axes[k][0]));
    out.axes.erase(out.axes.begin() + static_cast<std::ptrdiff_t>(k));
    tabled.erase(tabled.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return out;
}

class MapEmitter {
 public:
  MapEmitter(LoweringBuilder& f, BufferPtr to, BufferPtr from, const AffineMap& map)
      : f_(f), to_(std::move(to)), from_(std::move(from)), tabled_(choose_tables(map)) {
    map_ = folded(map, tabled_);
  }

  void run() {
    if (!map_.fill.empty()) emit_fill(f_, to_, 0, map_.fill, to_->elements);
    axis(0, 0, 0);
  }

 private:
  static std::vector<bool> choose_tables(const AffineMap& map) {
    int64_t nests = 1;
    for (const AxisPieces& pieces : map.axes)
      nests = std::min<int64_t>(nests * static_cast<int64_t>(pieces.size()), 1 << 20);
    std::vector<bool> out;
    for (const AxisPieces& pieces : map.axes) {
      bool loops = std::all_of(pieces.begin(), pieces.end(), [](const Movement& m) { return m.extents.size() == 1; });
      out.push_back(nests > kMostNests && pieces.size() > 1 && loops);
      if (out.back()) nests /= static_cast<int64_t>(pieces.size());
    }
    return out;
  }

  void axis(size_t k, const Ex& to, const Ex& from) {
    if (k == map_.axes.size()) return emit_run(f_, to_, to, from_, from, 1);
    if (tabled_[k]) return table(k, to, from);
    for (const Movement& piece : map_.axes[k]) loops(k, piece, 0, to + piece.to_offset, from + piece.from_offset);
  }

  // Dimension d of the piece and those inside of it, then the axes behind.
  void loops(size_t k, const Movement& piece, size_t d, const Ex& to, const Ex& from) {
    if (d == piece.extents.size()) return axis(k + 1, to, from);
    bool last = d + 1 == piece.extents.size() && k + 1 == map_.axes.size();
    int64_t extent = piece.extents[d], t = piece.to_strides[d], s = piece.from_strides[d];
    if (last && t == 1 && s == 1) return emit_run(f_, to_, to, from_, from, extent);
    // A few elements in the innermost loop cost less than the loop.
    if (last && depth_ > 0 && extent <= kMostInRow) {
      for (int64_t i = 0; i < extent; ++i) emit_run(f_, to_, to + i * t, from_, from + i * s, 1);
      return;
    }
    f_.loop(fmt::format("i{}", depth_++), 0, extent, [&](Ex i) {
      Ex inner_to = to + i * t, inner_from = from + i * s;
      // Named once per loop, so that inner loops add to a value instead of multiplying again.
      loops(k, piece, d + 1, last ? inner_to : f_.let("to", inner_to), last ? inner_from : f_.let("from", inner_from));
    });
    --depth_;
  }

  // A column of the table, or an immediate where all rows agree.
  struct Column {
    bool same = true;
    int64_t value = 0;
    BufferPtr table;
    Ex at(const Ex& row) const { return same ? Ex(value) : load(table, row); }
  };

  template <typename Get>
  Column column(const std::string& name, const AxisPieces& pieces, Get get) {
    Column out;
    std::vector<int32_t> values;
    for (const Movement& m : pieces) values.push_back(static_cast<int32_t>(get(m)));
    out.value = values[0];
    out.same = std::all_of(values.begin(), values.end(), [&](int32_t v) { return v == values[0]; });
    if (!out.same) out.table = f_.constant(name, DType::kI32, values);
    return out;
  }

  // Pieces without elements were never there, and those of one lost their only dimension.
  static int64_t extent_of(const Movement& m) { return m.extents.empty() ? 1 : m.extents[0]; }
  static int64_t to_stride(const Movement& m) { return m.extents.empty() ? 0 : m.to_strides[0]; }
  static int64_t from_stride(const Movement& m) { return m.extents.empty() ? 0 : m.from_strides[0]; }

  void table(size_t k, const Ex& to, const Ex& from) {
    const AxisPieces& pieces = map_.axes[k];
    Column counts = column("counts", pieces, extent_of);
    Column tos = column("tos", pieces, [](const Movement& m) { return m.to_offset; });
    Column froms = column("froms", pieces, [](const Movement& m) { return m.from_offset; });
    Column to_steps = column("to_steps", pieces, to_stride);
    Column from_steps = column("from_steps", pieces, from_stride);
    std::string name = fmt::format("piece{}", depth_++), index = fmt::format("i{}", depth_++);
    f_.loop(name, 0, static_cast<int64_t>(pieces.size()), [&](Ex row) {
      Ex first_to = f_.let("to", to + tos.at(row)), first_from = f_.let("from", from + froms.at(row));
      Ex to_step = f_.let("to_step", to_steps.at(row));
      Ex from_step = f_.let("from_step", from_steps.at(row));
      f_.loop(index, 0, f_.let("count", counts.at(row)), [&](Ex i) {
        axis(k + 1, f_.let("to", first_to + i * to_step), f_.let("from", first_from + i * from_step));
      });
    });
    depth_ -= 2;
  }

  LoweringBuilder& f_;
  BufferPtr to_, from_;
  std::vector<bool> tabled_;
  AffineMap map_;
  int depth_ = 0;
};

}  // namespace

AffineMap folded(const AffineMap& map) {
  std::vector<bool> none(map.axes.size(), false);
  return folded(map, none);
}

void run_map(const AffineMap& map, std::span<const uint8_t> from, std::span<uint8_t> to, int element_bytes) {
  for (size_t i = 0; i < to.size() && !map.fill.empty(); ++i) to[i] = map.fill[i % map.fill.size()];
  std::function<void(size_t, const Movement&)> combine = [&](size_t k, const Movement& so_far) {
    if (k == map.axes.size()) return run_movement(so_far, from, to, element_bytes);
    for (const Movement& piece : map.axes[k]) combine(k + 1, nested(so_far, piece));
  };
  combine(0, {});
}

void emit_map(LoweringBuilder& f, const BufferPtr& to, const BufferPtr& from, const AffineMap& map) {
  MapEmitter(f, to, from, map).run();
}

void RearrangeOperator::evaluate(const OpView& op, const EvalData& data) const {
  run_map(map_of(op), data.operands[0], data.results[0], size_of(op.operand(0).dtype));
}

Lowered RearrangeOperator::lower(const OpView& op, const TargetInfo&) const {
  LoweringBuilder f(op, std::string(name()));
  BufferPtr in = f.operand(0), out = f.result();
  emit_map(f, out, in, map_of(op));
  return f.finish("copy");
}

// Also where only dimensions of size 1 change places.
bool RearrangeOperator::is_identity(const OpView& op) const {
  if (op.operand(0).elements() != op.result().elements()) return false;
  AffineMap map = folded(map_of(op));
  if (!map.fill.empty() || map.axes.size() > 1) return false;
  if (map.axes.empty()) return true;
  if (map.axes[0].size() != 1) return false;
  const Movement& m = map.axes[0][0];
  return m.extents.empty() || (m.extents.size() == 1 && m.from_strides[0] == 1 && m.to_strides[0] == 1);
}

std::optional<graph::Op> RearrangeOperator::generalized(graph::Graph& graph, const graph::Op& op) const {
  const OpView view{graph, op};
  const graph::TensorType &from = view.operand(0), &to = view.result();
  if (op.results.size() != 1 || from.shape == to.shape || from.dtype != to.dtype ||
      from.quantization != to.quantization || !is_identity(view))
    return std::nullopt;
  graph::Op reshape = op;
  reshape.definition = operators().find("reshape");
  std::shared_ptr<graph::AttributesBase> attributes = reshape.definition->default_attributes();
  attributes->parse("shape", graph::attribute_text::print(to.shape));
  reshape.attributes = std::move(attributes);
  reshape.operands.resize(1);
  return reshape;
}

}  // namespace aotc::ops
