/* SPDX-License-Identifier: 0BSD */
#include <aotc_crt/rpc_server.h>
#include <stddef.h>

/*
 * The answer is built in the buffer of the request, so a request is decoded before the first byte
 * of its answer is written. HELLO, LIST, ALLOCATE, WRITE, READ and FREE give the same answer if
 * they are repeated; the answers to the others are short and are stored.
 */

#define PAYLOAD_BYTES ((uint32_t)TVM_CRT_MAX_PACKET_SIZE_BYTES)
#define MAX_TENSOR_BYTES 0x7FFFFFFFu
#define BOARD_NAME_BYTES 63u

/* --- Numbers in packets --------------------------------------------------------------------- */

/* Reads the payload of the request; beyond its end it returns zeros and sets `failed`. */
struct reader {
    const uint8_t *at;
    uint32_t left;
    int failed;
};

static uint64_t take(struct reader *reader, uint32_t bytes) {
    uint64_t value = 0u;
    uint32_t i;
    if (reader->left < bytes) {
        reader->failed = 1;
        reader->left = 0u;
        return 0u;
    }
    for (i = bytes; i > 0u; --i) {
        value = value << 8 | reader->at[i - 1u];
    }
    reader->at += bytes;
    reader->left -= bytes;
    return value;
}

/* Text up to its zero. */
static const char *take_text(struct reader *reader) {
    const char *const text = (const char *)reader->at;
    while (reader->left != 0u) {
        --reader->left;
        if (*reader->at++ == 0u) {
            return text;
        }
    }
    reader->failed = 1;
    return "";
}

static uint8_t *put(uint8_t *to, uint64_t value, uint32_t bytes) {
    uint32_t i;
    for (i = 0; i < bytes; ++i) {
        to[i] = (uint8_t)(value >> (8u * i));
    }
    return to + bytes;
}

/* In the two's complement of that many bytes. */
static uint8_t *put_signed(uint8_t *to, int32_t value, uint32_t bytes) {
    const uint32_t bits = (uint32_t)value;
    return put(to, bits, bytes);
}

static void copy(void *to, const void *from, uint32_t bytes) {
    uint8_t *const t = to;
    const uint8_t *const f = from;
    uint32_t i;
    for (i = 0; i < bytes; ++i) {
        t[i] = f[i];
    }
}

/* --- Answers -------------------------------------------------------------------------------- */

struct request {
    struct reader payload;
    uint8_t type;
    uint16_t sequence;
};

static uint8_t *payload_of(AotcRpcServer *server) {
    return server->packet + AOTC_RPC_HEADER_BYTES;
}

static void send(AotcRpcServer *server, const struct request *request, uint8_t type,
                 uint32_t payload_bytes) {
    AotcRpcSend(server->packet, type, request->sequence, server->session, payload_bytes,
                server->platform->write, server->platform->context);
}

/* `end` is behind the payload. */
static void answer(AotcRpcServer *server, const struct request *request, const uint8_t *end) {
    send(server, request, (uint8_t)(request->type | AOTC_RPC_ANSWER),
         (uint32_t)(end - payload_of(server)));
}

static void answer_error(AotcRpcServer *server, const struct request *request, uint32_t error,
                         uint32_t detail) {
    (void)put(put(payload_of(server), error, 2u), detail, 4u);
    send(server, request, (uint8_t)AOTC_RPC_ERROR, 6u);
}

/* Like `answer`, for requests that must not be executed again if the answer is lost. */
static void answer_and_keep(AotcRpcServer *server, const struct request *request,
                            const uint8_t *end) {
    server->answered_type = request->type;
    server->answered_sequence = request->sequence;
    server->answer_bytes = (uint8_t)(end - payload_of(server));
    copy(server->answer, payload_of(server), server->answer_bytes);
    answer(server, request, end);
}

static void send_working(AotcRpcServer *server, const struct request *request) {
    send(server, request, (uint8_t)AOTC_RPC_WORKING, 0u);
}

/* --- Tensors -------------------------------------------------------------------------------- */

