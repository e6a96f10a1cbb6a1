// SPDX-License-Identifier: Apache-2.0
// Lowering of conv_2d of bytes and half words onto the vector kernels (cores/arm/helium/gemm.h), which take two pixels
// at a time. Where a convolution reads its windows:
//   whole     one output, made of the whole input
//   in place  1 x 1 at stride 1: one call for all pixels
//   rows      the rows of windows that lie inside of the image are read where they are, one call
//   for
//             those of a row of outputs; the other pairs of outputs are gathered into a panel
//   woven     the rows that a row of outputs looks at are woven in the panel (cores/arm/helium/band.h)
//   panel     all windows are gathered, without gaps
// Sums of half words that the kernel cannot scale are those of single pixels, in place or gathered
// (cores/arm/helium/wide_rows.h).
// In place or woven, weights of few elements may stay in registers instead (cores/arm/helium/held.h).
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/helium/band.h"
#include "cores/arm/helium/gemm.h"
#include "cores/arm/helium/held.h"
#include "cores/arm/helium/lowerings.h"
#include "cores/arm/helium/wide_rows.h"
#include "ops/common/conv_order.h"
#include "ops/conv_2d/shape.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostRow = 1 << 15;  // what the size of a copy holds

using Range = WindowAxis::Range;

class MveConvLowering {
 public:
  MveConvLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        conv_(op),
        f_(op, "conv_2d"),
        target_(target),
        bytes_(size_of(op.operand(0).dtype)),
        out_bytes_(size_of(op.result().dtype)) {
    row_elements_ = conv_.window.x.kernel * conv_.in_channels;
    rows_inside_ = conv_.window.y.inside();
    columns_inside_ = conv_.window.x.inside();
  }

  // nullopt if the kernels do not apply.
  std::optional<Lowered> run() {
    if (conv_.grouped() || !choose_form()) return std::nullopt;
    auto w = bytes_ == 2 ? MveWeights{op_.constant(1)->to_vector<int8_t>(), {}} : mve_weights(op_, conv_.k);
    if (!w) return std::nullopt;
    if (form_ == Form::kWoven) {
      w->values = band_->arranged(w->values, conv_.out_channels);
      if (!w->sums.empty()) w->sums = band_->arranged(w->sums, 1);
    }
    auto fit = fit_scaling();
    if (!fit && bytes_ == 2) return run_wide(std::move(w->values));
    if (!fit) return std::nullopt;
    scaling_ = std::move(*fit);
    scaling_.window_sums = !w->sums.empty();
    const bool twice = scaling_.adds_zero_point();
    if (form_ == Form::kWhole && conv_.out_channels < MveGemm::kGroup && (twice || gives_sums(op_)))
      return std::nullopt;
    in_ = f_.operand(0);
    choose_held();
    auto make_stream = form_ == Form::kWhole ? mve_gemv_stream : mve_gemm_stream;
    stream_ = f_.constant(
        "stream", DType::kI32,
        held_ ? held_->stream(w->values, blocks_, scaling_) : make_stream(*w, conv_.out_channels, blocks_, scaling_));
    auto make_kernel = form_ == Form::kWhole ? mve_gemv_kernel : mve_gemm_kernel;
    kernel_ = held_ ? held_->kernel(scaling_) : make_kernel(blocks_, conv_.out_channels, scaling_);
    emit();
    f_.algorithm("vectors");
    if (form_ == Form::kRows || form_ == Form::kPanel) f_.choice("panel", form_ == Form::kPanel);
    if (band_) f_.choice("woven", form_ == Form::kWoven);
    if (can_hold_) f_.choice("held", held_.has_value());
    return f_.finish(fmt::format("{}, {} blocks, {}{}", name_of_form(), blocks_.count(), held_ ? "weights held, " : "",
                                 scaling_.text()));
  }

 private:
  enum class Form { kWhole, kInPlace, kRows, kWoven, kPanel };

