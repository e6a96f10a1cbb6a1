/* SPDX-License-Identifier: 0BSD */
#include <aotc_crt/rpc_frame.h>
#include <aotc_crt/rpc_protocol.h>

#define COBS_BLOCK 0xFFu /* a length byte that stands for 254 bytes and no zero behind them */

/* By nibbles: a table of 64 bytes, a quarter of the steps of the one without. */
uint32_t AotcRpcCrc32(const uint8_t *bytes, uint32_t count) {
    static const uint32_t table[16] = {0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu,
                                       0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
                                       0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
                                       0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu};
    uint32_t crc = 0xFFFFFFFFu;
    uint32_t i;
    for (i = 0; i < count; ++i) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ table[crc & 15u];
        crc = (crc >> 4) ^ table[crc & 15u];
    }
    return crc ^ 0xFFFFFFFFu;
}

static void append(AotcRpcDecoder *decoder, uint8_t *buffer, uint32_t capacity, uint8_t byte) {
    if (decoder->length < capacity) {
        buffer[decoder->length++] = byte;
    } else {
        decoder->damaged = 1u;
    }
}

uint32_t AotcRpcDecode(AotcRpcDecoder *decoder, uint8_t *buffer, uint32_t capacity, uint8_t byte) {
    if (byte == 0u) {
        const int whole = decoder->left == 0u && decoder->damaged == 0u;
        const uint32_t length = whole ? decoder->length : 0u;
        decoder->length = 0u;
        decoder->block = 0u;
        decoder->left = 0u;
        decoder->damaged = 0u;
        return length;
    }
    if (decoder->left != 0u) {
        --decoder->left;
        append(decoder, buffer, capacity, byte);
        return 0u;
    }
    /* The zero that ended the block before this one; not behind a block without, or before all. */
    if (decoder->block != 0u && decoder->block != COBS_BLOCK) {
        append(decoder, buffer, capacity, 0u);
    }
    decoder->block = byte;
    decoder->left = (uint8_t)(byte - 1u);
    return 0u;
}

static uint32_t u32_at(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

int AotcRpcPacketIsGood(const uint8_t *packet, uint32_t length) {
    uint32_t payload;
    if (length < AOTC_RPC_OVERHEAD_BYTES) {
        return 0;
    }
    payload = (uint32_t)packet[8] | (uint32_t)packet[9] << 8;
    return length == AOTC_RPC_OVERHEAD_BYTES + payload &&
           AotcRpcCrc32(packet, length - AOTC_RPC_CHECK_BYTES) ==
               u32_at(packet + length - AOTC_RPC_CHECK_BYTES);
}

static void put_number(uint8_t *to, uint32_t value, uint32_t bytes) {
    uint32_t i;
    for (i = 0; i < bytes; ++i) {
        to[i] = (uint8_t)(value >> (8u * i));
    }
}

void AotcRpcSend(uint8_t *packet, uint8_t type, uint16_t sequence, uint32_t session,
                 uint32_t payload_bytes, AotcRpcWrite write, void *context) {
    const uint32_t checked = AOTC_RPC_HEADER_BYTES + payload_bytes;
    const uint32_t length = checked + AOTC_RPC_CHECK_BYTES;
    const uint8_t zero = 0u;
    uint32_t start = 0u;
    packet[0] = (uint8_t)AOTC_RPC_VERSION;
    packet[1] = type;
    put_number(packet + 2, sequence, 2u);
    put_number(packet + 4, session, 4u);
    put_number(packet + 8, payload_bytes, 2u);
    put_number(packet + checked, AotcRpcCrc32(packet, checked), 4u);

    write(context, &zero, 1u);
    for (;;) {
        uint32_t end = start;
        uint8_t block;
        while (end < length && packet[end] != 0u && end - start < COBS_BLOCK - 1u) {
            ++end;
        }
        block = (uint8_t)(end - start + 1u);
        write(context, &block, 1u);
        if (end != start) {
            write(context, packet + start, end - start);
        }
        if (end == length) {
            break;
        }
        start = block == COBS_BLOCK ? end : end + 1u;
    }
    write(context, &zero, 1u);
}
