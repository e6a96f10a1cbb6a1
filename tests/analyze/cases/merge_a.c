#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>

/* As TVM's registry declares what another file defines. */
int32_t packed(TVMValue *args, int *type_code, int num_args, TVMValue *out_value,
               int *out_type_code, void *resource_handle);
int32_t declared_twice(const int8_t *a, int8_t *out);
int32_t defined_twice(const int8_t *a, int8_t *out) {
    out[0] = a[0];
    return 0;
}
__attribute__((weak)) int32_t overridden(const int8_t *a, int8_t *out) {
    out[0] = a[0];
    return 0;
}
static int32_t same_name(const int8_t *a, int8_t *out) {
    out[0] = a[0];
    return 0;
}
int32_t uses_same_name(const int8_t *a, int8_t *out) { return same_name(a, out); }
int32_t contradicted(const int8_t *a, int8_t *out);
