// SPDX-License-Identifier: Apache-2.0
// Products of matrices. Constant float weights become fully connected layers, whose lowering packs
// them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/qdq.h"
#include "frontends/onnx/quantized.h"

namespace aotc::frontends::onnx {

namespace {

// Whole numbers as sums of products, all of them at once: for small ones.
Id whole_product(Builder& b, Id x, Id y) {
  DType type = b.dtype(x), wide = size_of(type) < 4 ? DType::kI32 : type;
  graph::Shape p = b.shape(x), q = b.shape(y);
  p.push_back(1);
  q.insert(q.end() - 2, 1);
  Id all = b.widened("mul", {b.reshape(b.cast(x, wide), p), b.reshape(b.cast(y, wide), q)});
  int64_t axis = b.rank(all) - 2;
  return b.cast(b.widened("sum", {all}, false, {{"axes", Ints{axis}}, {"keep_dims", false}}), type);
}

}  // namespace

Id matmul(Builder& b, Id x, Id y) {
  const graph::Shape p = b.shape(x), q = b.shape(y);
  if (p.empty() || q.empty())
    b.stop("onnx-invalid", "an operand of a matrix product must not be a scalar", "export the model again");
  Id left = p.size() == 1 ? b.reshape(x, {1, p[0]}) : x;
  Id right = q.size() == 1 ? b.reshape(y, {q[0], 1}) : y;
  Id out;
  if (b.dtype(x) != DType::kF32) out = whole_product(b, left, right);
  else if (b.rank(right) == 2 && b.is_constant(right))
    out = b.add("fully_connected", {left, b.transpose(right, {1, 0})}, {{"keep_num_dims", true}});
  else out = b.add("batch_matmul", {left, right});
  graph::Shape to = b.shape(out);
  if (q.size() == 1) to.pop_back();
  if (p.size() == 1) to.erase(to.end() - (q.size() == 1 ? 1 : 2));
  return b.reshape(out, to);
}

Id stored_product(Builder& b, Id rows, const StoredMatrix& m, Id bias) {
  const int64_t most = (int64_t{1} << (m.bits - 1)) - 1;
  const size_t block = static_cast<size_t>(m.depth / m.blocks);
  auto zero_of = [&](size_t i) { return m.zeros[i / block]; };
  bool centred = true, above = false;
  for (size_t i = 0; i < m.values.size(); ++i) {
    const int64_t v = m.values[i] - zero_of(i);
    centred = centred && v >= -most - 1 && v <= most;
    above = above || m.values[i] > most || zero_of(i) > most;
  }
  // Unsigned integers become signed ones; zero points remain if the differences need more bits.
  const int64_t less = above ? most + 1 : 0;
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < m.values.size(); ++i)
    bytes.push_back(static_cast<uint8_t>(m.values[i] - (centred ? zero_of(i) : less)));
  Ints zeros(m.zeros.size(), 0);
  for (size_t i = 0; !centred && i < zeros.size(); ++i) zeros[i] = m.zeros[i] - less;
  const graph::Shape scales = {m.units, m.blocks};
  std::vector<Id> operands = {rows,
                              b.constant(m.bits == 4 ? DType::kI4 : DType::kI8, {m.units, m.depth}, std::move(bytes)),
                              b.floats_of(m.scales, scales), b.reshape(b.int_list(zeros, DType::kI8), scales)};
  if (bias.valid()) operands.push_back(bias);
  return b.add("fully_connected_dequantized", operands, {{"keep_num_dims", true}, {"activation", "unbounded"}});
}

