// SPDX-License-Identifier: Apache-2.0
// Files of other formats, made here in a few bytes: what the reader says of each, word for word.
#include "frontends/foreign.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "frontends/frontend.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::string message(const std::string& file, std::vector<uint8_t> bytes) {
  Diagnostics diags;
  EXPECT_FALSE(frontends::read_model(std::move(bytes), file, diags).ok());
  return diags.str();
}

// What every such message begins with.
std::string this_is(const std::string& file, const std::string& what) {
  return file + ": error: this is " + what +
         "; aotc reads ONNX (.onnx), TensorFlow Lite (.tflite), and graphs and archives of TVM [model-format]\n";
}

// A zip of empty files: local headers, directory, end.
std::vector<uint8_t> zip_of(const std::vector<std::string>& names) {
  std::string out, directory;
  auto number = [](std::string& to, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i));
  };
  for (const std::string& name : names) {
    uint32_t at = static_cast<uint32_t>(out.size());
    out += std::string("PK\x03\x04", 4) + std::string(22, '\0');
    number(out, static_cast<uint32_t>(name.size()), 2);
    out += std::string(2, '\0') + name;
    directory += std::string("PK\x01\x02", 4) + std::string(24, '\0');
    number(directory, static_cast<uint32_t>(name.size()), 2);
    directory += std::string(12, '\0');
    number(directory, at, 4);
    directory += name;
  }
  uint32_t begin = static_cast<uint32_t>(out.size());
  out += directory + std::string("PK\x05\x06", 4) + std::string(8, '\0');
  number(out, static_cast<uint32_t>(directory.size()), 4);
  number(out, begin, 4);
  out += std::string(2, '\0');
  return bytes_of(out);
}

// A field of a protocol buffer: a number, or bytes.
std::string number_field(int field, int value) { return {static_cast<char>(field << 3), static_cast<char>(value)}; }
std::string bytes_field(int field, const std::string& bytes) {
  std::string out;
  for (int key = field << 3 | 2; key > 0; key >>= 7) out += static_cast<char>((key & 0x7f) | (key > 0x7f ? 0x80 : 0));
  return out + static_cast<char>(bytes.size()) + bytes;
}

TEST(Foreign, Keras) {
  EXPECT_EQ(message("kws.h5", bytes_of("\x89HDF\r\n\x1a\nrest")),
            this_is("kws.h5", "a Keras model in HDF5") +
                "  help: convert it: python3 -c \"import tensorflow as tf; open('kws.tflite', "
                "'wb').write(tf.lite.TFLiteConverter.from_keras_model(tf.keras.models.load_model("
                "'kws.h5')).convert())\"\n"
                "  help: for int8, first set 'optimizations' and 'representative_dataset' of the converter\n");
  std::vector<uint8_t> zip = zip_of({"metadata.json", "config.json", "model.weights.h5"});
  EXPECT_EQ(message("kws.keras", zip),
            this_is("kws.keras", "a Keras model") +
                "  help: convert it: python3 -c \"import tensorflow as tf; open('kws.tflite', "
                "'wb').write(tf.lite.TFLiteConverter.from_keras_model(tf.keras.models.load_model("
                "'kws.keras')).convert())\"\n"
                "  help: for int8, first set 'optimizations' and 'representative_dataset' of the converter\n");
}

// Beginnings of what pickle.dumps and joblib.dump write of an SVC, of a dict of tensors, and of a list.
TEST(Foreign, Pickles) {
  std::string sklearn = this_is("m.pkl", "a model of scikit-learn, saved by pickle or joblib") +
                        "  help: export it: python3 -c \"import joblib, numpy, skl2onnx; m = joblib.load('m.pkl'); "
                        "x = numpy.zeros((1, m.n_features_in_), numpy.float32); "
                        "open('m.onnx', 'wb').write(skl2onnx.to_onnx(m, x).SerializeToString())\"\n"
                        "  help: pip install joblib scikit-learn skl2onnx; load only files that you trust, because a "
                        "pickle runs code\n";
  EXPECT_EQ(message("m.pkl", bytes_of(std::string("\x80\x04\x95\x10\x05\0\0\0\0\0\0\x8c\x14sklearn.svm._classes", 33))),
            sklearn);
  EXPECT_EQ(message("m.pkl", bytes_of(std::string("\x80\x03"
                                                  "csklearn.pipeline\nPipeline\n",
                                                  29))),
            sklearn);
  EXPECT_NE(
      message("m.pkl", bytes_of("\x80\x02}q\001X\001wctorch._utils\n_rebuild_tensor_v2\n")).find("PyTorch weights"),
      std::string::npos);
  EXPECT_EQ(message("m.pkl", bytes_of(std::string("\x80\x04]\x94.", 5))),
            this_is("m.pkl", "a Python object, saved by pickle") +
                "  help: load the object in Python, and export its model as .onnx or .tflite\n"
                "  help: or, in Python, pass a Keras, PyTorch or scikit-learn model directly to aotc.compile\n");
}