  std::optional<Lowered> run_wide(std::vector<int8_t> weights) {
    const WideScaling scaling = conv_wide_scaling(op_, conv_);
    if (form_ == Form::kRows) {
      form_ = Form::kPanel;
      blocks_ = MveBlocks(1, conv_.k, true, bytes_);
    }
    in_ = f_.operand(0);
    if (form_ == Form::kPanel) panel_ = f_.scratch("panel", in_->dtype, panel_elements(), 4);
    if (form_ == Form::kPanel) make_copy_tables();
    MveWideRows product(f_, scaling, std::move(weights), conv_.out_channels, target_, form_ == Form::kPanel);
    out_ = f_.result(0);
    product.begin();
    auto publish = [&](std::optional<WriteOrder> order) {
      if (order) f_.publish(std::move(*order));
    };
    if (form_ == Form::kPanel) {
      publish(window_order(conv_.window, 2, pixel_bytes()));
      emit_pairs([&](const Ex& first) {
        f_.loop("i", 0, 2, [&](Ex i) {
          product.run(panel_, f_.let("at", i * panel_pixel()), out_, f_.let("to", (first + i) * conv_.out_channels));
        });
      });
    } else {
      if (form_ == Form::kInPlace) publish(pointwise_order(pixels(), 1, pixel_bytes(), false, false));
      f_.loop("p", 0, pixels(),
              [&](Ex p) { product.run(in_, f_.let("at", p * conv_.k), out_, f_.let("to", p * conv_.out_channels)); });
    }
    f_.algorithm("vectors");
    return f_.finish(fmt::format("{}, {}", form_ == Form::kPanel ? "gathered panel" : "in place", product.how()));
  }

  std::optional<MveScaling> fit_scaling() const {
    if (bytes_ == 2) return fit_mve_halves(conv_wide_scaling(op_, conv_));
    auto [folded, scaling] = ConvScaling(op_, conv_);
    if (gives_sums(op_)) return mve_sums(folded.bias);
    return fit_mve_scaling(scaling, folded.bias, target_);
  }

  // Sizes and positions are in elements but for those of blocks, tables and write orders.
  int64_t pixels() const { return conv_.window.batch * conv_.window.y.out * conv_.window.x.out; }
  int64_t image_row() const { return conv_.window.x.in * conv_.in_channels; }
  int64_t row_step() const { return conv_.window.y.dilation * image_row(); }
  PixelBytes pixel_bytes() const { return {conv_.in_channels * bytes_, conv_.out_channels * out_bytes_}; }
  // True if the taps of a window's row are not adjacent.
  bool dilated() const { return conv_.window.x.dilation != 1 && conv_.window.x.kernel > 1; }
  int64_t pixel_step() const { return conv_.window.x.stride * conv_.in_channels; }
  // The panel: of a row of a window, and of a pixel.
  int64_t panel_row() const {
    if (shares()) return row_elements_ + pixel_step();
    return blocks_.rows > 1 ? blocks_.row_bytes() / bytes_ : row_elements_;
  }
  int64_t panel_pixel() const {
    return blocks_.rows > 1 ? blocks_.rows * panel_row() : rounded_up(conv_.k, MveGemm::kBlock / bytes_);
  }

  // Of pairs that share vectors the panel has the rows of both.
  bool shares() const { return blocks_.apart > 0; }
  int64_t panel_elements() const { return (shares() ? 1 : 2) * panel_pixel(); }

  const char* name_of_form() const {
    switch (form_) {
      case Form::kWhole: return "1x8, whole input";
      case Form::kInPlace: return "2x4, in place";
      case Form::kRows: return "2x4, rows in place";
      case Form::kWoven: return "2x4, woven rows";
      case Form::kPanel: return "2x4, gathered panel";
    }
    return "";
  }

  bool choose_form() {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    auto plain = [](const WindowAxis& a) { return a.kernel == 1 && a.stride == 1 && a.in == a.out; };
    blocks_ = MveBlocks(1, conv_.k, false, bytes_);
    form_ = Form::kWhole;
    if (pixels() == 1) return y.covers_image() && x.covers_image() && conv_.k * bytes_ <= MveGemm::kMostGemvElements;
    if (conv_.out_channels < MveGemm::kGroup) return false;
    form_ = Form::kInPlace;
    if (plain(y) && plain(x) && blocks_.fit_gemm()) return true;
    if (conv_.window.batch != 1 || row_elements_ * bytes_ >= kMostRow || y.kernel >= kMostRow) return false;
    if (bytes_ == 1) band_ = MveBand::of(conv_.window, conv_.in_channels);
    // Code for columns is worth its bytes for speed.
    if (band_ && band_->columns && target_.level == Level::kSize) band_.reset();
    form_ = !dilated() && choose_rows() ? Form::kRows : Form::kPanel;
    if (form_ == Form::kPanel) blocks_ = MveBlocks(1, conv_.k, true, bytes_);
    choose_woven();
    return true;
  }

