/* SPDX-License-Identifier: 0BSD */
/* The host at the other end of the UART: what semihosting does with a debugger, by packets of the
 * protocol of docs/rpc.md ("Firmware around a model"). The host asks for a run and then, again and
 * again, what comes next; the answer is text, bytes for its file, a piece of its file that is wanted,
 * or the end. Without a host the console is plain text. */
#include <string.h>

#include <aotc_crt/rpc_frame.h>
#include <aotc_crt/rpc_protocol.h>

#include "harness.h"
#include "serial_session.h"
#include "uart.h"

#if BOARD_SEMIHOSTING
typedef int serial_session_is_not_used; /* a file may not be empty */
#else

#define PAYLOAD_BYTES 512u
#define HEADER AOTC_RPC_HEADER_BYTES

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define CAN_REBOOT 1
#else
#define CAN_REBOOT 0
#endif

static uint8_t incoming[AOTC_RPC_OVERHEAD_BYTES + PAYLOAD_BYTES];
static uint8_t answer[AOTC_RPC_OVERHEAD_BYTES + PAYLOAD_BYTES]; /* kept until the next request */
static AotcRpcDecoder decoder;
static struct {
    uint32_t session; /* 0: none has greeted */
    uint16_t sequence;
    uint8_t type;       /* of the last request; 0: none */
    int is_answered;    /* by `answer` */
    uint16_t answer_bytes;
    uint8_t answer_type;
    int is_running;
    int is_abandoned; /* the host that asked for this run is gone: it ends without one */
    int has_faulted;
} line;
/* What goes out next: the kind of event, 0 for none, and the bytes behind it in `answer`. */
static struct {
    uint8_t kind;
    uint32_t bytes;
    uint32_t offset; /* in the host's file, of the first of them */
} gathered;
static uint32_t read_offset, write_offset;

/* --- Packets -------------------------------------------------------------------------------- */

static void write_line(void *context, const uint8_t *bytes, uint32_t count)
{
    uint32_t i;
    (void)context;
    for (i = 0; i < count; ++i) { uart_put(bytes[i]); }
}

static uint32_t number_at(const uint8_t *at, uint32_t bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0u) { value = value << 8 | at[bytes]; }
    return value;
}

static uint8_t *put_number(uint8_t *to, uint64_t value, uint32_t bytes)
{
    for (; bytes > 0u; --bytes, value >>= 8) { *to++ = (uint8_t)value; }
    return to;
}

static uint8_t *put_text(uint8_t *to, const char *text)
{
    const size_t bytes = strlen(text) + 1u;
    memcpy(to, text, bytes);
    return to + bytes;
}

static void send_answer(void)
{
    AotcRpcSend(answer, line.answer_type, line.sequence, line.session, line.answer_bytes, write_line, 0);
}

static void give(uint8_t type, uint32_t payload_bytes)
{
    line.answer_type = type;
    line.answer_bytes = (uint16_t)payload_bytes;
    line.is_answered = 1;
    send_answer();
}

static void refuse(uint32_t session, uint16_t error, uint32_t detail)
{
    uint8_t packet[AOTC_RPC_OVERHEAD_BYTES + 6u];
    (void)put_number(put_number(packet + HEADER, error, 2u), detail, 4u);
    AotcRpcSend(packet, AOTC_RPC_ERROR, (uint16_t)number_at(incoming + 2, 2u), session, 6u, write_line, 0);
}

static void greet(void)
{
    uint8_t *at = answer + HEADER;
    at = put_number(at, PAYLOAD_BYTES, 2u);
    at = put_number(at, 0u, 5u); /* functions, slots, dimensions, arguments: none */
    at = put_number(at, AOTC_RPC_FLAG_MODEL | (CAN_REBOOT ? AOTC_RPC_FLAG_REBOOT : 0u) |
                            (BOARD_CLOCK_IS_INSTRUCTIONS ? AOTC_RPC_FLAG_INSTRUCTIONS : 0u), 1u);
    at = put_number(at, 0u, 4u); /* pool */
    at = put_number(at, 1000000000u, 8u);
    at = put_text(at, platform_board());
    at = put_text(at, NAME_OF_MODEL);
    at = put_number(at, FIRMWARE_ID_OF_MODEL, 4u);
    give(AOTC_RPC_HELLO | AOTC_RPC_ANSWER, (uint32_t)(at - (answer + HEADER)));
}

static void reboot(void)
{
#if CAN_REBOOT
    *(volatile uint32_t *)0xE000ED0Cu = 0x05FA0004u; /* AIRCR: SYSRESETREQ */
    for (;;) {}
#endif
}

/* A whole packet of this version, in `incoming`. */
static void await_packet(void)
{
    for (;;) {
        while (!uart_received()) {}
        const uint32_t length = AotcRpcDecode(&decoder, incoming, (uint32_t)sizeof incoming, uart_take());
        if (length == 0u || !AotcRpcPacketIsGood(incoming, length)) { continue; }
        if (incoming[0] == AOTC_RPC_VERSION) { return; }
        refuse(number_at(incoming + 4, 4u), AOTC_RPC_ERROR_VERSION, AOTC_RPC_VERSION);
    }
}

/* Waits for a request to run or, while one runs, to go on; answers all others. Ends without one
 * when another host has greeted, or this one has reset: the run is abandoned. */
