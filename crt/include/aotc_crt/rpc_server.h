/* SPDX-License-Identifier: 0BSD */
/*
 * Serves the functions of a registry to a host over a byte stream (docs/rpc.md).
 *
 * The application passes every received byte to AotcRpcServerReceive, in one thread; answers are
 * sent through AotcRpcPlatform.write before that returns. Nothing is allocated: tensors are stored
 * in the application's pool, packets in the server's one buffer. Any bytes may be received: invalid
 * packets are dropped.
 */
#ifndef AOTC_CRT_RPC_SERVER_H_
#define AOTC_CRT_RPC_SERVER_H_

#include <aotc_crt/rpc_frame.h>
#include <aotc_crt/rpc_protocol.h>
#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt_config.h>
#include <tvm/runtime/crt/func_registry.h>

/*
 * Maximal number of tensors on the device.
 * Bounds: 1 .. 254. Cost of each: 48 bytes of RAM and 8 for each of TVM_CRT_MAX_NDIM.
 */
#ifndef AOTC_RPC_MAX_TENSORS
#define AOTC_RPC_MAX_TENSORS 16
#endif
#if AOTC_RPC_MAX_TENSORS < 1 || AOTC_RPC_MAX_TENSORS > 254
#error "AOTC_RPC_MAX_TENSORS must be in 1 .. 254 [crt-config]"
#endif

/* The longest answer of fixed form. */
#if TVM_CRT_MAX_PACKET_SIZE_BYTES < 96
#error "TVM_CRT_MAX_PACKET_SIZE_BYTES must be at least 96 for the RPC server [crt-config]"
#endif

/* Alignment of tensors in the pool. */
#define AOTC_RPC_TENSOR_ALIGNMENT 16u
/* Maximal number of bytes of a function's error text that are sent. */
#define AOTC_RPC_ERROR_TEXT_BYTES 48u

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    void *context; /* given to every function below */
    AotcRpcWrite write;
    /* A stop watch: `clock_stop` returns the ticks since `clock_start`. */
    void (*clock_start)(void *context);
    uint64_t (*clock_stop)(void *context);
    uint64_t ticks_per_second;
    int ticks_are_instructions;
    const char *board; /* name that the host shows; at most 63 characters of it */
    /* Restarts the device and does not return; NULL if it cannot. */
    void (*reboot)(void *context);
} AotcRpcPlatform;

typedef struct {
    DLTensor tensor; /* data is NULL if there is none */
    uint32_t bytes;
    int64_t shape[TVM_CRT_MAX_NDIM];
} AotcRpcTensor;

/* Private to the server. */
typedef struct {
    const AotcRpcPlatform *platform;
    const TVMFuncRegistry *functions;
    uint8_t *pool;
    uint32_t pool_bytes;
    uint32_t session; /* 0: none */
    uint32_t damaged; /* frames that were no packets */
    AotcRpcDecoder decoder;
    AotcRpcTensor tensors[AOTC_RPC_MAX_TENSORS];
    /* The answer to the last request that must not be executed twice. */
    uint8_t answered_type; /* 0: none */
    uint16_t answered_sequence;
    uint8_t answer_bytes;
    uint8_t answer[32u + AOTC_RPC_ERROR_TEXT_BYTES];
    uint8_t packet[TVM_CRT_MAX_PACKET_SIZE_BYTES + AOTC_RPC_OVERHEAD_BYTES];
} AotcRpcServer;

/*
 * `functions`: those that the host can list and call by index; calls go through TVMFuncGetGlobal,
 * so they must be known there too. The pool must be aligned to AOTC_RPC_TENSOR_ALIGNMENT.
 */
void AotcRpcServerInit(AotcRpcServer *server, const AotcRpcPlatform *platform,
                       const TVMFuncRegistry *functions, void *pool, uint32_t pool_bytes);

/* Takes one received byte; if it completes a request, executes and answers it. */
void AotcRpcServerReceive(AotcRpcServer *server, uint8_t byte);

#ifdef __cplusplus
}
#endif

#endif /* AOTC_CRT_RPC_SERVER_H_ */
