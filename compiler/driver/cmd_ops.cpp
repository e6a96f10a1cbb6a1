// SPDX-License-Identifier: Apache-2.0
// ops: the operators with their types. --like finds by name, by the names of formats and by what they do,
// and says what to use instead of some that aotc does not have.
#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "frontends/frontend.h"
#include "ops/operator.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// Names of operators in Keras, PyTorch and ONNX, for `aotc ops --like`. They serve only the search: each frontend knows
// the names in its models' files.
struct OtherNames {
  std::string_view op;  // aotc's name
  std::vector<std::string_view> names;
};

const std::vector<OtherNames>& other_names() {
  static const std::vector<OtherNames> kNames = {
      {"add", {"Add", "residual"}},
      {"arg_max", {"ArgMax"}},
      {"attention", {"Attention", "MultiHeadAttention", "MultiheadAttention", "scaled_dot_product_attention"}},
      {"average_pool_2d", {"AveragePooling2D", "AvgPool2d", "AveragePool", "AveragePooling1D", "AvgPool1d"}},
      {"cast", {"Cast", "to"}},
      {"concatenation", {"Concatenate", "Concat", "cat"}},
      {"conv_2d", {"Conv2D", "Conv1D", "Conv2d", "Conv1d", "Convolution"}},
      {"depthwise_conv_2d", {"DepthwiseConv2D", "DepthwiseConv1D", "SeparableConv2D"}},
      {"dequantize", {"DequantizeLinear"}},
      {"fully_connected", {"Dense", "Linear", "Gemm", "InnerProduct"}},
      {"hard_swish", {"HardSwish", "hardswish", "hard_silu"}},
      {"leaky_relu", {"LeakyReLU"}},
      {"logistic", {"Sigmoid"}},
      {"max_pool_2d", {"MaxPooling2D", "MaxPool2d", "MaxPool", "MaxPooling1D", "MaxPool1d"}},
      {"maximum", {"Maximum", "Max"}},
      {"mean",
       {"GlobalAveragePooling2D", "GlobalAveragePooling1D", "GlobalAveragePool", "AdaptiveAvgPool2d", "ReduceMean"}},
      {"minimum", {"Minimum", "Min"}},
      {"mul", {"Multiply", "Mul"}},
      {"pack", {"Stack"}},
      {"pad", {"ZeroPadding2D", "ZeroPadding1D", "ConstantPad2d", "ZeroPad2d", "Pad"}},
      {"quantize", {"QuantizeLinear"}},
      {"relu", {"ReLU"}},
      {"relu6", {"ReLU6", "Clip"}},
      {"relu_n1_to_1", {"Hardtanh"}},
      {"reshape", {"Flatten", "Unsqueeze", "View"}},
      {"resize_nearest_neighbor", {"UpSampling2D", "Upsample", "Resize"}},
      {"slice", {"Narrow", "Cropping2D"}},
      {"softmax", {"Softmax"}},
      {"split", {"Split", "Chunk"}},
      {"sub", {"Subtract", "Sub"}},
      {"tanh", {"Tanh"}},
      {"transpose", {"Permute"}},
      {"unpack", {"Unstack", "Unbind"}},
  };
  return kNames;
}

// What stands in for operators that networks often have and aotc has not: the part of the name that
// tells, advice, and operators to show.
struct Substitute {
  std::vector<std::string_view> parts;
  std::string_view advice;
  std::vector<std::string_view> operators;
};
const Substitute kSubstitutes[] = {
    {{"gru", "lstm", "rnn"},
     "LSTM and RNN layers are supported; export GRU layers unrolled (Keras: unroll=True), which gives these operators",
     {"fully_connected", "add", "mul", "logistic", "tanh", "split", "concatenation", "slice"}},
    {{"matmul", "einsum", "gemm", "dense"},
     "use fully_connected for a product with constant weights",
     {"fully_connected"}},
    {{"transposeconv", "convtranspose", "deconv", "resizebilinear", "upsampl"},
     "use a transposed convolution, or a resize and then a convolution",
     {"transpose_conv", "resize_bilinear", "resize_nearest_neighbor", "conv_2d"}},
    {{"gelu", "elu", "silu", "swish", "mish", "prelu"},
     "supported activations",
     {"gelu", "elu", "prelu", "hard_swish", "leaky_relu", "relu", "relu6"}},
    {{"batchnorm", "normalization"},
     "the converter folds a normalisation after a convolution into the convolution's weights; for other "
     "normalisations, use these operators",
     {"mul", "add"}},
    {{"pow"}, "use products for powers", {"mul", "sub"}},
};

// Operators that models can have by themselves; what is given in C is none of aotc's.
std::vector<const ops::Operator*> all_operators() {
  auto all = ops::operators().all();
  std::erase_if(all, [](const ops::Operator* op) { return op->traits().external; });
  return all;
}

// "CONV_2D", "Conv2d" and "conv_2d" are one name.
std::string plain(std::string_view name) {
  std::string out;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return !part.empty() && text.find(part) != std::string::npos;
}

// What a format has.
struct Format {
  const frontends::Frontend& frontend;
  std::vector<frontends::FormatOperator> operators;
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all = [] {
    std::vector<Format> made;
    for (const frontends::Frontend& f : frontends::frontends()) made.push_back({f, f.operators()});
    return made;
  }();
  return all;
}