static uint32_t offset_of(const AotcRpcServer *server, const AotcRpcTensor *tensor) {
    return (uint32_t)((const uint8_t *)tensor->tensor.data - server->pool);
}

static uint32_t round_up(uint32_t bytes) {
    return (bytes + AOTC_RPC_TENSOR_ALIGNMENT - 1u) & ~(AOTC_RPC_TENSOR_ALIGNMENT - 1u);
}

static int is_free(const AotcRpcServer *server, uint32_t offset, uint32_t bytes) {
    uint32_t i;
    if (offset > server->pool_bytes || bytes > server->pool_bytes - offset) {
        return 0;
    }
    for (i = 0; i < AOTC_RPC_MAX_TENSORS; ++i) {
        const AotcRpcTensor *const other = &server->tensors[i];
        if (other->tensor.data != NULL &&
            offset < offset_of(server, other) + round_up(other->bytes) &&
            offset_of(server, other) < offset + bytes) {
            return 0;
        }
    }
    return 1;
}

/* The lowest free address in the pool: its start, or behind a tensor. NULL if there is none. */
static uint8_t *place(const AotcRpcServer *server, uint32_t bytes) {
    uint32_t best = is_free(server, 0u, bytes) ? 0u : UINT32_MAX;
    uint32_t i;
    for (i = 0; i < AOTC_RPC_MAX_TENSORS; ++i) {
        const AotcRpcTensor *const other = &server->tensors[i];
        if (other->tensor.data != NULL) {
            const uint32_t behind = offset_of(server, other) + round_up(other->bytes);
            if (behind < best && is_free(server, behind, bytes)) {
                best = behind;
            }
        }
    }
    return best == UINT32_MAX ? NULL : server->pool + best;
}

static void free_tensors(AotcRpcServer *server) {
    uint32_t i;
    for (i = 0; i < AOTC_RPC_MAX_TENSORS; ++i) {
        server->tensors[i].tensor.data = NULL;
    }
}

static AotcRpcTensor *tensor_in(AotcRpcServer *server, uint32_t slot) {
    return slot < AOTC_RPC_MAX_TENSORS && server->tensors[slot].tensor.data != NULL
               ? &server->tensors[slot]
               : NULL;
}

/* --- Requests ------------------------------------------------------------------------------- */

static int is_big_endian(void) {
    const uint16_t one = 1u;
    uint8_t first;
    copy(&first, &one, 1u);
    return first == 0u;
}

static void hello(AotcRpcServer *server, const struct request *request) {
    const AotcRpcPlatform *const platform = server->platform;
    uint8_t *at = payload_of(server);
    uint32_t i;
    free_tensors(server);
    server->answered_type = 0u;
    at = put(at, PAYLOAD_BYTES, 2u);
    at = put(at, TVMFuncRegistry_GetNumFuncs(server->functions), 2u);
    at = put(at, AOTC_RPC_MAX_TENSORS, 1u);
    at = put(at, TVM_CRT_MAX_NDIM, 1u);
    at = put(at, TVM_CRT_MAX_ARGS, 1u);
    at = put(at,
             (platform->ticks_are_instructions ? AOTC_RPC_FLAG_INSTRUCTIONS : 0u) |
                 (is_big_endian() ? AOTC_RPC_FLAG_BIG_ENDIAN : 0u) |
                 (platform->reboot != NULL ? AOTC_RPC_FLAG_REBOOT : 0u),
             1u);
    at = put(at, server->pool_bytes, 4u);
    at = put(at, platform->ticks_per_second, 8u);
    for (i = 0; i < BOARD_NAME_BYTES && platform->board[i] != 0; ++i) {
        *at++ = (uint8_t)platform->board[i];
    }
    *at++ = 0u;
    answer(server, request, at);
}