  // Weaves rows if that can be and costs less than the form chosen. A band is never divided.
  void choose_woven() {
    if (!band_) return;
    const bool too_long = target_.slice > 0 && cost_of_woven() / bands() > target_.slice / 2;
    const bool asked_other = target_.wish("panel", -1, 0, 1) >= 0;
    const int64_t other = form_ == Form::kRows ? cost_of_rows(blocks_, rows_inside_) : cost_of_panel();
    if (target_.wish("woven", cost_of_woven() < other && !too_long && !asked_other, 0, 1) == 0) return;
    form_ = Form::kWoven;
    blocks_ = band_->blocks();
  }

  // Pixels of a call of mve_held: a row of outputs, or a part of all so that the result may lie on the input.
  int64_t part() const { return form_ == Form::kWoven ? conv_.window.x.out : held_->part(pixels()); }

  void choose_held() {
    if (form_ != Form::kInPlace && (form_ != Form::kWoven || band_->bands > 1)) return;
    if (target_.level == Level::kSize || target_.slice > 0 || scaling_.window_sums || bytes_ > 1 || out_bytes_ > 1)
      return;
    const bool woven = form_ == Form::kWoven;
    held_ = MveHeld::of(blocks_, woven ? band_->pixel : conv_.in_channels, woven ? conv_.window.x.out : pixels(),
                        conv_.out_channels, scaling_);
    can_hold_ = held_.has_value();
    if (!can_hold_) return;
    const int64_t calls = pixels() / part();
    const int64_t other = held_->other_cost(pixels());
    const bool less = calls * held_->cost(part()) < other - other / MveHeld::kWorth;
    if (target_.wish("held", less, 0, 1) == 0) held_.reset();
  }

  // Whether rows in place are possible and cost less than gathering them.
  bool choose_rows() {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    MveBlocks blocks(y.kernel, row_elements_, row_elements_ * bytes_ < MveGemm::kBlock && y.kernel > 1, bytes_);
    blocks.share(pixel_step() * bytes_);
    if (x.out % 2 != 0 || rows_inside_.empty() || columns_inside_.empty() || !blocks.fit_gemm()) return false;
    // The last blocks of rows may reach behind the image.
    auto end = [&](int64_t oy) {
      int64_t from = y.start(oy) * image_row() + x.start(columns_inside_.high) * conv_.in_channels;
      return from + (y.kernel - 1) * row_step() + std::max(blocks.row_bytes() / bytes_, row_elements_);
    };
    Range rows = rows_inside_;
    while (!rows.empty() && end(rows.high) > y.in * image_row()) --rows.high;
    if (columns_inside_.low == columns_inside_.high) return false;  // no two columns are inside
    offset_ = blocks.apart > 0 ? 0 : columns_inside_.low % 2;
    tiles_ = {(columns_inside_.low + offset_ + 1) / 2, (columns_inside_.high - 1 + offset_) / 2};
    if (rows.empty() || tiles_.empty()) return false;
    // Parts of calls are made of a panel's pairs: those of a row are one kernel's, which nothing divides.
    const bool too_long = target_.slice > 0 && cost_of_rows(blocks, rows) > target_.slice / 2;
    if (target_.wish("panel", too_long || cost_of_rows(blocks, rows) > cost_of_panel(), 0, 1) == 1) return false;
    rows_inside_ = rows;
    blocks_ = blocks;
    return true;
  }

  // Instructions, without what both forms have in common: the products of a pair of outputs, and
  // its gather.
  static constexpr int64_t kBlockCost = 14;

  int64_t halves() const { return 2 * ((conv_.out_channels + MveGemm::kGroup - 1) / MveGemm::kGroup); }
  int64_t cost_of_clipped(int64_t per_row) const { return 2 * (68 + conv_.window.y.kernel * (7 + 6 * per_row)); }

