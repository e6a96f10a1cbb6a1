/* SPDX-License-Identifier: 0BSD */
/*
 * Packets on a byte stream: COBS between zero bytes, followed by a CRC-32.
 *
 * Zero bytes occur only between frames, so a receiver that lost its position finds it again at the
 * next one, whatever bytes it missed. Decoding needs one buffer as large as a packet and works byte
 * by byte; encoding needs none.
 */
#ifndef AOTC_CRT_RPC_FRAME_H_
#define AOTC_CRT_RPC_FRAME_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t length; /* bytes decoded so far */
    uint8_t block;   /* length byte of the COBS block being read, 0 at the start of a frame */
    uint8_t left;    /* bytes of it that are missing */
    uint8_t damaged; /* 1: too long for the buffer, the rest of the frame is dropped */
} AotcRpcDecoder;

/* Sends bytes over the line. */
typedef void (*AotcRpcWrite)(void *context, const uint8_t *bytes, uint32_t count);

/* CRC-32 of ISO 3309 (as in zlib and PNG). */
uint32_t AotcRpcCrc32(const uint8_t *bytes, uint32_t count);

/*
 * Takes one received byte. Returns the number of bytes in `buffer` if it completed a frame, which
 * may still be an invalid packet: see AotcRpcPacketIsGood; else 0. Begin with a zeroed decoder.
 */
uint32_t AotcRpcDecode(AotcRpcDecoder *decoder, uint8_t *buffer, uint32_t capacity, uint8_t byte);

/* 1 if the length and the checksum of the packet are right. */
int AotcRpcPacketIsGood(const uint8_t *packet, uint32_t length);

/*
 * Makes a packet of the payload at packet + AOTC_RPC_HEADER_BYTES, which must have room for the
 * checksum behind it, and writes it as a frame, including the zero bytes before and behind.
 */
void AotcRpcSend(uint8_t *packet, uint8_t type, uint16_t sequence, uint32_t session,
                 uint32_t payload_bytes, AotcRpcWrite write, void *context);

#ifdef __cplusplus
}
#endif

#endif /* AOTC_CRT_RPC_FRAME_H_ */
