/* SPDX-License-Identifier: 0BSD */
#include <tvm/runtime/crt/func_registry.h>

#include "internal.h"

/* What the tables at the front of the buffer are aligned to: the larger of their element types. */
#define TABLE_ALIGNMENT                                                               \
    (sizeof(TVMBackendPackedCFunc) > sizeof(uint32_t) ? sizeof(TVMBackendPackedCFunc) \
                                                      : sizeof(uint32_t))

static void set_count(TVMMutableFuncRegistry *reg, uint16_t count) {
    const char *bytes = (const char *)&count;
    reg->names[0] = bytes[0];
    reg->names[1] = bytes[1];
}

tvm_crt_error_t TVMMutableFuncRegistry_Create(TVMMutableFuncRegistry *reg, uint8_t *buffer,
                                              size_t buffer_size_bytes) {
    void *tables; /* void: aligned for what is put there, unlike a uint8_t */
    size_t padding, max_functions, table_bytes;
    if (reg == NULL || buffer == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    padding = (size_t)(-(uintptr_t)buffer & (TABLE_ALIGNMENT - 1));
    /* Beside the entries: the padding, the last offset and the count, which begins the names. */
    if (buffer_size_bytes < padding + 4 + TVM_AVERAGE_FUNC_ENTRY_SIZE_BYTES) {
        return kTvmErrorBufferTooSmall;
    }
    max_functions = (buffer_size_bytes - padding - 4) / TVM_AVERAGE_FUNC_ENTRY_SIZE_BYTES;
    if (max_functions > (1u << AOTC_CRT_INDEX_BITS) - 1) {
        max_functions = (1u << AOTC_CRT_INDEX_BITS) - 1;
    }
    table_bytes = max_functions * (sizeof(TVMBackendPackedCFunc) + sizeof(uint32_t)) +
                  (max_functions + 1) * sizeof(uint16_t);
    tables = buffer + padding;
    reg->funcs = tables;
    tables = reg->funcs + max_functions;
    reg->hashes = tables;
    tables = reg->hashes + max_functions;
    reg->offsets = tables;
    reg->names = (char *)(reg->offsets + max_functions + 1);
    reg->names_bytes = buffer_size_bytes - padding - table_bytes;
    /* An offset has 16 bits. */
    if (reg->names_bytes > UINT16_MAX) {
        reg->names_bytes = UINT16_MAX;
    }
    reg->max_functions = max_functions;
    reg->registry.names = reg->names;
    reg->registry.funcs = reg->funcs;
    reg->registry.hashes = NULL;
    reg->registry.offsets = reg->offsets;
    reg->offsets[0] = 2;
    set_count(reg, 0);
    return kTvmErrorNoError;
}

static tvm_crt_error_t add(TVMMutableFuncRegistry *reg, const AotcCrtKey *key,
                           TVMBackendPackedCFunc func) {
    const uint16_t count = aotc_crt_count(&reg->registry);
    const size_t begin = reg->offsets[count];
    size_t i;
    if (count >= reg->max_functions || key->length >= reg->names_bytes - begin) {
        return kTvmErrorFunctionRegistryFull;
    }
    for (i = 0; i <= key->length; ++i) {
        reg->names[begin + i] = key->name[i];
        AOTC_CRT_KEEP_LOOP();
    }
    reg->funcs[count] = func;
    reg->hashes[count] = key->hash;
    reg->offsets[count + 1] = (uint16_t)(begin + key->length + 1);
    set_count(reg, (uint16_t)(count + 1));
    return kTvmErrorNoError;
}

tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry *reg, const char *name,
                                           TVMBackendPackedCFunc func, int override) {
    AotcCrtKey key;
    int32_t index;
    if (reg == NULL || name == NULL || name[0] == '\0' || func == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    aotc_crt_make_key(name, &key);
    if (key.length >= TVM_CRT_MAX_STRLEN_FUNCTION_NAME) {
        return kTvmErrorBufferTooSmall;
    }
    index = aotc_crt_find_in_order(&reg->registry, reg->hashes, &key);
    if (index < 0) {
        return add(reg, &key, func);
    }
    if (!override) {
        return kTvmErrorFunctionAlreadyDefined;
    }
    reg->funcs[index] = func;
    return kTvmErrorNoError;
}