  int64_t cost_of_rows(const MveBlocks& blocks, Range rows) const {
    bool loops = blocks.count() > MveGemm::kGemmUnroll;
    const int64_t pointers = blocks.apart > 0 ? 1 : 2;
    int64_t around = loops ? (2 + pointers) * blocks.rows + 1 : pointers * (blocks.rows - 1);
    if (loops && blocks.per_row > MveGemm::kRowUnroll) around += 8;
    int64_t pair = halves() * ((kBlockCost - 2) * blocks.count() + blocks.loads() + around) + halves() / 2;
    int64_t pairs = pixels() / 2 + offset_;
    int64_t in_place = (rows.high - rows.low + 1) * (tiles_.high - tiles_.low + 1);
    const int64_t clipped = cost_of_clipped(blocks.per_row + blocks.apart);
    return pairs * pair + (pairs - in_place) * (blocks.apart > 0 ? clipped / 2 : clipped);
  }

  // Calls that make one row of outputs, or two.
  int64_t bands() const { return (conv_.window.y.out + band_->bands - 1) / band_->bands; }
  int64_t pairs_of_band() const { return conv_.window.x.out * band_->bands / 2; }

  int64_t cost_of_woven() const {
    const int64_t pairs = pairs_of_band() * halves() * kBlockCost * band_->blocks().count();
    return bands() * (pairs + band_->bands * band_->cost() + 60);
  }

  int64_t cost_of_panel() const {
    MveBlocks blocks(1, conv_.k, true, bytes_);
    int64_t around = blocks.count() > MveGemm::kGemmUnroll ? 5 + 2 * (blocks.count() / MveGemm::kGemmUnroll - 1) : 0;
    int64_t pair = halves() * (kBlockCost * blocks.count() + around);
    int64_t vectors = (row_elements_ * bytes_ + MveGemm::kBlock - 1) / MveGemm::kBlock;
    int64_t pairs = (pixels() + 1) / 2;
    int64_t fast =
        (rows_inside_.high - rows_inside_.low + 1) * (columns_inside_.high / 2 - (columns_inside_.low + 1) / 2);
    return pairs * pair + fast * (46 + conv_.window.y.kernel * (4 + 4 * vectors)) +
           (pairs - fast) * cost_of_clipped(vectors);
  }

  void emit() {
    if (form_ == Form::kWoven) panel_ = f_.scratch("panel", DType::kI8, band_->panel_bytes(), 4);
    if (form_ == Form::kRows || form_ == Form::kPanel) {
      panel_ = f_.scratch("panel", in_->dtype, panel_elements(), 4);
      make_gather_tables();
    }
    out_ = f_.result(0);
    switch (form_) {
      case Form::kWhole: return multiply(in_, 0, 0, shape("shape", {}));
      case Form::kInPlace: return emit_in_place();
      case Form::kRows: return emit_rows();
      case Form::kWoven: return emit_woven();
      case Form::kPanel: return emit_panel();
    }
  }

  BufferPtr shape(const char* name, const MvePixels& pixels) {
    if (held_) return f_.constant(name, DType::kI32, held_->shape(part()));
    return f_.constant(name, DType::kI32, table_of(pixels));
  }
  std::vector<int32_t> table_of(MvePixels pixels) const {
    for (int64_t* step : {&pixels.x_pixel, &pixels.x_step, &pixels.row_step}) *step *= bytes_;
    for (int64_t* step : {&pixels.out_pixel, &pixels.out_step}) *step *= out_bytes_;
    return mve_shape(pixels, blocks_, conv_.out_channels, scaling_);
  }

  void multiply(const BufferPtr& x, const Ex& from, const Ex& pixel, const BufferPtr& shape) {
    f_.run(kernel_,
           {address(stream_, 0), address(x, from), address(out_, pixel * conv_.out_channels), address(shape, 0)});
  }

