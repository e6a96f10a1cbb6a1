// SPDX-License-Identifier: Apache-2.0
// C with intrinsics of the vector kernels, and the instructions that clang 19 (-O2) makes of it.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cores/riscv/kernel_text.h"
#include "cores/riscv/vector/vector.h"

namespace aotc::cores::riscv {

namespace {

int64_t parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// Writes the statements of a kernel. Names of C types and intrinsics end with LMUL: an accumulator has `registers`
// registers, 16-bit lanes half of them and bytes a quarter.
class VectorText {
 public:
  explicit VectorText(const tir::Kernel& kernel)
      : registers_(std::max(parameter_of(kernel, "registers"), 2)),
        line_(parameter_of(kernel, "line") != 0),
        sign_(parameter_of(kernel, "sign") != 0),
        clamp_(parameter_of(kernel, "clamp") != 0),
        sums_(parameter_of(kernel, "sums") != 0),
        shift_(parameter_of(kernel, "shift")) {}

  Implementation gemm(int pixels, int unroll) {
    begin();
    line("const int32_t x_step = shape[{}], out_step = shape[{}];", at(VectorShape::kXStep), at(VectorShape::kOutStep));
    line("const int32_t row_bytes = shape[{}], row_skip = shape[{}] - row_bytes;", at(VectorShape::kRowBytes),
         at(VectorShape::kRowStep));
    line("int32_t left = shape[{}];", at(VectorShape::kPixels));
    open("do {{");
    for (int p = 1; p < pixels; ++p) {
      // The last tile repeats its first pixel in the place of pixels that do not exist.
      const std::string before = p > 1 ? std::to_string(p - 1) : "";
      line("const int8_t *const x{0} = left > {0} ? x{1} + x_step : x;", p, before);
      line("{2} *const out{0} = left > {0} ? out{1} + out_step : out;", p, before, result());
    }
    line("size_t c = 0;");
    open("do {{");
    line("const size_t vl = __riscv_vsetvl_e32m{}(channels - c);", registers_);
    line("const int32_t *const scaling = stream + c;");
    line("const int8_t *w = weights + c;");
    line("{0} acc0 = __riscv_vle32_v_i32m{1}(scaling, vl);", words(), registers_);
    for (int p = 1; p < pixels; ++p) line("{} acc{} = acc0;", words(), p);
    for (int p = 0; p < pixels; ++p) line("const int8_t *at{} = {};", p, of_pixel("x", p));
    line("int32_t rows = shape[{}];", at(VectorShape::kRows));
    open("do {{");
    line("const int8_t *const end = at0 + row_bytes;");
    open("do {{");
    for (int u = 0; u < unroll; ++u) {
      line("{} v{} = __riscv_vsext_vf2(__riscv_vle8_v_i8{}(w, vl), vl);", halves(), u, bytes_suffix());
      line("w += channels;");
      for (int p = 0; p < pixels; ++p) line("acc{0} = __riscv_vwmacc(acc{0}, at{0}[{1}], v{1}, vl);", p, u);
    }
    for (int p = 0; p < pixels; ++p) line("at{} += {};", p, unroll);
    close("}} while (at0 != end);");
    for (int p = 0; p < pixels; ++p) line("at{} += row_skip;", p);
    close("}} while (--rows > 0);");
    for (int p = 0; p < pixels; ++p) requantise(fmt::format("acc{}", p), of_pixel("out", p) + " + c");
    line("c += vl;");
    close("}} while (c < channels);");
    line("x += {} * x_step;", pixels);
    line("out += {} * out_step;", pixels);
    line("left -= {};", pixels);
    close("}} while (left > 0);");
    return finish();
  }

  Implementation depthwise(int rows, int columns, bool pairs) {
    begin();
    line("const int32_t x_step = shape[{}], out_step = shape[{}];", at(VectorShape::kXStep), at(VectorShape::kOutStep));
    if (columns > 1) line("const int32_t step = shape[{}];", at(VectorShape::kRowBytes));
    if (rows > 1) line("const int32_t row_step = shape[{}];", at(VectorShape::kRowStep));
    line("size_t c = 0;");
    open("do {{");
    line("const size_t vl = __riscv_vsetvl_e32m{}(channels - c);", registers_);
    line("const int32_t *const scaling = stream + c;");
    line("const int8_t *const w = weights + c;");
    line("const {0} bias = __riscv_vle32_v_i32m{1}(scaling, vl);", words(), registers_);
    line("const int8_t *from = x + c;");
    line("{} *to = out + c;", result());
    line("int32_t left = shape[{}];", at(VectorShape::kPixels));
    open("do {{");
    line("{} acc;", words());
    line("{} sum;", halves());
    const int taps = rows * columns;
    for (int t = 0; t < taps; ++t) {
      const bool first = !pairs || t % 2 == 0;
      line("sum = __riscv_{0}__riscv_vle8_v_i8{1}(from{2}{3}, vl), __riscv_vle8_v_i8{1}(w{4}, vl), vl);",
           first ? "vwmul(" : "vwmacc(sum, ", bytes_suffix(), times(t / columns, "row_step"),
           times(t % columns, "step"), times(t, "channels"));
      if (pairs && t % 2 == 0 && t + 1 < taps) continue;
      line("acc = __riscv_vwadd_wv({}, sum, vl);", t <= (pairs ? 1 : 0) ? "bias" : "acc");
    }
    requantise("acc", "to");
    line("from += x_step;");
    line("to += out_step;");
    close("}} while (--left > 0);");
    line("c += vl;");
    close("}} while (c < channels);");
    return finish();
  }