namespace products {

namespace {

void mat_mul(Call& c) { c.out(0, matmul(c.b, c.in(0), c.in(1))); }

const graph::Op* producer(const graph::Graph& graph, Id id) {
  for (size_t i = graph.ops.size(); i > 0; --i)
    for (Id result : graph.ops[i - 1].results)
      if (result == id) return &graph.ops[i - 1];
  return nullptr;
}

// The images of several channels that were flattened into the rows x, if they were computed as
// NHWC: the last step but elementwise ones made NCHW of them.
std::optional<Id> flattened_images(Builder& b, Id x) {
  constexpr int kMostSteps = 8;
  const graph::Graph& graph = b.graph();
  const graph::Op* op = producer(graph, x);
  while (op != nullptr && op->name() == "reshape" && b.rank(op->operands[0]) == 2 &&
         b.shape(op->operands[0]) == b.shape(x))
    op = producer(graph, op->operands[0]);
  if (op == nullptr || op->name() != "reshape") return std::nullopt;
  Id images = op->operands[0];
  const graph::Shape& shape = b.shape(images);
  if (shape.size() != 4 || shape[0] != b.shape(x)[0] || shape[1] == 1 || shape[2] * shape[3] == 1) return std::nullopt;
  op = producer(graph, images);
  for (int step = 0; op != nullptr && step < kMostSteps; ++step) {
    if (op->name() == "transpose") {
      bool nchw = op->attributes->print().front().second == graph::attribute_text::print(Ints{0, 3, 1, 2});
      return nchw ? std::optional(images) : std::nullopt;
    }
    if (op->operands.size() != 1 || b.shape(op->operands[0]) != shape) return std::nullopt;
    op = producer(graph, op->operands[0]);
  }
  return std::nullopt;
}

// x and the transposed right operand of a product, both with their columns in the order NHWC where
// that saves bringing x into the order NCHW.
void take_columns_as_computed(Builder& b, Id& x, Id& turned) {
  std::optional<Id> images = flattened_images(b, x);
  if (!images) return;
  graph::Shape s = b.shape(*images), flat = b.shape(turned);
  const Ints order = {0, 2, 3, 1};
  x = b.reshape(b.transpose(*images, order), b.shape(x));
  turned = b.reshape(b.transpose(b.reshape(turned, {flat[0], s[1], s[2], s[3]}), order), flat);
}

void gemm(Call& c) {
  Builder& b = c.b;
  bool turn_x = c.i("transA", 0) != 0, turn_y = c.i("transB", 0) != 0;
  float alpha = c.f("alpha", 1.0f), beta = c.f("beta", 1.0f);
  if (c.shape(0).size() != 2 || c.shape(1).size() != 2) c.refuse("the operands must be matrices");
  Id x = turn_x ? b.transpose(c.in(0), {1, 0}) : c.in(0);
  Id y = c.in(1);
  bool real = b.dtype(x) == DType::kF32;
  int64_t columns = c.shape(1)[turn_y ? 0 : 1];
  bool bias = c.has(2) && real && alpha == 1.0f && beta == 1.0f && b.is_constant(c.in(2)) &&
              b.type(c.in(2)).elements() == columns && b.shape(c.in(2)).back() == columns;
  if (real && alpha == 1.0f && b.is_constant(y)) {
    Id turned = turn_y ? y : b.transpose(y, {1, 0});
    take_columns_as_computed(b, x, turned);
    std::vector<Id> operands = {x, turned};
    if (bias) operands.push_back(b.reshape(c.in(2), {columns}));
    Id out = b.add("fully_connected", operands, {{"keep_num_dims", true}});
    if (bias || !c.has(2)) return c.out(0, out);
    Id term = beta == 1.0f ? c.in(2) : b.binary("mul", c.in(2), beta);
    return c.out(0, b.binary("add", out, term));
  }
  if (!real && (alpha != 1.0f || beta != 1.0f)) c.refuse("alpha and beta must be 1 for integer operands");
  Id out = matmul(b, x, turn_y ? b.transpose(y, {1, 0}) : y);
  if (alpha != 1.0f) out = b.binary("mul", out, alpha);
  if (c.has(2)) out = b.widened("add", {out, beta == 1.0f ? c.in(2) : b.binary("mul", c.in(2), beta)});
  c.out(0, out);
}

// The matrix of a group (qdq.h): inputs 1 to 3 are its integers, scales and zero points.
StoredMatrix stored_matrix(Call& c, Id integers) {
  const graph::Shape shape = c.b.shape(integers);
  StoredMatrix m{shape[0], shape[1], 1, c.i("bits", 8), *c.b.ints(integers), *c.b.floats(c.in(2)), *c.b.ints(c.in(3))};
  m.blocks = static_cast<int64_t>(m.scales.size()) / m.units;
  return m;
}

void stored_mat_mul(Call& c) {
  Builder& b = c.b;
  const graph::Shape p = c.shape(0);
  if (p.empty()) c.refuse("an operand of a matrix product must not be a scalar");
  const StoredMatrix m = stored_matrix(c, c.in(1));
  Id out = stored_product(b, p.size() == 1 ? b.reshape(c.in(0), {1, p[0]}) : c.in(0), m);
  c.out(0, p.size() == 1 ? b.reshape(out, {m.units}) : out);
}

void stored_gemm(Call& c) {
  Builder& b = c.b;
  c.pass_over({"transB"});
  const float alpha = c.f("alpha", 1.0f), beta = c.f("beta", 1.0f);
  if (c.shape(0).size() != 2) c.refuse("the operands must be matrices");
  Id x = c.i("transA", 0) != 0 ? b.transpose(c.in(0), {1, 0}) : c.in(0), integers = c.in(1);
  const int64_t units = b.shape(integers)[0];
  if (b.type(c.in(2)).elements() == units) take_columns_as_computed(b, x, integers);
  const bool bias = c.has(4) && alpha == 1.0f && beta == 1.0f && b.is_constant(c.in(4)) && !b.shape(c.in(4)).empty() &&
                    b.type(c.in(4)).elements() == units && b.shape(c.in(4)).back() == units;
  Id out = stored_product(b, x, stored_matrix(c, integers), bias ? b.reshape(c.in(4), {units}) : Id{});
  if (alpha != 1.0f) out = b.binary("mul", out, alpha);
  if (c.has(4) && !bias) out = b.binary("add", out, beta == 1.0f ? c.in(4) : b.binary("mul", c.in(4), beta));
  c.out(0, out);
}

// `count` integers of `bits` bits for each of `rows` rows, which begin at bytes: the first in the lowest bits.
Ints unpacked(const Ints& bytes, int64_t rows, int64_t count, int64_t bits) {
  const int64_t stride = static_cast<int64_t>(bytes.size()) / rows;
  Ints out;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < count; ++i)
      out.push_back(bytes[static_cast<size_t>(row * stride + i * bits / 8)] >> (i * bits % 8) & ((1 << bits) - 1));
  return out;
}

// Weights of 4 or 8 bits in blocks of a column; unsigned, with a zero point in the middle unless others are given.
void mat_mul_nbits(Call& c) {
  Builder& b = c.b;
  constexpr std::string_view kHelp = "export the model with DequantizeLinear and MatMul instead";
  StoredMatrix m{c.i("N", 0), c.i("K", 0), 1, c.i("bits", 4), {}, {}, {}};
  const int64_t block = c.i("block_size", 0);
  c.pass_over({"accuracy_level"});
  if (c.has(4) || (m.bits != 4 && m.bits != 8) || c.i("weight_prepacked", 0) != 0)
    c.refuse("g_idx, packed weights and weights of other than 4 or 8 bits are not supported", std::string(kHelp));
  const graph::Shape x = c.shape(0);
  const int64_t blocks = block > 0 && m.depth > 0 ? (m.depth - 1) / block + 1 : 0, parts = 8 / m.bits;
  const Ints bytes = c.known_ints(1, "the weights");
  const std::vector<float> scales = c.known_floats(2, "the scales");
  const auto rows = static_cast<size_t>(m.units > 0 ? m.units : 0);
  if (x.empty() || m.units < 1 || m.depth < 1 || x.back() != m.depth || blocks < 1 || block % parts != 0 ||
      bytes.size() / rows != static_cast<size_t>(blocks * (block / parts)) || bytes.size() % rows != 0 ||
      scales.size() != rows * static_cast<size_t>(blocks))
    c.refuse("N, K and block_size do not match the shapes of the operands", "the file is damaged; export it again");
  m.values = unpacked(bytes, m.units, m.depth, m.bits);
  Ints zeros(scales.size(), int64_t{1} << (m.bits - 1));
  if (c.has(3)) {
    const Ints packed = c.known_ints(3, "the zero points");
    if (packed.size() != rows * static_cast<size_t>((blocks + parts - 1) / parts))
      c.refuse("the zero points must be packed integers, one for each block", std::string(kHelp));
    zeros = unpacked(packed, m.units, blocks, m.bits);
  }
  // The last block of a row may be shorter.
  const int64_t length = m.depth % block == 0 ? block : std::gcd(block, m.depth);
  m.blocks = m.depth / length;
  for (int64_t u = 0; u < m.units; ++u)
    for (int64_t k = 0; k < m.depth; k += length) {
      m.scales.push_back(scales[static_cast<size_t>(u * blocks + k / block)]);
      m.zeros.push_back(zeros[static_cast<size_t>(u * blocks + k / block)]);
    }
  Id bias = c.has(5) && b.is_constant(c.in(5)) ? b.reshape(c.in(5), {m.units}) : Id{};
  Id out = stored_product(b, c.in(0), m, bias);
  c.out(0, c.has(5) && !bias.valid() ? b.binary("add", out, c.in(5)) : out);
}

// Two operands, as products over all letters and a sum over those that are not in the result.
Id einsum_of(Call& c, const std::vector<std::string>& terms, const std::string& result) {
  Builder& b = c.b;
  std::string letters = result;
  for (const std::string& t : terms)
    for (char l : t)
      if (letters.find(l) == std::string::npos) letters += l;
  Id product;
  for (size_t i = 0; i < terms.size(); ++i) {
    Id x = c.in(i);
    if (b.shape(x).size() != terms[i].size())
      c.refuse(fmt::format("operand {} has {} dimensions, but its term in the equation has {}", i, b.shape(x).size(),
                           terms[i].size()));
    Ints order;
    graph::Shape to;
    for (char l : letters) {
      size_t at = terms[i].find(l);
      if (terms[i].rfind(l) != at)
        c.refuse("a letter that occurs twice in a term of the equation (a diagonal) is not supported");
      to.push_back(at == std::string::npos ? 1 : b.shape(x)[at]);
      if (at != std::string::npos) order.push_back(static_cast<int64_t>(at));
    }
    x = b.reshape(b.transpose(x, order), to);
    product = i == 0 ? x : b.widened("mul", {product, x});
  }
  Ints axes;
  for (size_t i = result.size(); i < letters.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  return reduce(b, "sum", product, axes, false);
}

void einsum(Call& c) {
  std::string equation, result;
  for (char l : c.s("equation", ""))
    if (l != ' ') equation += l;
  size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  std::vector<std::string> terms = {""};
  for (char l : left) {
    if (l == ',') terms.emplace_back();
    else terms.back() += l;
  }
  if (terms.size() != c.inputs())
    c.refuse(fmt::format("the equation has {} terms for {} operands", terms.size(), c.inputs()));
  // Dots stand for as many dimensions as the letters leave; upper case digits stand for them here.
  for (size_t i = 0; i < terms.size(); ++i) {
    size_t dots = terms[i].find("...");
    if (dots == std::string::npos) continue;
    auto rank = c.shape(i).size();
    if (rank + 3 < terms[i].size() || rank + 3 - terms[i].size() > 8)
      c.refuse(fmt::format("operand {} has {} dimensions, which do not match its term '{}' in the equation", i, rank,
                           escape_for_display(terms[i])));
    size_t count = rank + 3 - terms[i].size();
    std::string all = "01234567";
    terms[i].replace(dots, 3, all.substr(8 - count));
  }
  if (arrow == std::string::npos) {
    std::string letters;
    for (const std::string& t : terms) letters += t;
    std::string sorted = letters;
    std::sort(sorted.begin(), sorted.end());
    for (char l : sorted)
      if ((std::count(letters.begin(), letters.end(), l) == 1 || (l >= '0' && l <= '7')) &&
          result.find(l) == std::string::npos)
        result += l;
  } else {
    result = equation.substr(arrow + 2);
    size_t dots = result.find("...");
    std::string most;
    for (const std::string& t : terms) {
      std::string digits;
      for (char l : t)
        if (l >= '0' && l <= '7') digits += l;
      if (digits.size() > most.size()) most = digits;
    }
    if (dots != std::string::npos) result.replace(dots, 3, most);
  }
  c.out(0, einsum_of(c, terms, result));
}

// Of matrices of up to four rows, by the first row and the determinants below it.
Id determinant(Builder& b, const std::vector<std::vector<Id>>& rows) {
  if (rows.size() == 1) return rows[0][0];
  Id sum;
  for (size_t column = 0; column < rows.size(); ++column) {
    std::vector<std::vector<Id>> below(rows.begin() + 1, rows.end());
    for (auto& row : below) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    Id part = b.binary("mul", rows[0][column], determinant(b, below));
    sum = column == 0 ? part : b.binary(column % 2 == 1 ? "sub" : "add", sum, part);
  }
  return sum;
}

void det(Call& c) {
  Builder& b = c.b;
  const graph::Shape in = c.shape(0);
  const int64_t n = in.empty() ? 0 : in.back();
  if (in.size() < 2 || in[in.size() - 2] != n || n < 1) c.refuse("the operand must be a square matrix");
  if (n > 4)
    c.refuse(fmt::format("determinants of matrices of {} rows are not supported", n),
             "aotc computes determinants of up to four rows");
  const int64_t count = graph::element_count(in) / (n * n);
  Id all = b.reshape(c.in(0), {count, n * n});
  std::vector<std::vector<Id>> rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n * n; ++i)
    rows[static_cast<size_t>(i / n)].push_back(b.reshape(b.slice(all, {0, i}, {count, 1}), {count}));
  c.out(0, b.reshape(determinant(b, rows), {in.begin(), in.end() - 2}));
}

constexpr Rule kRules[] = {
    {"MatMul", 1, mat_mul},
    {"Det", 11, det},
    {"Gemm", 7, gemm},
    {"Einsum", 12, einsum},
    {"MatMul", 1, stored_mat_mul, kGroups},
    {"MatMulNBits", 1, mat_mul_nbits, "com.microsoft"},
    {"Gemm", 1, stored_gemm, kGroups},
};

}  // namespace

}  // namespace products

std::span<const Rule> product_rules() { return products::kRules; }

}  // namespace aotc::frontends::onnx