// What a format calls one of ours, and the numbers of these, where it has some.
std::vector<std::string> names_in(const Format& format, const ops::Operator& op) {
  std::vector<std::string> out;
  for (const frontends::FormatOperator& o : format.operators)
    if (o.op == op.name()) out.push_back(o.name);
  return out;
}

std::vector<int> codes_in(const Format& format, const ops::Operator& op) {
  std::vector<int> out;
  for (const frontends::FormatOperator& o : format.operators)
    if (o.op == op.name() && o.code) out.push_back(*o.code);
  return out;
}

std::vector<std::string> other_names_of(const ops::Operator& op) {
  std::vector<std::string> out;
  for (const OtherNames& other : other_names())
    if (other.op == op.name())
      for (std::string_view name : other.names) out.emplace_back(name);
  return out;
}

// Ours, those of formats, others.
std::vector<std::string> all_names_of(const ops::Operator& op) {
  std::vector<std::string> out = {std::string(op.name())};
  for (const Format& format : formats())
    for (std::string& name : names_in(format, op)) out.push_back(std::move(name));
  for (std::string& name : other_names_of(op)) out.push_back(std::move(name));
  return out;
}

struct Search {
  std::vector<const ops::Operator*> found;  // best first
  std::string advice;

  void add(const ops::Operator* op) {
    if (op != nullptr && std::find(found.begin(), found.end(), op) == found.end()) found.push_back(op);
  }
};

Search search_operators(const std::string& like) {
  Search out;
  std::string wanted = plain(like);
  auto all = all_operators();
  auto each_name = [&](auto matches) {
    for (const ops::Operator* op : all)
      for (const std::string& name : all_names_of(*op))
        if (matches(plain(name))) out.add(op);
  };
  each_name([&](const std::string& name) { return name == wanted; });
  bool exact = !out.found.empty();
  each_name(
      [&](const std::string& name) { return contains(name, wanted) || (name.size() > 2 && contains(wanted, name)); });
  for (const ops::Operator* op : all)
    if (wanted.size() > 2 && contains(plain(op->summary()), wanted)) out.add(op);
  for (const Substitute& s : kSubstitutes) {
    if (exact) break;
    bool meant = std::any_of(s.parts.begin(), s.parts.end(),
                             [&](std::string_view part) { return contains(wanted, std::string(part)); });
    if (!meant) continue;
    out.advice = s.advice;
    for (std::string_view name : s.operators) out.add(ops::operators().find(name));
    return out;
  }
  if (exact) return out;
  std::vector<std::string> names;
  for (const ops::Operator* op : all)
    for (const std::string& name : all_names_of(*op)) names.push_back(plain(name));
  for (const std::string& near : closest(wanted, names, 5))
    each_name([&](const std::string& name) { return name == near; });
  return out;
}

// Why what was asked for is not in the list, if it is not; for stderr.
std::string absence(const std::string& like, const Search& result) {
  std::string wanted = plain(like);
  bool part = false;
  for (const ops::Operator* op : result.found)
    for (const std::string& name : all_names_of(*op)) {
      if (plain(name) == wanted) return "";
      part = part || contains(plain(name), wanted);
    }
  std::string shown = escape_for_display(like);
  const Format* known = nullptr;
  for (const Format& format : formats())
    for (const frontends::FormatOperator& o : format.operators)
      if (known == nullptr && plain(o.name) == wanted) known = &format;
  // A part of names is what was searched for, unless an operator has it as its own.
  if (part && known == nullptr) return "";
  std::string out = known != nullptr
                        ? fmt::format("aotc does not support '{}', an operator of {}", shown, known->frontend.title)
                        : fmt::format("no operator is called '{}'", shown);
  if (!result.advice.empty()) return out + "; " + result.advice + ":\n";
  return out + (result.found.empty() ? "" : "; nearest:") + "\n";
}

}  // namespace

int ops_command(const std::string& like, const CommonOptions& common) {
  Search shown;
  if (like.empty()) {
    shown.found = all_operators();
  } else {
    shown = search_operators(like);
    print_err("{}", absence(like, shown));
  }
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows = {{"operator", "what it does", "types"}};
  for (const ops::Operator* op : shown.found) {
    std::string types;
    nlohmann::ordered_json t = nlohmann::ordered_json::array();
    for (const ops::TypeSupport& s : op->types()) {
      types +=
          fmt::format("{}{}{}", types.empty() ? "" : ", ", name_of(s.dtype), s.note.empty() ? "" : " (" + s.note + ")");
      t.push_back({{"dtype", name_of(s.dtype)}, {"note", s.note}});
    }
    rows.push_back({std::string(op->name()), std::string(op->summary()), types});
    j.push_back({{"name", op->name()},
                 {"summary", op->summary()},
                 {"types", t},
                 {"other_names", other_names_of(*op)},
                 {"uses_libm", op->traits().uses_libm}});
    for (const Format& format : formats()) {
      const std::string name(format.frontend.name);
      j.back()[name + "_names"] = names_in(format, *op);
      if (auto codes = codes_in(format, *op); !codes.empty()) j.back()[name + "_codes"] = codes;
    }
  }
  if (common.json) {
    print_out("{}\n", json_text(j, 1));
  } else if (!shown.found.empty()) {
    print_out("{}", format_table(rows));
  }
  if (!shown.found.empty()) return kExitDone;
  print_err("help: 'aotc ops' lists all {} operators\n", all_operators().size());
  return kExitBadInput;
}

}  // namespace aotc::driver