  Implementation band() {
    auto put = [&](const char* first, const char* bytes, const std::string& value, bool reads) {
      line("int8_t *to = band{};", first);
      line("size_t rest = (size_t)shape[{}];", bytes);
      open("do {{");
      line("const size_t vl = __riscv_vsetvl_e8m8(rest);");
      line("__riscv_vse8(to, {}, vl);", value);
      if (reads) line("from += vl;");
      line("to += vl;");
      line("rest -= vl;");
      close("}} while (rest > 0);");
    };
    const std::string lead = fmt::format(" + shape[{}]", at(VectorBand::kLead));
    const std::string bytes = std::to_string(at(VectorBand::kBytes)), row = std::to_string(at(VectorBand::kRow));
    line("int32_t rows = shape[{}];", at(VectorBand::kRows));
    open("do {{");
    open("if (top >= 0 && top < shape[{}]) {{", at(VectorBand::kHeight));
    line("const int8_t *from = x + top * shape[{}];", at(VectorBand::kXRow));
    put(lead.c_str(), bytes.c_str(), "__riscv_vle8_v_i8m8(from, vl)", true);
    close("}} else {{");
    ++depth_;
    put("", row.c_str(), fmt::format("__riscv_vmv_v_x_i8m8((int8_t)shape[{}], vl)", at(VectorBand::kZero)), false);
    close("}}");
    line("band += shape[{}];", at(VectorBand::kRow));
    line("top += shape[{}];", at(VectorBand::kStep));
    close("}} while (--rows > 0);");
    return finish();
  }

 private:
  static int at(int word) { return word; }
  static std::string of_pixel(const char* name, int p) { return p > 0 ? fmt::format("{}{}", name, p) : name; }
  static std::string times(int count, const char* step) {
    return count == 0 ? "" : count == 1 ? fmt::format(" + {}", step) : fmt::format(" + {} * {}", count, step);
  }

