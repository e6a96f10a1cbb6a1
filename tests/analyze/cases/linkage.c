#include "linkage.h"

/* A local function is a symbol of this file alone. */
static int32_t local(const int8_t *a, int8_t *out) {
    out[0] = a[0];
    return 0;
}
int32_t exported(const int8_t *a, int8_t *out) { return local(a, out); }

/* Declared twice here, defined below: one function, where its body is. */
int32_t twice(const int8_t *a, int8_t *out);
int32_t twice(const int8_t *a, int8_t *out);
int32_t twice(const int8_t *a, int8_t *out) { return local(a, out); }

__attribute__((weak)) int32_t replaceable(const int8_t *a, int8_t *out) { return local(a, out); }

/* Inline alone gives no symbol in C, extern inline does. */
inline int32_t inline_only(const int8_t *a, int8_t *out) {
    out[0] = a[0];
    return 0;
}
extern inline int32_t inline_extern(const int8_t *a, int8_t *out) {
    out[0] = a[0];
    return 0;
}
int32_t renamed(const int8_t *a, int8_t *out) __asm__("its_symbol");
int32_t renamed(const int8_t *a, int8_t *out) { return local(a, out); }

#define DEFINE(name) \
    int32_t name(const int8_t *a, int8_t *out) { return local(a, out); }
DEFINE(from_macro)
#include "linkage_body.inc"