  // Where the result is larger than the input, from the last pixel to the first, so that it can be
  // written over the input from behind.
  void emit_in_place() {
    const bool backwards = pixel_bytes().out > pixel_bytes().in;
    const int64_t tile = held_ ? part() : 2;
    auto order = pointwise_order(pixels(), tile, pixel_bytes(), backwards, true);
    if (order) f_.publish(std::move(*order));
    if (held_) {
      BufferPtr table = shape("shape", {});
      return f_.take_turns({tile, pixels() / tile, 0}, [&](const Ex& from, int64_t) {
        Ex at = backwards ? Ex(pixels() - tile) - from : from;
        multiply(in_, at * conv_.in_channels, at, table);
      });
    }
    int64_t sign = backwards ? -2 : 2;
    MvePixels how{pixels() / 2, conv_.in_channels, conv_.out_channels, sign * conv_.in_channels,
                  sign * conv_.out_channels};
    int64_t last = pixels() - 2, first = backwards ? last : 0, odd = backwards ? 0 : last;
    const double pair = static_cast<double>(halves() * (kBlockCost * blocks_.count() + 1));
    const Turns turns = turns_of(how.pairs, pair, target_);
    const TurnTables shapes(f_, turns, "shape", [&](int64_t pairs) {
      how.pairs = pairs;
      return table_of(how);
    });
    f_.take_turns(turns, [&](const Ex& from, int64_t pairs) {
      Ex at = from * sign + first;
      multiply(in_, at * conv_.in_channels, at, shapes.of(pairs));
    });
    how.pairs = 1;
    // A last pixel that has no neighbour left is done again with the one before it.
    if (pixels() % 2 == 1) multiply(in_, odd * conv_.in_channels, odd, shape("last_shape", how));
  }

  // ---- woven rows

  void emit_woven() {
    const WindowAxis& y = conv_.window.y;
    const int64_t out_row = conv_.window.x.out * conv_.out_channels, together = band_->bands;
    f_.publish(*rows_order(conv_.window, together, pixel_bytes()));
    fill(0, op_.operand(0).zero_point(), band_->panel_bytes());
    MvePixels how{pairs_of_band(), band_->pixel, conv_.out_channels, 2 * band_->pixel, 2 * conv_.out_channels};
    if (together == 2) how = {pairs_of_band(), band_->band_bytes(), out_row, band_->pixel, conv_.out_channels};
    BufferPtr table = shape("shape", how), offsets;
    if (band_->columns) offsets = f_.constant("offsets", DType::kU8, band_->offsets());
    auto weave = [&](const Ex& row, int64_t to) {
      Ex top = f_.let("top", row * y.stride - y.pad_before);
      Ex before = f_.let("before", max(-top, 0));
      Ex live = min(Ex(y.in) - top, y.kernel) - before;
      Ex from = address(in_, (top + before) * image_row()), rows = before * (1 << 16) + live;
      if (band_->columns)
        return f_.run(mve_columns_kernel(*band_), {from, address(panel_, 0), address(offsets, 0), rows});
      f_.run(mve_planes_kernel(*band_), {from, address(panel_, 0), Ex(band_->padding() + to + band_->lead), rows});
    };
    f_.loop(
        "oy", 0, y.out,
        [&](Ex oy) {
          Ex row = f_.let("row", y.out % together == 0 ? oy : min(oy, Ex(y.out - together)));
          for (int64_t i = 0; i < together; ++i) weave(row + i, i * band_->band_bytes());
          multiply(panel_, band_->padding() + band_->first, row * conv_.window.x.out, table);
        },
        together);
  }

  // ---- windows

  void make_gather_tables() {
    MvePixels how{1, shares() ? pixel_step() : panel_pixel(), conv_.out_channels, 0, 0, panel_row()};
    panel_shape_ = shape("panel_shape", how);
    make_copy_tables();
  }

  void make_copy_tables() {
    std::vector<int32_t> windows(3);
    auto bytes_of = [&](int64_t elements) { return static_cast<int32_t>(elements * bytes_); };
    windows[MveGemm::kRowStep] = bytes_of(row_step());
    windows[MveGemm::kPixelStep] = bytes_of(pixel_step());
    windows[MveGemm::kPanelPixel] = bytes_of(panel_pixel());
    if (form_ == Form::kPanel) windows_shape_ = f_.constant("windows", DType::kI32, windows);
    rows_shape_ = f_.constant<int32_t>("rows", DType::kI32, {bytes_of(row_step()), bytes_of(panel_row())});
  }

  // Bytes of the panel that no gather writes are multiplied by 0.
  void clear_panel() {
    if (panel_pixel() != conv_.k && !shares()) fill(0, 0, panel_elements());
  }

  void emit_panel() {
    auto order = window_order(conv_.window, 2, pixel_bytes());
    if (order) f_.publish(std::move(*order));
    emit_pairs([&](const Ex& first) { multiply(panel_, 0, first, panel_shape_); });
  }