/* As many whole names as fit the packet and the host requests. */
static void list(AotcRpcServer *server, struct request *request) {
    const uint32_t first = (uint32_t)take(&request->payload, 2u);
    const uint32_t wanted = (uint32_t)take(&request->payload, 2u);
    const uint32_t room = wanted < PAYLOAD_BYTES ? wanted : PAYLOAD_BYTES;
    const uint32_t count = TVMFuncRegistry_GetNumFuncs(server->functions);
    uint8_t *const start = payload_of(server);
    uint8_t *at = start + 4;
    uint32_t index;
    if (request->payload.failed || first > count || room < 4u) {
        answer_error(server, request, AOTC_RPC_ERROR_MALFORMED, request->type);
        return;
    }
    for (index = first; index < count; ++index) {
        const char *const name =
            TVMFuncRegistry_GetName(server->functions, (tvm_function_index_t)index);
        uint32_t length = 0u;
        while (name[length++] != 0) {
        }
        if (room - (uint32_t)(at - start) < length) {
            break;
        }
        copy(at, name, length);
        at += length;
    }
    if (index == first && first < count) {
        answer_error(server, request, AOTC_RPC_ERROR_TOO_LARGE, PAYLOAD_BYTES);
        return;
    }
    (void)put(put(start, count, 2u), index - first, 2u);
    answer(server, request, at);
}

/* Bytes of the tensor that `request` describes and `made` becomes; over the limit if too many. */
static uint32_t describe_tensor(struct reader *payload, AotcRpcTensor *made) {
    uint64_t bytes;
    uint32_t i;
    made->tensor.dtype.code = (uint8_t)take(payload, 1u);
    made->tensor.dtype.bits = (uint8_t)take(payload, 1u);
    made->tensor.dtype.lanes = (uint16_t)take(payload, 2u);
    made->tensor.ndim = (int32_t)take(payload, 1u);
    bytes = ((uint64_t)made->tensor.dtype.bits * made->tensor.dtype.lanes + 7u) / 8u;
    if (made->tensor.ndim > TVM_CRT_MAX_NDIM || bytes == 0u) {
        payload->failed = 1;
        return 0u;
    }
    for (i = 0; i < (uint32_t)made->tensor.ndim; ++i) {
        const uint32_t size = (uint32_t)take(payload, 4u);
        made->shape[i] = size;
        bytes *= size;
        if (bytes > MAX_TENSOR_BYTES) {
            bytes = MAX_TENSOR_BYTES + 1u;
        }
    }
    return (uint32_t)bytes;
}

static void allocate(AotcRpcServer *server, struct request *request) {
    const uint32_t slot = (uint32_t)take(&request->payload, 1u);
    AotcRpcTensor *tensor;
    uint32_t bytes;
    uint32_t i;
    if (request->payload.failed || slot >= AOTC_RPC_MAX_TENSORS) {
        answer_error(server, request, AOTC_RPC_ERROR_SLOT, slot);
        return;
    }
    tensor = &server->tensors[slot];
    tensor->tensor.data = NULL;
    bytes = describe_tensor(&request->payload, tensor);
    if (request->payload.failed) {
        answer_error(server, request, AOTC_RPC_ERROR_MALFORMED, request->type);
        return;
    }
    tensor->tensor.data = bytes <= MAX_TENSOR_BYTES ? place(server, bytes) : NULL;
    if (tensor->tensor.data == NULL) {
        answer_error(server, request, AOTC_RPC_ERROR_MEMORY, bytes);
        return;
    }
    tensor->bytes = bytes;
    tensor->tensor.device.device_type = kDLCPU;
    tensor->tensor.device.device_id = 0;
    tensor->tensor.shape = tensor->shape;
    tensor->tensor.strides = NULL;
    tensor->tensor.byte_offset = 0u;
    for (i = 0; i < bytes; ++i) {
        ((uint8_t *)tensor->tensor.data)[i] = 0u;
    }
    answer(server, request, put(payload_of(server), bytes, 4u));
}

