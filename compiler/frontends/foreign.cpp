// SPDX-License-Identifier: Apache-2.0
#include "frontends/foreign.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "frontends/frontend.h"
#include "support/diagnostics.h"

namespace aotc::frontends {

namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const uint8_t>;

bool begins(Bytes bytes, std::string_view with, size_t at = 0) {
  return bytes.size() >= at + with.size() && std::memcmp(bytes.data() + at, with.data(), with.size()) == 0;
}

// --- What to type
// ---------------------------------------------------------------------------------

std::string shown(const std::string& file) { return escape_for_display(file); }

std::string stem_of(const std::string& file) {
  std::string stem = fs::path(file).filename().stem().string();
  return shown(stem.empty() ? "model" : stem);
}

std::vector<std::string> by_tensorflow(const std::string& converter, const std::string& file) {
  return {fmt::format("convert it: python3 -c \"import tensorflow as tf; "
                      "open('{}.tflite', 'wb').write({}.convert())\"",
                      stem_of(file), converter),
          "for int8, first set 'optimizations' and 'representative_dataset' of the converter"};
}

std::string by_torch(const std::string& module, const std::string& file) {
  return fmt::format("ai_edge_torch.convert({}, (SAMPLE_INPUT,)).export('{}.tflite')", module, stem_of(file));
}

Foreign keras(const std::string& what, const std::string& file) {
  return {what, by_tensorflow(fmt::format("tf.lite.TFLiteConverter.from_keras_model("
                                          "tf.keras.models.load_model('{}'))",
                                          shown(file)),
                              file)};
}

Foreign saved_model(const std::string& what, const std::string& folder) {
  return {what, by_tensorflow(fmt::format("tf.lite.TFLiteConverter.from_saved_model('{}')", shown(folder)),
                              fs::path(folder).lexically_normal().string())};
}

Foreign core_ml() {
  return {"a Core ML model", {"a Core ML model cannot be converted back: convert the original Keras or PyTorch model"}};
}

Foreign torch_weights(const std::string& file) {
  return {
      "a file of PyTorch weights without the network",
      {fmt::format("load the weights into the Python class of their network, then: {}", by_torch("model.eval()", file)),
       "pip install ai-edge-torch"}};
}

// A pickle begins with the names of the classes that it holds, or with the magic number of PyTorch's first format.
Foreign pickle(Bytes bytes, const std::string& file) {
  constexpr size_t kHead = 4096;
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kHead));
  auto has = [&](std::string_view text) { return head.find(text) != std::string_view::npos; };
  if (has("sklearn"))
    return {"a model of scikit-learn, saved by pickle or joblib",
            {fmt::format("export it: python3 -c \"import joblib, numpy, skl2onnx; m = joblib.load('{}'); "
                         "x = numpy.zeros((1, m.n_features_in_), numpy.float32); "
                         "open('{}.onnx', 'wb').write(skl2onnx.to_onnx(m, x).SerializeToString())\"",
                         shown(file), stem_of(file)),
             "pip install joblib scikit-learn skl2onnx; load only files that you trust, because a pickle runs code"}};
  if (has("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") || has("torch")) return torch_weights(file);
  return {"a Python object, saved by pickle",
          {"load the object in Python, and export its model as .onnx or .tflite",
           "or, in Python, pass a Keras, PyTorch or scikit-learn model directly to aotc.compile"}};
}

bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

// --- Archives
// -------------------------------------------------------------------------------------

uint32_t little(Bytes bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= static_cast<uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

// The names in a zip's directory, at most some thousand; none if it is damaged.
std::vector<std::string> names_in_zip(Bytes bytes) {
  constexpr size_t kEnd = 22, kEntry = 46, kMostNames = 4096;
  std::vector<std::string> names;
  size_t lowest = bytes.size() > 65536 + kEnd ? bytes.size() - 65536 - kEnd : 0;
  size_t end = bytes.size() < kEnd ? 0 : bytes.size() - kEnd + 1;
  while (end > lowest && !begins(bytes, "PK\x05\x06", end - 1)) --end;
  if (end == lowest) return names;
  size_t at = little(bytes, end - 1 + 16, 4);
  while (names.size() < kMostNames && begins(bytes, "PK\x01\x02", at) && bytes.size() - at >= kEntry) {
    size_t name = little(bytes, at + 28, 2);
    if (bytes.size() - at - kEntry < name) break;
    names.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at + kEntry, name);
    at += kEntry + name + little(bytes, at + 30, 2) + little(bytes, at + 32, 2);
  }
  return names;
}