  // `make` for the windows of two pixels in the panel.
  template <typename Make>
  void emit_pairs(Make make) {
    clear_panel();
    f_.loop(
        "p", 0, pixels(),
        [&](Ex p) {
          Ex first = f_.let("pixel", pixels() % 2 == 0 ? p : min(p, Ex(pixels() - 2)));
          gather(first);
          make(first);
        },
        2);
  }

  // The pairs of a row of outputs begin `offset_` before it, so that they end where the first
  // column whose window lies inside begins. Pairs that lie inside are one call.
  void emit_rows() {
    const WindowAxis& x = conv_.window.x;
    publish_rows();
    int64_t whole = tiles_.high - tiles_.low + 1, per_row = x.out / 2;
    MvePixels how{whole, pixel_step(), conv_.out_channels, 2 * pixel_step(), 2 * conv_.out_channels, row_step()};
    BufferPtr rows_shape = shape("shape", how);
    bool all = whole == per_row && all_rows();
    if (!all) clear_panel();
    f_.loop("oy", 0, conv_.window.y.out, [&](Ex oy) {
      Ex begin = f_.let("begin", oy * x.out - offset_);
      auto run = [&] {
        Ex column = Ex(2 * tiles_.low - offset_);
        Ex top = oy * conv_.window.y.stride - conv_.window.y.pad_before;
        Ex from = top * image_row() + (column * x.stride - x.pad_before) * conv_.in_channels;
        multiply(in_, from, begin + 2 * tiles_.low, rows_shape);
      };
      if (all) return run();
      Ex is_inside = f_.let("inside", oy >= rows_inside_.low && oy <= rows_inside_.high);
      Ex calls = select(is_inside, per_row - whole + 1, per_row);
      // Behind the last row, one pixel remains.
      if (offset_ > 0) calls = calls + (oy == conv_.window.y.out - 1);
      f_.loop("i", 0, f_.let("calls", calls), [&](Ex i) {
        auto pair = [&] {
          Ex passed = select(is_inside && i > tiles_.low, Ex(whole - 1), 0);
          Ex at = begin + 2 * (i + passed);
          if (offset_ > 0) at = clamp(at, 0, pixels() - 2);
          Ex first = f_.let("pixel", at);
          gather_clipped(first);
          multiply(panel_, 0, first, panel_shape_);
        };
        f_.if_(is_inside && i == tiles_.low, run, pair);
      });
    });
  }

  bool all_rows() const { return rows_inside_.low == 0 && rows_inside_.high == conv_.window.y.out - 1; }

  void publish_rows() {
    if (pixels() > WriteOrder::kMostSteps) return;
    WriteOrder order;
    const auto [in_bytes, out_bytes] = pixel_bytes();
    int64_t end = conv_.window.y.in * image_row() * bytes_;
    int64_t behind = std::max<int64_t>(blocks_.row_bytes() - row_elements_ * bytes_, 0);
    auto pair = [&, in = in_bytes, out = out_bytes](int64_t first, bool in_place) {
      ByteRange a = window_bytes(conv_.window, first, in);
      ByteRange b = window_bytes(conv_.window, first + 1, in);
      int64_t to = first * out, to_end = to + 2 * out;
      // Windows read in place are read again for every group of channels.
      if (in_place) {
        order.steps.push_back({a.begin, std::min(b.end + behind, end), to, to_end});
        return;
      }
      for (ByteRange r : {a, b})
        if (r.begin < r.end) order.steps.push_back({r.begin, r.end, 0, 0});
      order.steps.push_back({0, 0, to, to_end});
    };
    for (int64_t oy = 0; oy < conv_.window.y.out; ++oy)
      for (int64_t i = 0; i < conv_.window.x.out / 2; ++i) {
        bool in_place = oy >= rows_inside_.low && oy <= rows_inside_.high && i >= tiles_.low && i <= tiles_.high;
        pair(std::max<int64_t>(oy * conv_.window.x.out - offset_ + 2 * i, 0), in_place);
      }
    if (offset_ > 0) pair(pixels() - 2, false);
    f_.publish(std::move(order));
  }

  // ---- gathering