/* WRITE: copies the rest of the payload to the tensor. READ: returns the requested bytes. */
static void transfer(AotcRpcServer *server, struct request *request) {
    struct reader *const payload = &request->payload;
    const int reading = request->type == AOTC_RPC_READ;
    const uint32_t slot = (uint32_t)take(payload, 1u);
    const uint32_t offset = (uint32_t)take(payload, 4u);
    const uint32_t count = reading ? (uint32_t)take(payload, 2u) : payload->left;
    const AotcRpcTensor *const tensor = tensor_in(server, slot);
    if (payload->failed) {
        answer_error(server, request, AOTC_RPC_ERROR_MALFORMED, request->type);
    } else if (tensor == NULL) {
        answer_error(server, request, AOTC_RPC_ERROR_SLOT, slot);
    } else if (offset > tensor->bytes || count > tensor->bytes - offset) {
        answer_error(server, request, AOTC_RPC_ERROR_RANGE, tensor->bytes);
    } else if (reading && count > PAYLOAD_BYTES) {
        answer_error(server, request, AOTC_RPC_ERROR_TOO_LARGE, PAYLOAD_BYTES);
    } else if (reading) {
        copy(payload_of(server), (const uint8_t *)tensor->tensor.data + offset, count);
        answer(server, request, payload_of(server) + count);
    } else {
        copy((uint8_t *)tensor->tensor.data + offset, payload->at, count);
        answer(server, request, payload_of(server));
    }
}

struct call {
    TVMFunctionHandle function;
    int count;
    TVMValue values[TVM_CRT_MAX_ARGS];
    int codes[TVM_CRT_MAX_ARGS];
    TVMValue result;
    int result_code;
};

static int run(struct call *call) {
    call->result.v_int64 = 0;
    call->result_code = kTVMNullptr;
    return TVMFuncCall(call->function, call->values, call->codes, call->count, &call->result,
                       &call->result_code);
}

/* 0 if an error was answered. */
static int read_arguments(AotcRpcServer *server, struct request *request, struct call *call) {
    struct reader *const payload = &request->payload;
    int i;
    call->count = (int)take(payload, 1u);
    if (call->count > TVM_CRT_MAX_ARGS) {
        payload->failed = 1;
        call->count = 0;
    }
    for (i = 0; i < call->count && !payload->failed; ++i) {
        call->codes[i] = (int)take(payload, 1u);
        call->values[i].v_int64 = 0;
        if (call->codes[i] == kTVMDLTensorHandle) {
            const uint32_t slot = (uint32_t)take(payload, 1u);
            AotcRpcTensor *const tensor = tensor_in(server, slot);
            if (tensor == NULL && !payload->failed) {
                answer_error(server, request, AOTC_RPC_ERROR_SLOT, slot);
                return 0;
            }
            call->values[i].v_handle = tensor != NULL ? &tensor->tensor : NULL;
        } else if (call->codes[i] == kTVMArgInt || call->codes[i] == kTVMArgFloat) {
            const uint64_t bits = take(payload, 8u);
            copy(&call->values[i], &bits, 8u);
        } else if (call->codes[i] != kTVMNullptr) {
            payload->failed = 1;
        }
    }
    if (payload->failed) {
        answer_error(server, request, AOTC_RPC_ERROR_MALFORMED, request->type);
        return 0;
    }
    return 1;
}

/* Function and arguments; 0 if an error was answered. */
static int read_call(AotcRpcServer *server, struct request *request, struct call *call) {
    const uint32_t count = TVMFuncRegistry_GetNumFuncs(server->functions);
    const uint32_t index = (uint32_t)take(&request->payload, 2u);
    const char *name = NULL;
    if (index == AOTC_RPC_BY_NAME) {
        name = take_text(&request->payload);
    } else if (index < count) {
        name = TVMFuncRegistry_GetName(server->functions, (tvm_function_index_t)index);
    }
    if (request->payload.failed) {
        answer_error(server, request, AOTC_RPC_ERROR_MALFORMED, request->type);
        return 0;
    }
    if (name == NULL || TVMFuncGetGlobal(name, &call->function) != 0 || call->function == NULL) {
        answer_error(server, request, AOTC_RPC_ERROR_FUNCTION, count);
        return 0;
    }
    return read_arguments(server, request, call);
}

