// SPDX-License-Identifier: Apache-2.0
#include "mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tflite_schema_generated.h"

namespace aotc::fuzz {

namespace {

namespace schema = tflite_schema;

class SiteFinder {
 public:
  explicit SiteFinder(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  std::vector<Site> run() {
    add(bytes_.data(), 4);  // offset of the root
    const schema::Model* model = schema::GetModel(bytes_.data());
    table(model);
    tables(model->operator_codes(), [](const schema::OperatorCode*) {});
    tables(model->buffers(), [this](const schema::Buffer* b) { length(b->data()); });
    tables(model->subgraphs(), [this](const schema::SubGraph* s) { subgraph(s); });
    tables(model->signature_defs(), [this](const schema::SignatureDef* s) {
      tables(s->inputs(), [](const schema::TensorMap*) {});
      tables(s->outputs(), [](const schema::TensorMap*) {});
      length(s->signature_key());
    });
    std::sort(sites_.begin(), sites_.end(), [](const Site& a, const Site& b) {
      return a.position != b.position ? a.position < b.position : a.width < b.width;
    });
    return std::move(sites_);
  }

 private:
  // The verifier does not look at options of a type that it does not know.
  bool inside(const uint8_t* at, size_t size) const {
    const uint8_t* end = bytes_.data() + bytes_.size();
    return at >= bytes_.data() && at <= end && static_cast<size_t>(end - at) >= size;
  }

  void add(const void* at, int width) {
    if (!inside(static_cast<const uint8_t*>(at), static_cast<size_t>(width))) return;
    sites_.push_back({static_cast<size_t>(static_cast<const uint8_t*>(at) - bytes_.data()), width});
  }

  // The fields of a table as its vtable lays them out; a field's width is what the gap to the next
  // one leaves.
  void table(const void* pointer) {
    const auto* start = static_cast<const uint8_t*>(pointer);
    if (!inside(start, 4)) return;
    add(start, 4);  // distance to the vtable
    const uint8_t* vtable = static_cast<const flatbuffers::Table*>(pointer)->GetVTable();
    if (!inside(vtable, 4) || !inside(vtable, flatbuffers::ReadScalar<uint16_t>(vtable))) return;
    auto entry = [&](size_t i) { return flatbuffers::ReadScalar<uint16_t>(vtable + i * 2); };
    size_t count = entry(0) / 2u;
    std::vector<uint16_t> offsets;
    for (size_t i = 0; i < count; ++i) {
      add(vtable + i * 2, 2);
      if (i >= 2 && entry(i) != 0) offsets.push_back(entry(i));
    }
    offsets.push_back(entry(1));
    std::sort(offsets.begin(), offsets.end());
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      int gap = offsets[i + 1] - offsets[i];
      add(start + offsets[i], gap >= 8 ? 8 : gap >= 4 ? 4 : gap >= 2 ? 2 : 1);
      if (gap >= 4) add(start + offsets[i], 4);
      add(start + offsets[i], 1);
    }
  }

  template <typename T>
  void length(const flatbuffers::Vector<T>* vector) {
    if (vector != nullptr) add(vector, 4);
  }
  void length(const flatbuffers::String* text) {
    if (text != nullptr) add(text, 4);
  }

  template <typename T>
  void numbers(const flatbuffers::Vector<T>* vector) {
    length(vector);
    if (vector == nullptr) return;
    for (uint32_t i = 0; i < std::min<uint32_t>(vector->size(), 16); ++i) {
      add(vector->Data() + i * sizeof(T), static_cast<int>(sizeof(T)));
    }
  }

  template <typename T, typename F>
  void tables(const flatbuffers::Vector<flatbuffers::Offset<T>>* vector, F&& each) {
    length(vector);
    if (vector == nullptr) return;
    for (uint32_t i = 0; i < vector->size(); ++i) {
      add(vector->Data() + i * 4, 4);
      table(vector->Get(i));
      each(vector->Get(i));
    }
  }

  void subgraph(const schema::SubGraph* s) {
    numbers(s->inputs());
    numbers(s->outputs());
    tables(s->tensors(), [this](const schema::Tensor* t) {
      numbers(t->shape());
      numbers(t->shape_signature());
      length(t->name());
      if (const auto* q = t->quantization()) {
        table(q);
        numbers(q->scale());
        numbers(q->zero_point());
      }
    });
    tables(s->operators(), [this](const schema::Operator* op) {
      numbers(op->inputs());
      numbers(op->outputs());
      if (op->builtin_options() != nullptr) table(op->builtin_options());
    });
  }

  const std::vector<uint8_t>& bytes_;
  std::vector<Site> sites_;
};

// Small numbers are what indices, counts and enums become; the rest are the edges of every width.
uint64_t interesting_value(Random& random, uint64_t old) {
  static constexpr uint64_t kEdges[] = {0,
                                        1,
                                        UINT64_MAX,
                                        0x7F,
                                        0x80,
                                        0xFF,
                                        0x7FFF,
                                        0x8000,
                                        0xFFFF,
                                        0x7FFFFFFF,
                                        0x80000000,
                                        0xFFFFFFFF,
                                        0x7F800000 /* inf */,
                                        0x7FC00000 /* nan */,
                                        0x7FFFFFFFFFFFFFFF,
                                        0x8000000000000000};
  switch (random.below(6)) {
    case 0: return kEdges[random.below(std::size(kEdges))];
    case 1: return old + 1;
    case 2: return old - 1;
    case 3: return random.below(200);
    case 4: return random.below(2) == 0 ? old * 2 : old / 2;
    default: return random.next();
  }
}

std::string edit_field(std::vector<uint8_t>& bytes, const Site& site, Random& random) {
  uint64_t value = 0;
  size_t width = static_cast<size_t>(site.width);
  if (site.position + width > bytes.size()) return "";
  std::memcpy(&value, bytes.data() + site.position, width);
  value = interesting_value(random, value);
  std::memcpy(bytes.data() + site.position, &value, width);
  return fmt::format("{} bytes at {} set to {:#x} ", site.width, site.position, value);
}

}  // namespace

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::vector<Site> find_sites(const std::vector<uint8_t>& bytes) { return SiteFinder(bytes).run(); }

Mutation mutate(const std::vector<uint8_t>& original, const std::vector<Site>& sites, uint64_t seed, uint64_t number) {
  Random random(seed * 0x100000001B3u + number);
  Mutation out{original, ""};
  // Of ten cases: one truncation, three of bit flips, six of fields.
  uint64_t kind = random.below(10);
  if (kind == 0) {
    out.bytes.resize(random.below(original.size()));
    out.bytes.shrink_to_fit();
    out.what = fmt::format("truncated to {} bytes", out.bytes.size());
  } else if (kind <= 3 || sites.empty()) {
    // The tables are a small part of a file with weights; half of the flips aim at its ends.
    uint64_t flips = 1 + random.below(8);
    for (uint64_t i = 0; i < flips; ++i) {
      uint64_t at = random.below(original.size());
      if (random.below(2) == 0 && !sites.empty()) at = sites[random.below(sites.size())].position;
      uint64_t bit = random.below(8);
      out.bytes[at] ^= static_cast<uint8_t>(1u << bit);
      out.what += fmt::format("bit {} of byte {} flipped ", bit, at);
    }
  } else {
    uint64_t edits = 1 + random.below(random.below(4) == 0 ? 4 : 1);
    for (uint64_t i = 0; i < edits; ++i) {
      out.what += edit_field(out.bytes, sites[random.below(sites.size())], random);
    }
  }
  return out;
}

}  // namespace aotc::fuzz