TEST(Foreign, PyTorch) {
  std::string weights = "a file of PyTorch weights without the network";
  std::string helps =
      "  help: load the weights into the Python class of their network, then: "
      "ai_edge_torch.convert(model.eval(), (SAMPLE_INPUT,)).export('kws.tflite')\n"
      "  help: pip install ai-edge-torch\n";
  EXPECT_EQ(message("kws.pth", zip_of({"kws/data.pkl", "kws/byteorder", "kws/data/0"})),
            this_is("kws.pth", weights) + helps);
  EXPECT_EQ(message("kws.pth", bytes_of(std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15))),
            this_is("kws.pth", weights) + helps);
  EXPECT_EQ(message("kws.pt", zip_of({"kws/data.pkl", "kws/code/__torch__.py", "kws/version"})),
            this_is("kws.pt", "a TorchScript model") +
                "  help: convert the original nn.Module: "
                "ai_edge_torch.convert(model.eval(), (SAMPLE_INPUT,)).export('kws.tflite')\n"
                "  help: pip install ai-edge-torch\n");
  std::string program = this_is("kws.pt2", "a program of torch.export") +
                        "  help: convert it: pip install ai-edge-torch, then in Python: "
                        "ai_edge_torch.convert(torch.export.load('kws.pt2').module(), "
                        "(SAMPLE_INPUT,)).export('kws.tflite')\n";
  EXPECT_EQ(message("kws.pt2", zip_of({"kws/archive_format", "kws/models/model.json"})), program);
  EXPECT_EQ(message("kws.pt2", zip_of({"version", "serialized_exported_program.json"})), program);
}

TEST(Foreign, TensorFlow) {
  std::string node = bytes_field(1, bytes_field(1, "x") + bytes_field(2, "Placeholder"));
  EXPECT_EQ(message("kws.pb", bytes_of(node + node + bytes_field(4, number_field(1, 9)))),
            this_is("kws.pb", "a frozen TensorFlow graph") +
                "  help: convert it: python3 -c \"import tensorflow as tf; open('kws.tflite', "
                "'wb').write(tf.compat.v1.lite.TFLiteConverter.from_frozen_graph('kws.pb', "
                "['INPUT'], ['OUTPUT']).convert())\"\n"
                "  help: for int8, first set 'optimizations' and 'representative_dataset' of the converter\n");
  std::string saved = number_field(1, 1) + bytes_field(2, bytes_field(1, "meta"));
  EXPECT_EQ(message("kws/saved_model.pb", bytes_of(saved)),
            this_is("kws/saved_model.pb", "the graph of a SavedModel") +
                "  help: convert it: python3 -c \"import tensorflow as tf; open('kws.tflite', "
                "'wb').write(tf.lite.TFLiteConverter.from_saved_model('kws').convert())\"\n"
                "  help: for int8, first set 'optimizations' and 'representative_dataset' of the converter\n");
}

