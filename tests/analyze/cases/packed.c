#include <stdint.h>
#include <tvm/runtime/c_backend_api.h>

typedef TVMValue *Values;

int32_t typed(TVMValue *args, int *type_codes, int num_args, TVMValue *ret_value,
              int *ret_type_code, void *resource_handle) {
    (void)args, (void)type_codes, (void)num_args, (void)ret_value, (void)ret_type_code;
    return resource_handle != 0;
}
TVM_DLL int32_t untyped(void *args, int32_t *arg_type_ids, int32_t num_args, void *out_ret_value,
                        int32_t *out_ret_tcode, void *resource_handle) {
    (void)args, (void)arg_type_ids, (void)num_args, (void)out_ret_value, (void)out_ret_tcode;
    return resource_handle != 0;
}
int mixed(Values args, int *codes, int32_t n, void *out, int32_t *out_code, void *handle);

/* Six parameters, but not these six. */
int32_t counts_in_float(void *args, int *codes, float n, void *out, int *out_code, void *handle) {
    (void)args, (void)codes, (void)n, (void)out, (void)out_code, (void)handle;
    return 0;
}
int32_t const_values(const TVMValue *args, int *codes, int n, void *out, int *out_code,
                     void *handle);
void returns_nothing(void *args, int *codes, int n, void *out, int *out_code, void *handle);
