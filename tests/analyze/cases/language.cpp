#include <cstdint>

namespace {
int32_t hidden(const int8_t* a, int8_t* out) {
  out[0] = a[0];
  return 0;
}
}  // namespace

int32_t mangled(const int8_t* a, int8_t* out) { return hidden(a, out); }
int32_t mangled(const float* a, float* out) {
  out[0] = a[0];
  return 0;
}
namespace lib {
extern "C" int32_t in_namespace(const std::int8_t* a, std::int8_t* out) { return hidden(a, out); }
}  // namespace lib

extern "C" {
int32_t exported(const int8_t* a, int8_t* out) { return hidden(a, out); }
inline int32_t inline_c(const int8_t* a, int8_t* out) { return hidden(a, out); }
int32_t uses_inline(const int8_t* a, int8_t* out) { return inline_c(a, out); }
}

template <typename T>
int32_t generic(const T* a, T* out) {
  out[0] = a[0];
  return 0;
}
template int32_t generic<int8_t>(const int8_t*, int8_t*);

struct Object {
  int32_t method(const int8_t* a, int8_t* out) { return hidden(a, out); }
};