TEST(Foreign, Others) {
  EXPECT_EQ(message("kws.tflite", bytes_of("version https://git-lfs.github.com/spec/v1\n"
                                           "oid sha256:0\nsize 54321\n")),
            this_is("kws.tflite", "a Git LFS pointer instead of the model") +
                "  help: fetch the model: git lfs pull --include 'kws.tflite'\n");
  EXPECT_EQ(message("kws.mlmodel", bytes_of(number_field(1, 4) + bytes_field(2, "d") + bytes_field(500, "net"))),
            this_is("kws.mlmodel", "a Core ML model") +
                "  help: a Core ML model cannot be converted back: convert the original Keras or PyTorch model\n");
  EXPECT_EQ(message("x.npy", bytes_of("\x93NUMPY\x01")),
            this_is("x.npy", "a NumPy array") +
                "  help: pass arrays together with a model: aotc verify MODEL --input x.npy\n");
  EXPECT_EQ(message("x.npz", zip_of({"a.npy", "b.npy"})),
            this_is("x.npz", "NumPy arrays") +
                "  help: pass arrays together with a model, one .npy file for each input: aotc verify MODEL --input "
                "FILE.npy\n");
  EXPECT_EQ(message("kws.zip", zip_of({"README", "out/kws.tflite"})),
            this_is("kws.zip", "a zip that contains a model") + "  help: unzip kws.zip out/kws.tflite\n");
  EXPECT_EQ(message("a.zip", zip_of({"README"})),
            this_is("a.zip", "a zip") + "  help: unzip a.zip and give aotc the .tflite file\n");
  EXPECT_EQ(message("kws.tflite.gz", bytes_of("\x1f\x8b\x08")),
            this_is("kws.tflite.gz", "a file compressed by gzip") +
                "  help: gunzip kws.tflite.gz, or tar xzf kws.tflite.gz if it is an archive\n");
  EXPECT_EQ(message("kws.ort", bytes_of(std::string("\x10\0\0\0ORTM", 8))),
            this_is("kws.ort", "a model in ONNX Runtime's own format") +
                "  help: this format cannot be converted back: give aotc the original .onnx file\n");
  EXPECT_EQ(
      message("net.pte", bytes_of(std::string("\x20\0\0\0ET12", 8))),
      this_is("net.pte", "an ExecuTorch program") +
          "  help: an ExecuTorch program cannot be converted back: convert the original nn.Module: "
          "ai_edge_torch.convert(model.eval(), (SAMPLE_INPUT,)).export('net.tflite')\n"
          "  help: or export the nn.Module to ONNX: torch.onnx.export(model.eval(), (SAMPLE_INPUT,), 'net.onnx')\n");
  EXPECT_EQ(
      message("net.gguf", bytes_of("GGUF\x03")),
      this_is("net.gguf", "a GGUF file, the weights of a large language model for llama.cpp") +
          "  help: aotc cannot convert GGUF: export the original network to ONNX or TFLite, if the network is small "
          "enough\n");
  EXPECT_EQ(message("kws.tflite", bytes_of("<!DOCTYPE html><html>")),
            this_is("kws.tflite", "a web page instead of the model") +
                "  help: download the file itself: such pages have a link 'raw' or 'download'\n");
}

TEST(Foreign, Folders) {
  fs::path folder = fs::path(::testing::TempDir()) / "aotc_foreign";
  fs::remove_all(folder);
  fs::create_directories(folder / "variables");
  EXPECT_FALSE(frontends::recognise_foreign_folder(folder.string()));
  std::ofstream(folder / "saved_model.pb") << "x";
  auto found = frontends::recognise_foreign_folder(folder.string());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "a SavedModel");
  EXPECT_EQ(found->helps[0],
            "convert it: python3 -c \"import tensorflow as tf; "
            "open('aotc_foreign.tflite', 'wb').write(tf.lite.TFLiteConverter."
            "from_saved_model('" +
                folder.string() + "').convert())\"");
  fs::remove_all(folder);
}

TEST(Foreign, DamagedFilesAreNoModels) {
  std::vector<uint8_t> zip = zip_of({"kws/data.pkl", "kws/code/__torch__.py", "a.tflite"});
  for (size_t size = 0; size <= zip.size(); ++size) (void)frontends::recognise_foreign({zip.data(), size}, "kws");
  for (size_t at = 0; at < zip.size(); ++at) {
    std::vector<uint8_t> changed = zip;
    changed[at] = 0xff;
    (void)frontends::recognise_foreign(changed, "kws");
  }
  for (std::string text : {"", "hello", "\x08", "\x0a\xff\xff\xff\xff\x7f", "\x80", "PK\x03\x04"}) {
    auto found = frontends::recognise_foreign(bytes_of(text), "kws");
    EXPECT_EQ(found.has_value(), text == "PK\x03\x04") << text;
  }
}

}  // namespace
}  // namespace aotc