/* The error text of a function, if it failed. */
static uint8_t *put_error_text(uint8_t *at, int32_t status) {
    const char *const text = TVMGetLastError();
    uint32_t i;
    if (status != 0) {
        for (i = 0; i < AOTC_RPC_ERROR_TEXT_BYTES && text[i] != 0; ++i) {
            *at++ = (uint8_t)text[i];
        }
    }
    return at;
}

static void call_function(AotcRpcServer *server, struct request *request) {
    struct call call;
    int status;
    uint64_t bits;
    uint8_t *at = payload_of(server);
    if (!read_call(server, request, &call)) {
        return;
    }
    send_working(server, request);
    TVMAPISetLastError("");
    status = run(&call);
    copy(&bits, &call.result, 8u);
    at = put_signed(at, status, 4u);
    at = put_signed(at, call.result_code, 1u);
    at = put(at, bits, 8u);
    answer_and_keep(server, request, put_error_text(at, status));
}

static uint64_t ticks_of(const AotcRpcPlatform *platform, struct call *call, int32_t *status) {
    platform->clock_start(platform->context);
    if (call != NULL) {
        *status = run(call);
    }
    return platform->clock_stop(platform->context);
}

/* The ticks of starting and stopping the clock alone are subtracted; the call is included. */
static void time_function(AotcRpcServer *server, struct request *request) {
    const AotcRpcPlatform *const platform = server->platform;
    const uint32_t repeats = (uint32_t)take(&request->payload, 4u);
    const uint32_t warm_up = (uint32_t)take(&request->payload, 4u);
    uint64_t total = 0u;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0u;
    uint64_t since_sign = 0u;
    uint64_t spent = 0u;
    uint64_t limit = UINT64_MAX;
    uint64_t empty;
    uint64_t i;
    int32_t status = 0;
    struct call call;
    uint8_t *at = payload_of(server);
    if (!read_call(server, request, &call)) {
        return;
    }
    if (request->payload.left >= 4u) {
        limit = take(&request->payload, 4u) * platform->ticks_per_second / 1000u;
        if (platform->ticks_per_second == 0u) {
            limit = UINT64_MAX; /* The clock has no unit, so no time can be over. */
        }
    }
    TVMAPISetLastError("");
    (void)ticks_of(platform, NULL, NULL);
    empty = ticks_of(platform, NULL, NULL);
    send_working(server, request);
    for (i = 0; i < (uint64_t)warm_up + repeats && status == 0; ++i) {
        const uint64_t measured = ticks_of(platform, &call, &status);
        const uint64_t ticks = measured > empty ? measured - empty : 0u;
        if (i >= warm_up) {
            total += ticks;
            least = ticks < least ? ticks : least;
            most = ticks > most ? ticks : most;
        }
        spent += measured;
        if (spent >= limit && status == 0 && i + 1u < (uint64_t)warm_up + repeats) {
            status = AOTC_RPC_TIME_OVER;
        }
        since_sign += measured;
        if (since_sign >= platform->ticks_per_second / 2u) {
            since_sign = 0u;
            send_working(server, request);
        }
    }
    at = put_signed(at, status, 4u);
    at = put(at, total, 8u);
    at = put(at, repeats != 0u ? least : 0u, 8u);
    at = put(at, most, 8u);
    at = put(at, empty, 4u);
    answer_and_keep(server, request, put_error_text(at, status));
}

static void free_slot(AotcRpcServer *server, struct request *request) {
    const uint32_t slot = (uint32_t)take(&request->payload, 1u);
    if (slot == AOTC_RPC_ALL_SLOTS) {
        free_tensors(server);
    } else if (request->payload.failed || slot >= AOTC_RPC_MAX_TENSORS) {
        answer_error(server, request, AOTC_RPC_ERROR_SLOT, slot);
        return;
    } else {
        server->tensors[slot].tensor.data = NULL;
    }
    answer(server, request, payload_of(server));
}

