#include <stdbool.h>
#include <stdint.h>

typedef int8_t element_t;
typedef const element_t operand_t;

/* Plain: operands are const and first, results are not. */
int32_t one_result(const int8_t *a, int8_t *out) {
    out[0] = a[0];
    return 0;
}
int returns_int(const float *a, const double *b, float *x, double *y) {
    x[0] = a[0];
    y[0] = b[0];
    return 0;
}
int32_t arrays(const int16_t a[3][4], uint32_t out[12]);
int32_t flat(const int16_t a[static 12], uint32_t out[restrict 12]) {
    out[0] = (uint32_t)a[0];
    return 0;
}
int32_t with_context(const uint8_t *restrict a, const int64_t *const b, uint64_t *out,
                     void *context) {
    (void)context;
    out[0] = a[0] + (uint64_t)b[0];
    return 0;
}
int32_t untyped(const void *a, void *out) {
    (void)a;
    (void)out;
    return 0;
}
int32_t own_names(operand_t *a, element_t *out) {
    out[0] = a[0];
    return 0;
}
int32_t builtin_names(const signed char *a, const unsigned short *b, unsigned int *out) {
    out[0] = (unsigned)a[0] + b[0];
    return 0;
}
int32_t truths(const bool *a, _Bool *out) {
    out[0] = a[0];
    return 0;
}
int32_t nameless(const int8_t *, int8_t *);

/* Unpacked: the same without const, or with const where a result would be. */
int32_t no_const(int8_t *a, int8_t *out) {
    out[0] = a[0];
    return 0;
}
int32_t result_first(int8_t *out, const int8_t *a) {
    out[0] = a[0];
    return 0;
}
int32_t only_results(int8_t *out) {
    out[0] = 1;
    return 0;
}
int32_t only_operands(const int8_t *a) { return a[0]; }
