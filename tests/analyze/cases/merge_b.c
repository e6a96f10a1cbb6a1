#include <stdint.h>

int32_t packed(void *args, int32_t *arg_type_ids, int32_t num_args, void *out_ret_value,
               int32_t *out_ret_tcode, void *resource_handle) {
    (void)args, (void)arg_type_ids, (void)num_args, (void)out_ret_value, (void)out_ret_tcode;
    return resource_handle != 0;
}
int32_t declared_twice(const int8_t *a, int8_t *out);
int32_t defined_twice(const int8_t *a, int8_t *out) {
    out[0] = a[1];
    return 0;
}
int32_t overridden(const int8_t *a, int8_t *out) {
    out[0] = a[1];
    return 0;
}
int32_t same_name(const int8_t *a, int8_t *out) {
    out[0] = a[1];
    return 0;
}
int32_t contradicted(const int8_t *a, const int8_t *b, int8_t *out) {
    out[0] = (int8_t)(a[0] + b[0]);
    return 0;
}
