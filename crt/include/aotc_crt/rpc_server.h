/* SPDX-License-Identifier: 0BSD */
/*
 * Serves the functions of a registry to a host over a byte stream: RPC, remote calls (docs/rpc.md).
 *
 * The application passes every received byte to AotcRpcServerReceive, always in the same thread.
 * The server sends its answers with AotcRpcPlatform.write before that function returns. It
 * allocates no memory: tensors are stored in the application's pool, and packets in the server's
 * buffer. Invalid packets are dropped, whatever bytes they have.
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
 * Bounds: 1 .. 254. Cost of each tensor: 48 + 8 * TVM_CRT_MAX_NDIM bytes of RAM.
 */
#ifndef AOTC_RPC_MAX_TENSORS
#define AOTC_RPC_MAX_TENSORS 16
#endif
#if AOTC_RPC_MAX_TENSORS < 1 || AOTC_RPC_MAX_TENSORS > 254
#error "AOTC_RPC_MAX_TENSORS must be in 1 .. 254 [crt-config]"
#endif

/* The longest answer of fixed size has to fit. */
#if TVM_CRT_MAX_PACKET_SIZE_BYTES < 96
#error "TVM_CRT_MAX_PACKET_SIZE_BYTES must be at least 96 for the RPC server [crt-config]"
#endif

/* Alignment of tensors in the pool. */
#define AOTC_RPC_TENSOR_ALIGNMENT 16u
/* The server sends at most this many bytes of a function's error text. */
#define AOTC_RPC_ERROR_TEXT_BYTES 48u

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    void *context; /* passed to all functions of this structure */
    AotcRpcWrite write;
    /* A stopwatch: `clock_stop` returns the ticks since `clock_start`. */
    void (*clock_start)(void *context);
    uint64_t (*clock_stop)(void *context);
    uint64_t ticks_per_second;
    int ticks_are_instructions;
    const char *board; /* name that the host shows, cut to 63 characters */
    /* Restarts the device and does not return; NULL if it cannot. */
    void (*reboot)(void *context);
} AotcRpcPlatform;

typedef struct {
    DLTensor tensor; /* data is NULL if the slot is empty */
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
    uint32_t damaged; /* number of frames that were not valid packets */
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
 * `functions`: the functions that the host can list and call by index. The server finds them by
 * name with TVMFuncGetGlobal, so they must also be in the system library or registered. `pool`:
 * memory for tensors, aligned to AOTC_RPC_TENSOR_ALIGNMENT.
 */
void AotcRpcServerInit(AotcRpcServer *server, const AotcRpcPlatform *platform,
                       const TVMFuncRegistry *functions, void *pool, uint32_t pool_bytes);

/* Decodes one received byte. If the byte completes a request, executes and answers the request. */
void AotcRpcServerReceive(AotcRpcServer *server, uint8_t byte);

#ifdef __cplusplus
}
#endif

#endif /* AOTC_CRT_RPC_SERVER_H_ */
