/* The inputs that the demo runs, and the names of the classes. Labels end with a null. */
#include "harness.h"

const uint32_t sample_count = @sample_count@u;

const uint8_t sample_bytes[] = {
    @sample_bytes@
};

const uint32_t sample_bytes_size = (uint32_t)sizeof sample_bytes;

#ifdef @macro_prefix@_CONSTANT_POOL
#include "@prefix@_constants.h"
const uint8_t model_constants[] __attribute__((aligned(MODEL_ARENA_ALIGN))) = {
    @macro_prefix@_CONSTANT_POOL_DATA
};
#endif

const char *const labels[] = {@labels@ 0};