Foreign zip(Bytes bytes, const std::string& file) {
  std::vector<std::string> names = names_in_zip(bytes);
  auto any = [&](std::string_view end) {
    return std::find_if(names.begin(), names.end(), [&](const std::string& name) { return name.ends_with(end); });
  };
  auto has = [&](std::string_view end) { return any(end) != names.end(); };
  auto has_folder = [&](std::string_view folder) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return name.find(folder) != std::string::npos; });
  };
  if (has("model.weights.h5") && has("config.json")) return keras("a Keras model", file);
  if (has("archive_format") || has("serialized_exported_program.json"))
    return {"a program of torch.export",
            {"convert it: pip install ai-edge-torch, then in Python: " +
             by_torch(fmt::format("torch.export.load('{}').module()", shown(file)), file)}};
  if (has("data.pkl") && has_folder("/code/"))
    return {"a TorchScript model",
            {"convert the original nn.Module: " + by_torch("model.eval()", file), "pip install ai-edge-torch"}};
  if (has("data.pkl")) return torch_weights(file);
  if (has_folder("com.apple.CoreML")) return core_ml();
  if (has("saved_model.pb"))
    return {"a zip with a SavedModel",
            {"unzip the file and give aotc the folder; aotc then prints the command that converts the model"}};
  if (has(".tflite"))
    return {"a zip that contains a model", {fmt::format("unzip {} {}", shown(file), shown(*any(".tflite")))}};
  if (!names.empty() &&
      std::all_of(names.begin(), names.end(), [](const std::string& n) { return n.ends_with(".npy"); }))
    return {"NumPy arrays",
            {"pass arrays together with a model, one .npy file for each input: aotc verify MODEL --input FILE.npy"}};
  return {"a zip", {fmt::format("unzip {} and give aotc the .tflite file", shown(file))}};
}

// --- Protocol buffers
// -----------------------------------------------------------------------------

struct Field {
  uint32_t number;
  bool is_bytes;
  Bytes bytes;  // if so
};

// One level of a message; nothing if the bytes are none.
std::optional<std::vector<Field>> fields_of(Bytes bytes) {
  constexpr size_t kMostFields = 1 << 20;
  std::vector<Field> out;
  size_t at = 0;
  auto varint = [&](uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
      uint8_t b = bytes[at++];
      value |= static_cast<uint64_t>(b & 0x7f) << shift;
      if ((b & 0x80) == 0) return true;
    }
    return false;
  };
  while (at < bytes.size()) {
    uint64_t key = 0, length = 0;
    if (!varint(key) || (key >> 3) == 0 || (key >> 3) > 0xffffff || out.size() == kMostFields) return std::nullopt;
    Field field{static_cast<uint32_t>(key >> 3), (key & 7) == 2, {}};
    if ((key & 7) == 0) {
      if (!varint(length)) return std::nullopt;
      length = 0;
    } else if ((key & 7) == 2) {
      if (!varint(length)) return std::nullopt;
    } else if ((key & 7) == 1 || (key & 7) == 5) {
      length = (key & 7) == 1 ? 8 : 4;
    } else {
      return std::nullopt;
    }
    if (length > bytes.size() - at) return std::nullopt;
    field.bytes = bytes.subspan(at, length);
    at += length;
    out.push_back(field);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

// Is it a node of a TensorFlow graph: a name, then an operator's?
bool is_graph_node(Bytes bytes) {
  auto fields = fields_of(bytes);
  return fields && fields->size() >= 2 && (*fields)[0].number == 1 && (*fields)[0].is_bytes &&
         (*fields)[1].number == 2 && (*fields)[1].is_bytes;
}

std::optional<Foreign> protocol_buffer(Bytes bytes, const std::string& file) {
  auto fields = fields_of(bytes);
  if (!fields) return std::nullopt;
  auto has = [&](uint32_t number, bool is_bytes) {
    return std::any_of(fields->begin(), fields->end(),
                       [&](const Field& f) { return f.number == number && f.is_bytes == is_bytes; });
  };
  auto all = [&](auto matches) { return std::all_of(fields->begin(), fields->end(), matches); };
  if (has(1, false) && std::any_of(fields->begin(), fields->end(), [](const Field& f) { return f.number >= 200; }))
    return core_ml();
  if (has(1, false) && has(2, true) && all([](const Field& f) { return f.number <= 2; }))
    return saved_model("the graph of a SavedModel",
                       fs::path(file).parent_path().empty() ? "." : fs::path(file).parent_path().string());
  if (fields->front().number == 1 && fields->front().is_bytes && is_graph_node(fields->front().bytes))
    return Foreign{"a frozen TensorFlow graph",
                   by_tensorflow(fmt::format("tf.compat.v1.lite.TFLiteConverter.from_frozen_graph("
                                             "'{}', ['INPUT'], ['OUTPUT'])",
                                             shown(file)),
                                 file)};
  return std::nullopt;
}

}  // namespace