  const char* result() const { return sums_ ? "int32_t" : "int8_t"; }
  std::string words() const { return fmt::format("vint32m{}_t", registers_); }
  std::string halves() const { return fmt::format("vint16m{}_t", registers_ / 2); }
  std::string bytes_suffix() const { return registers_ > 2 ? fmt::format("m{}", registers_ / 4) : "mf2"; }

  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    lines_.push_back(std::string(static_cast<size_t>(4 * depth_), ' ') +
                     fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void open(fmt::format_string<Args...> text, Args&&... args) {
    line(text, std::forward<Args>(args)...);
    ++depth_;
  }
  void close(fmt::format_string<> text) {
    --depth_;
    line(text);
  }

  void begin() {
    line("const size_t channels = (size_t)shape[{}];", at(VectorShape::kChannels));
    line("const int8_t *const weights = (const int8_t *)(stream + {} * channels);", sums_ ? 1 : sign_ ? 4 : 3);
    if (!line_ && !sums_) line("const int16_t zero = (int16_t)shape[{}];", at(VectorShape::kZero));
    if (clamp_)
      line("const int16_t least = (int16_t)shape[{}], most = (int16_t)shape[{}];", at(VectorShape::kLeast),
           at(VectorShape::kMost));
  }

  std::string row(int number) const {
    return fmt::format("__riscv_vle32_v_i32m{}(scaling{}, vl)", registers_, times(number, "channels"));
  }

  void requantise(const std::string& acc, const std::string& to) {
    if (sums_) return line("__riscv_vse32({}, {}, vl);", to, acc);
    open("{{");
    line("{} h;", halves());
    if (line_) {
      if (sign_) line("const {} sign = __riscv_vand(__riscv_vsra({}, 31, vl), {}, vl);", words(), acc, row(3));
      line("{0} = __riscv_vmulh(__riscv_vsll({0}, {1}, vl), {2}, vl);", acc, VectorScaling::kLeft, row(1));
      line("{0} = __riscv_vadd({0}, {1}, vl);", acc, row(2));
      if (sign_) line("{0} = __riscv_vsub({0}, sign, vl);", acc);
      line("h = __riscv_vnclip({}, {}, __RISCV_VXRM_RDN, vl);", acc, shift_);
    } else {
      line("{0} = __riscv_vsmul({0}, {1}, __RISCV_VXRM_RNU, vl);", acc, row(1));
      line("{0} = __riscv_vadd({0}, __riscv_vsra({0}, 31, vl), vl);", acc);
      // The shifts are words of the table, of which the lower halves are read.
      line("h = __riscv_vnclip({}, __riscv_vlse16_v_u16m{}((const uint16_t *)(scaling + 2 * channels), 4, vl),", acc,
           registers_ / 2);
      line("    __RISCV_VXRM_RNU, vl);");
      line("h = __riscv_vsadd(h, zero, vl);");
    }
    if (clamp_) line("h = __riscv_vmin(__riscv_vmax(h, least, vl), most, vl);");
    line("__riscv_vse8({}, __riscv_vnclip(h, 0, {}, vl), vl);", to, line_ ? "__RISCV_VXRM_RDN" : "__RISCV_VXRM_RNU");
    close("}}");
  }

  Implementation finish() {
    Implementation out;
    // The functions that name a rounding exist since version 0.12 of the intrinsics.
    out.condition = "defined(__riscv_v_intrinsic) && __riscv_v_intrinsic >= 12000 && __riscv_xlen == 32";
    out.family = "defined(__riscv) && __riscv_xlen == 32";
    out.header = "riscv_vector.h";
    out.body = std::move(lines_);
    return out;
  }

  std::vector<std::string> lines_;
  int depth_ = 1;
  int registers_;
  bool line_, sign_, clamp_, sums_;
  int shift_;
};

std::optional<int64_t> word_of(const std::vector<CountArgument>& arguments, size_t argument, int word) {
  const std::span<const uint8_t> table = arguments[argument].table;
  int32_t value = 0;
  const size_t from = static_cast<size_t>(word) * sizeof value;
  if (table.size() < from + sizeof value) return std::nullopt;
  std::memcpy(&value, table.data() + from, sizeof value);
  return value;
}

constexpr size_t kShapeArgument = 3;

// nullopt where the table is not known.
std::optional<VectorShape> shape_of(const std::vector<CountArgument>& arguments) {
  VectorShape out;
  if (!word_of(arguments, kShapeArgument, VectorShape::kWords - 1)) return std::nullopt;
  auto word = [&](VectorShape::Word at) { return *word_of(arguments, kShapeArgument, at); };
  out.pixels = word(VectorShape::kPixels);
  out.rows = word(VectorShape::kRows);
  out.row_bytes = word(VectorShape::kRowBytes);
  out.channels = word(VectorShape::kChannels);
  return out;
}

// The scaling by a kernel's parameters, as far as it decides a cost.
VectorScaling scaling_of(const tir::Kernel& kernel) {
  VectorScaling out;
  if (parameter_of(kernel, "line") != 0) out.form = VectorScaling::Form::kLine;
  if (parameter_of(kernel, "sums") != 0) out.form = VectorScaling::Form::kSums;
  out.rows.resize(parameter_of(kernel, "sign") != 0 ? 4 : 3);
  if (parameter_of(kernel, "clamp") != 0) out.clamp = {0, 0};
  return out;
}

// Costs of a vector instruction on bytes, 16-bit lanes and words.
struct VectorCosts {
  int64_t bytes = 1, halves = 1, words = 1;