  void fill(const Ex& at, int value, int64_t elements) {
    f_.run(mve_fill_kernel(bytes_), {address(panel_, at), Ex(value), Ex(elements * bytes_)});
  }

  // The windows of a pair of pixels into the panel.
  void gather(const Ex& first) {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    Range columns{columns_inside_.low, columns_inside_.high - 1};  // of the first pixel
    if (dilated() || columns.empty() || rows_inside_.empty()) return gather_clipped(first);
    Ex row = f_.let("row", first / x.out);
    Ex column = f_.let("column", first - row * x.out);
    auto fast = [&] {
      Ex top = row * y.stride - y.pad_before, left = column * x.stride - x.pad_before;
      f_.run(mve_windows_kernel(y.kernel, row_elements_ * bytes_, bytes_),
             {address(in_, (top * x.in + left) * conv_.in_channels), address(panel_, 0), address(windows_shape_, 0)});
    };
    f_.if_(row >= rows_inside_.low && row <= rows_inside_.high && column >= columns.low && column <= columns.high, fast,
           [&] { gather_clipped(first); });
  }

  // The part of a window along one axis that lies inside of the image: taps begin .. end - 1.
  struct Clip {
    Ex begin, end;
  };
  Clip clip(const WindowAxis& a, const Ex& start) {
    int64_t d = a.dilation;
    Ex begin = max(-start, 0), end = max(Ex(a.in) - start, 0);
    if (d > 1) begin = (begin + (d - 1)) / d, end = (end + (d - 1)) / d;
    return {f_.let("begin", min(begin, a.kernel)), f_.let("end", min(end, a.kernel))};
  }

  // Gathers the windows of two pixels at any position.
  void gather_clipped(const Ex& first) {
    if (shares()) return gather_one(first, 0);
    f_.loop("i", 0, 2, [&](Ex i) { gather_one(first + i, f_.let("to", i * panel_pixel())); });
  }

  void gather_one(const Ex& pixel, const Ex& to) {
    const WindowAxis& y = conv_.window.y;
    WindowAxis x = conv_.window.x;
    if (shares()) x.kernel += x.stride;
    Ex at = f_.let("at", pixel);
    Ex oy = f_.let("oy", at / x.out);
    Ex top = f_.let("top", oy * y.stride - y.pad_before);
    Ex left = f_.let("left", (at - oy * x.out) * x.stride - x.pad_before);
    Clip down = clip(y, top), across = clip(x, left);
    fill(to, op_.operand(0).zero_point(), blocks_.rows > 1 ? panel_pixel() : conv_.k);
    // The taps of all rows from `tap` on, which lie side by side in the image.
    auto copy = [&](const Ex& tap, const Ex& taps) {
      Ex from = (top + down.begin * y.dilation) * x.in + left + tap * x.dilation;
      Ex size = shl_wrapping(down.end - down.begin, 16) | (taps * (conv_.in_channels * bytes_));
      f_.run(mve_rows_kernel(bytes_),
             {address(in_, from * conv_.in_channels),
              address(panel_, to + down.begin * panel_row() + tap * conv_.in_channels), address(rows_shape_, 0), size});
    };
    f_.if_(down.begin < down.end && across.begin < across.end, [&] {
      if (dilated()) f_.loop("kx", across.begin, across.end, [&](Ex kx) { copy(kx, 1); });
      else copy(across.begin, across.end - across.begin);
    });
  }

  const OpView& op_;
  const ConvShape conv_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  int64_t bytes_, out_bytes_;  // of an element of input and result
  int64_t row_elements_ = 0;
  Range rows_inside_{}, columns_inside_{};
  Form form_ = Form::kPanel;
  MveBlocks blocks_{1, 1, false};
  std::optional<MveBand> band_;
  std::optional<MveHeld> held_;
  bool can_hold_ = false;
  int64_t offset_ = 0;  // kRows: what pairs begin before a row
  Range tiles_{};       // kRows: pairs of a row that lie inside
  MveScaling scaling_;
  tir::KernelPtr kernel_;
  BufferPtr in_, out_, panel_, stream_, panel_shape_, windows_shape_, rows_shape_;
};

}  // namespace

std::optional<Lowered> lower_conv_2d_mve(const OpView& op, const TargetInfo& target) {
  return MveConvLowering(op, target).run();
}

}  // namespace aotc::cores::arm