std::optional<Foreign> recognise_foreign(Bytes bytes, const std::string& file) {
  if (begins(bytes, "version https://git-lfs.github.com/spec/"))
    return Foreign{"a Git LFS pointer instead of the model",
                   {fmt::format("fetch the model: git lfs pull --include '{}'", shown(file))}};
  if (begins(bytes, "PK\x03\x04")) return zip(bytes, file);
  if (begins(bytes, "\x89HDF\r\n\x1a\n")) return keras("a Keras model in HDF5", file);
  if (begins(bytes, "\x93NUMPY"))
    return Foreign{"a NumPy array",
                   {fmt::format("pass arrays together with a model: aotc verify MODEL --input {}", shown(file))}};
  if (begins(bytes, "\x1f\x8b"))
    return Foreign{"a file compressed by gzip",
                   {fmt::format("gunzip {}, or tar xzf {} if it is an archive", shown(file), shown(file))}};
  if (begins(bytes, "ORTM", 4))
    return Foreign{"a model in ONNX Runtime's own format",
                   {"this format cannot be converted back: give aotc the original .onnx file"}};
  if (begins(bytes, "ET", 4) && bytes.size() >= 8 && is_digit(bytes[6]) && is_digit(bytes[7]))
    return Foreign{
        "an ExecuTorch program",
        {"an ExecuTorch program cannot be converted back: convert the original nn.Module: " +
             by_torch("model.eval()", file),
         fmt::format("or export the nn.Module to ONNX: torch.onnx.export(model.eval(), (SAMPLE_INPUT,), '{}.onnx')",
                     stem_of(file))}};
  if (begins(bytes, "GGUF"))
    return Foreign{
        "a GGUF file, the weights of a large language model for llama.cpp",
        {"aotc cannot convert GGUF: export the original network to ONNX or TFLite, if the network is small enough"}};
  if (begins(bytes, "<!DOCTYPE") || begins(bytes, "<!doctype") || begins(bytes, "<html"))
    return Foreign{"a web page instead of the model",
                   {"download the file itself: such pages have a link 'raw' or 'download'"}};
  if (bytes.size() > 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5) return pickle(bytes, file);
  return protocol_buffer(bytes, file);
}

std::optional<Foreign> recognise_foreign_folder(const std::string& path) {
  std::error_code ignored;
  auto has = [&](const char* name) { return fs::exists(fs::path(path) / name, ignored); };
  if (has("saved_model.pb")) return saved_model("a SavedModel", path);
  if (has("Manifest.json") && has("Data/com.apple.CoreML")) return core_ml();
  return std::nullopt;
}

std::string readable_formats() {
  std::string out;
  for (const Frontend& frontend : frontends()) out += fmt::format("{}, ", frontend.files);
  return out + "and graphs and archives of TVM";
}

void report_foreign(Diagnostics& diags, const Location& at, const Foreign& foreign) {
  Diagnostic& d =
      diags.error(at, "model-format", fmt::format("this is {}; aotc reads {}", foreign.what, readable_formats()));
  for (const std::string& help : foreign.helps) d.help(help);
}

}  // namespace aotc::frontends
