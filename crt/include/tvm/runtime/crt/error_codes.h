/* SPDX-License-Identifier: 0BSD */
/*
 * The errors that functions of the C runtime return.
 *
 * A code is (category << 8) | number; 0 is success. The values are those of TVM 0.14. They never
 * change, because devices send them to hosts. Some codes belong to parts of TVM that this runtime
 * does not have; they are listed to reserve their numbers.
 */
#ifndef TVM_RUNTIME_CRT_ERROR_CODES_H_
#define TVM_RUNTIME_CRT_ERROR_CODES_H_

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The category: bits 8..15 of a code. */
typedef enum {
    kTvmErrorCategoryFunctionRegistry = 1,
    kTvmErrorCategoryFraming = 2,
    kTvmErrorCategoryWriteStream = 3,
    kTvmErrorCategorySession = 4,
    kTvmErrorCategoryPlatform = 5,
    kTvmErrorCategoryGenerated = 6,
    kTvmErrorCategoryExecutor = 7,
    kTvmErrorCategoryFunctionCall = 8,
    kTvmErrorCategoryTimeEvaluator = 9
} tvm_crt_error_category_t;

typedef enum {
    kTvmErrorNoError = 0,

    kTvmErrorFunctionNameNotFound = 0x0100,
    kTvmErrorFunctionIndexInvalid = 0x0101,
    kTvmErrorFunctionRegistryFull = 0x0102,
    kTvmErrorFunctionAlreadyDefined = 0x0103,
    kTvmErrorBufferTooSmall = 0x0104,

    kTvmErrorFramingInvalidState = 0x0200,
    kTvmErrorFramingShortPacket = 0x0201,
    kTvmErrorFramingInvalidEscape = 0x0202,
    kTvmErrorFramingPayloadOverflow = 0x0203,
    kTvmErrorFramingPayloadIncomplete = 0x0204,

    kTvmErrorWriteStreamShortWrite = 0x0300,
    kTvmErrorWriteStreamLongWrite = 0x0301,

    kTvmErrorSessionInvalidState = 0x0400,
    kTvmErrorSessionReceiveBufferBusy = 0x0401,
    kTvmErrorSessionReceiveBufferShortWrite = 0x0402,

    /* A precondition does not hold: a NULL argument, a size out of bounds, a damaged pool. */
    kTvmErrorPlatformCheckFailure = 0x0500,
    /* The memory is already initialised and in use. */
    kTvmErrorPlatformMemoryManagerInitialized = 0x0501,
    kTvmErrorPlatformShutdown = 0x0502,
    /* The request exceeds the free memory. */
    kTvmErrorPlatformNoMemory = 0x0503,
    kTvmErrorPlatformTimerBadState = 0x0504,
    /*
     * The pointer to free is not the newest allocated block (stack allocator) or not an allocated
     * block (page allocator). It was freed twice or out of order, or never allocated here.
     */
    kTvmErrorPlatformStackAllocBadFree = 0x0505,
    /* Something wrote to free memory (TVM_CRT_DEBUG). TVM does not have this code. */
    kTvmErrorPlatformUsedAfterFree = 0x0540,

    kTvmErrorGeneratedInvalidStorageId = 0x0600,

    kTvmErrorExecutorModuleAlreadyCreated = 0x0700,
    kTvmErrorExecutorModuleBadContext = 0x0701,
    kTvmErrorExecutorModuleNoSuchInput = 0x0702,

    kTvmErrorFunctionCallNumArguments = 0x0800,
    kTvmErrorFunctionCallWrongArgType = 0x0801,
    kTvmErrorFunctionCallNotImplemented = 0x0802,
    kTvmErrorFunctionCallInvalidArg = 0x0803,

    kTvmErrorTimeEvaluatorBadHandle = 0x0900,

    /* The sign bit: a negative code is an error number of the operating system or the board. */
    kTvmErrorSystemErrorMask = INT_MIN
} tvm_crt_error_t;

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_ERROR_CODES_H_ */