static void await_request(void)
{
    while (!line.is_abandoned) {
        uint16_t sequence;
        uint32_t session;
        uint8_t type;
        await_packet();
        type = incoming[1];
        sequence = (uint16_t)number_at(incoming + 2, 2u);
        session = number_at(incoming + 4, 4u);
        if (type == AOTC_RPC_HELLO && session != 0u) {
            line.session = session;
            line.sequence = sequence;
            line.type = type;
            line.is_abandoned = line.is_running;
            greet();
        } else if (session != line.session || session == 0u) {
            refuse(session, AOTC_RPC_ERROR_SESSION, 0u);
        } else if (line.type == type && line.sequence == sequence) {
            if (line.is_answered) { send_answer(); }
        } else if (type == AOTC_RPC_RESET) {
            line.sequence = sequence;
            line.type = type;
            give(AOTC_RPC_RESET | AOTC_RPC_ANSWER, 0u);
            if (number_at(incoming + 8, 2u) == 1u && incoming[HEADER] == AOTC_RPC_RESET_REBOOT) { reboot(); }
            line.is_abandoned = line.is_running;
        } else if (type == (line.is_running ? AOTC_RPC_CONTINUE : AOTC_RPC_RUN)) {
            uint8_t working[AOTC_RPC_OVERHEAD_BYTES];
            if (line.has_faulted) { reboot(); }
            line.sequence = sequence;
            line.type = type;
            line.is_answered = 0;
            /* Nothing is received while the model runs: so the host knows that this came. */
            AotcRpcSend(working, AOTC_RPC_WORKING, sequence, session, 0u, write_line, 0);
            return;
        } else {
            refuse(session, AOTC_RPC_ERROR_REQUEST, type);
        }
    }
}

/* --- Events --------------------------------------------------------------------------------- */

/* Gives what was gathered as the answer, and waits until the host goes on. */
static void flush(void)
{
    const uint8_t kind = gathered.kind;
    const uint32_t head = kind == AOTC_RPC_EVENT_WRITE ? 5u : 1u;
    if (kind == 0u) { return; }
    gathered.kind = 0u;
    if (line.is_abandoned) { return; }
    answer[HEADER] = kind;
    if (head == 5u) { (void)put_number(answer + HEADER + 1u, gathered.offset, 4u); }
    give(line.type | AOTC_RPC_ANSWER, head + gathered.bytes);
    await_request();
}

static void gather(uint8_t kind, const uint8_t *bytes, uint32_t count)
{
    const uint32_t head = kind == AOTC_RPC_EVENT_WRITE ? 5u : 1u;
    if (gathered.kind != kind) { flush(); }
    while (count > 0u) {
        uint32_t piece;
        if (gathered.kind == 0u) {
            gathered.kind = kind;
            gathered.bytes = 0u;
            gathered.offset = write_offset;
        }
        piece = PAYLOAD_BYTES - head - gathered.bytes;
        piece = piece < count ? piece : count;
        memcpy(answer + HEADER + head + gathered.bytes, bytes, piece);
        gathered.bytes += piece;
        bytes += piece;
        count -= piece;
        if (kind == AOTC_RPC_EVENT_WRITE) { write_offset += piece; }
        if (gathered.bytes == PAYLOAD_BYTES - head) { flush(); }
    }
}

int serial_session_text(const char *text, uint32_t length)
{
    if (!line.is_running) { return 0; }
    gather(AOTC_RPC_EVENT_TEXT, (const uint8_t *)text, length);
    return 1;
}

void serial_session_open(int is_output)
{
    if (is_output) { write_offset = 0u; } else { read_offset = 0u; }
}

int serial_session_write(const void *data, uint32_t bytes)
{
    if (!line.is_running) { return -1; }
    gather(AOTC_RPC_EVENT_WRITE, data, bytes);
    return 0;
}

int serial_session_read(void *data, uint32_t bytes)
{
    uint8_t *to = data;
    if (!line.is_running) { return -1; }
    flush();
    while (bytes > 0u && !line.is_abandoned) {
        const uint32_t piece = bytes < PAYLOAD_BYTES ? bytes : PAYLOAD_BYTES;
        answer[HEADER] = AOTC_RPC_EVENT_READ;
        (void)put_number(put_number(answer + HEADER + 1u, read_offset, 4u), piece, 2u);
        give(line.type | AOTC_RPC_ANSWER, 7u);
        await_request();
        if (line.is_abandoned || number_at(incoming + 8, 2u) != piece) { return -1; } /* or the end of the file */
        memcpy(to, incoming + HEADER, piece);
        to += piece;
        bytes -= piece;
        read_offset += piece;
    }
    return bytes > 0u ? -1 : 0;
}

/* The end of a run; does nothing where none is. */
static void end_run(uint32_t code)
{
    if (!line.is_running) { return; }
    flush();
    line.is_running = 0;
    if (line.is_abandoned) { return; }
    answer[HEADER] = AOTC_RPC_EVENT_DONE;
    (void)put_number(answer + HEADER + 1u, code, 4u);
    give(line.type | AOTC_RPC_ANSWER, 5u);
}

void serial_session_serve(int code, int has_faulted)
{
    static char program[] = "firmware", verify[] = "verify", outputs[] = "outputs", in[] = "in", out[] = "out";
    static char *argv[4] = {program, verify, in, out};
    uart_listen();
    line.has_faulted = has_faulted;
    end_run((uint32_t)code);
    for (;;) {
        uint8_t mode;
        line.is_abandoned = 0;
        await_request();
        mode = number_at(incoming + 8, 2u) == 1u ? incoming[HEADER] : AOTC_RPC_RUN_DEMO;
        line.is_running = 1;
        argv[1] = mode == AOTC_RPC_RUN_OUTPUTS ? outputs : verify;
        end_run((uint32_t)harness_main(mode == AOTC_RPC_RUN_DEMO ? 0 : 4, argv));
    }
}

#endif