  // Instructions are counted, or cycles: as many as registers that an instruction uses.
  VectorCosts(int64_t registers, bool cycles) {
    if (cycles) bytes = std::max<int64_t>(registers / 4, 1), halves = registers / 2, words = registers;
  }
};

// For the results of a pixel's channels. Signs need more registers than there are.
int64_t requantise_cost(const VectorScaling& scaling, int64_t registers, const VectorCosts& c) {
  if (scaling.form == VectorScaling::Form::kSums) return 1 + c.words;
  const int64_t signs = scaling.rows.size() > 3 ? (registers == 8 ? 20 + 20 * c.words : 4 * c.words) : 0;
  return 5 + 4 * c.words + 3 * c.halves + 2 * c.bytes + signs + (scaling.clamps() ? 2 * c.halves : 0);
}

}  // namespace

int64_t VectorTile::cost(const VectorShape& shape, const VectorScaling& scaling, bool cycles) const {
  const VectorCosts c(registers, cycles);
  const int64_t tiles = parts(shape.pixels, pixels), blocks = parts(shape.channels, channels());
  const int64_t turn = 2 + unroll * (1 + c.bytes + c.halves + pixels * (1 + c.words)) + pixels;
  const int64_t row = 4 + pixels + shape.row_bytes / unroll * turn;
  const int64_t block = 14 + 2 * pixels + shape.rows * row + pixels * requantise_cost(scaling, registers, c);
  return 60 + tiles * (12 + 10 * pixels + blocks * block);
}

VectorTile VectorTile::of(const VectorShape& shape, const VectorScaling& scaling) {
  constexpr int64_t kFree = 24, kMostPixels = 6;  // registers for accumulators
  VectorTile best;
  std::optional<int64_t> least;
  for (int64_t registers : {8, 4, 2}) {
    const int64_t most = std::min({kFree / registers, kMostPixels, shape.pixels});
    VectorTile tile{registers, parts(shape.pixels, parts(shape.pixels, most)), 1};
    for (const int64_t unroll : {4, 3, 2})
      if (tile.unroll == 1 && shape.row_bytes % unroll == 0) tile.unroll = unroll;
    const int64_t cost = tile.cost(shape, scaling);
    if (least && cost >= *least) continue;
    least = cost;
    best = tile;
  }
  return best;
}

int64_t VectorTaps::cost(const VectorShape& shape, const VectorScaling& scaling, bool cycles) const {
  const VectorCosts c(registers, cycles);
  const int64_t taps = rows * columns, sums = pairs ? parts(taps, 2) : taps;
  const int64_t pixel =
      taps * (3 + 2 * c.bytes + c.halves) + sums * (2 + c.words) + requantise_cost(scaling, registers, c) - 4;
  return 45 + 4 * taps + parts(shape.channels, channels()) * (10 + 4 * taps + shape.pixels * pixel);
}

namespace {

// Counts the instructions and cycles of a kernel whose table is known.
template <typename Form>
void add_counts(Implementation& to, const Form& form, const VectorScaling& scaling) {
  to.count = [=](const Implementation&, const std::vector<CountArgument>& arguments) -> std::optional<int64_t> {
    const auto shape = shape_of(arguments);
    return shape ? std::optional(form.cost(*shape, scaling, false)) : std::nullopt;
  };
  to.cycles = [=](const Implementation&, const std::vector<CountArgument>& arguments,
                  const machine::Timing&) -> std::optional<double> {
    const auto shape = shape_of(arguments);
    return shape ? std::optional(static_cast<double>(form.cost(*shape, scaling, true))) : std::nullopt;
  };
}

}  // namespace

Implementation rvv_gemm(const tir::Kernel& kernel) {
  const VectorTile tile{parameter_of(kernel, "registers"), parameter_of(kernel, "pixels"),
                        parameter_of(kernel, "unroll")};
  Implementation out = VectorText(kernel).gemm(static_cast<int>(tile.pixels), static_cast<int>(tile.unroll));
  add_counts(out, tile, scaling_of(kernel));
  return out;
}

Implementation rvv_depthwise(const tir::Kernel& kernel) {
  const VectorTaps taps{parameter_of(kernel, "rows"), parameter_of(kernel, "columns"),
                        parameter_of(kernel, "pairs") != 0, parameter_of(kernel, "registers")};
  Implementation out =
      VectorText(kernel).depthwise(static_cast<int>(taps.rows), static_cast<int>(taps.columns), taps.pairs);
  add_counts(out, taps, scaling_of(kernel));
  return out;
}

Implementation rvv_band(const tir::Kernel& kernel) {
  Implementation out = VectorText(kernel).band();
  out.count = [](const Implementation&, const std::vector<CountArgument>& arguments) -> std::optional<int64_t> {
    constexpr size_t kShape = 2, kTop = 3;
    constexpr int64_t kAtOnce = kVectorBits;  // eight registers of bytes
    if (!word_of(arguments, kShape, VectorBand::kWords - 1)) return std::nullopt;
    auto word = [&](VectorBand::Word at) { return *word_of(arguments, kShape, at); };
    int64_t instructions = 8, y = arguments[kTop].value;
    for (int64_t row = 0; row < word(VectorBand::kRows); ++row, y += word(VectorBand::kStep)) {
      const bool inside = y >= 0 && y < word(VectorBand::kHeight);
      instructions +=
          inside ? 14 + 7 * parts(word(VectorBand::kBytes), kAtOnce) : 13 + 5 * parts(word(VectorBand::kRow), kAtOnce);
    }
    return instructions;
  };
  return out;
}

}  // namespace aotc::cores::riscv