static void reset(AotcRpcServer *server, struct request *request) {
    const uint32_t how = (uint32_t)take(&request->payload, 1u);
    const int reboot = how == AOTC_RPC_RESET_REBOOT && server->platform->reboot != NULL;
    if (request->payload.failed || (how != AOTC_RPC_RESET_STATE && !reboot)) {
        answer_error(server, request, AOTC_RPC_ERROR_MALFORMED, request->type);
        return;
    }
    free_tensors(server);
    answer(server, request, payload_of(server));
    if (reboot) {
        server->platform->reboot(server->platform->context);
    }
}

static void execute(AotcRpcServer *server, struct request *request) {
    /* Requests come in order: the host has the stored answer, or no longer needs it. */
    server->answered_type = 0u;
    switch (request->type) {
        case AOTC_RPC_LIST:
            list(server, request);
            break;
        case AOTC_RPC_ALLOCATE:
            allocate(server, request);
            break;
        case AOTC_RPC_WRITE:
        case AOTC_RPC_READ:
            transfer(server, request);
            break;
        case AOTC_RPC_CALL:
            call_function(server, request);
            break;
        case AOTC_RPC_TIME:
            time_function(server, request);
            break;
        case AOTC_RPC_FREE:
            free_slot(server, request);
            break;
        case AOTC_RPC_RESET:
            reset(server, request);
            break;
        default:
            answer_error(server, request, AOTC_RPC_ERROR_REQUEST, request->type);
            break;
    }
}

static void receive_packet(AotcRpcServer *server, uint32_t length) {
    const uint8_t *const packet = server->packet;
    struct reader header;
    struct request request;
    uint32_t version;
    uint32_t session;
    if (!AotcRpcPacketIsGood(packet, length)) {
        ++server->damaged;
        return;
    }
    header.at = packet;
    header.left = AOTC_RPC_HEADER_BYTES;
    header.failed = 0;
    version = (uint32_t)take(&header, 1u);
    request.type = (uint8_t)take(&header, 1u);
    request.sequence = (uint16_t)take(&header, 2u);
    session = (uint32_t)take(&header, 4u);
    request.payload.at = packet + AOTC_RPC_HEADER_BYTES;
    request.payload.left = length - AOTC_RPC_OVERHEAD_BYTES;
    request.payload.failed = 0;
    if (version != AOTC_RPC_VERSION) {
        answer_error(server, &request, AOTC_RPC_ERROR_VERSION, AOTC_RPC_VERSION);
    } else if (request.type == AOTC_RPC_HELLO && session != 0u) {
        server->session = session;
        hello(server, &request);
    } else if (session != server->session || session == 0u) {
        answer_error(server, &request, AOTC_RPC_ERROR_SESSION, 0u);
    } else if (server->answered_type == request.type &&
               server->answered_sequence == request.sequence) {
        copy(payload_of(server), server->answer, server->answer_bytes);
        answer(server, &request, payload_of(server) + server->answer_bytes);
    } else {
        execute(server, &request);
    }
}

void AotcRpcServerInit(AotcRpcServer *server, const AotcRpcPlatform *platform,
                       const TVMFuncRegistry *functions, void *pool, uint32_t pool_bytes) {
    uint8_t *const bytes = (uint8_t *)server;
    uint32_t i;
    for (i = 0; i < sizeof *server; ++i) {
        bytes[i] = 0u;
    }
    server->platform = platform;
    server->functions = functions;
    server->pool = pool;
    server->pool_bytes = pool_bytes < MAX_TENSOR_BYTES ? pool_bytes : MAX_TENSOR_BYTES;
    server->pool_bytes &= ~(AOTC_RPC_TENSOR_ALIGNMENT - 1u);
    free_tensors(server);
}

void AotcRpcServerReceive(AotcRpcServer *server, uint8_t byte) {
    const uint32_t length =
        AotcRpcDecode(&server->decoder, server->packet, sizeof server->packet, byte);
    if (length != 0u) {
        receive_packet(server, length);
    }
}
