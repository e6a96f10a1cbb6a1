/* SPDX-License-Identifier: 0BSD */
/*
 * Sends and receives packets over a byte stream. A packet ends with a CRC-32 and is sent as a
 * frame: its bytes in COBS encoding, between two zero bytes.
 *
 * Zero bytes occur only between frames, so a receiver that missed bytes finds the start of the next
 * frame. Decoding works byte by byte and needs a buffer of the size of a packet; encoding needs no
 * buffer.
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
    uint8_t left;    /* bytes of that block that are missing */
    uint8_t damaged; /* 1: the packet exceeds the buffer; the rest of the frame is dropped */
} AotcRpcDecoder;

/* Sends bytes over the byte stream. */
typedef void (*AotcRpcWrite)(void *context, const uint8_t *bytes, uint32_t count);

/* Computes the CRC-32 of ISO 3309, as in zlib and PNG. */
uint32_t AotcRpcCrc32(const uint8_t *bytes, uint32_t count);

/*
 * Decodes one received byte. If the byte completes a frame, returns the number of bytes in
 * `buffer`; else 0. The frame may be an invalid packet: see AotcRpcPacketIsGood. Set the decoder to
 * zeros before the first byte.
 */
uint32_t AotcRpcDecode(AotcRpcDecoder *decoder, uint8_t *buffer, uint32_t capacity, uint8_t byte);

/* Returns 1 if the length and the checksum of the packet are right. */
int AotcRpcPacketIsGood(const uint8_t *packet, uint32_t length);

/*
 * Sends a packet as a frame. The caller stores the payload at packet + AOTC_RPC_HEADER_BYTES; the
 * buffer needs room for the checksum behind it. The function adds header and checksum, and writes
 * the frame with its zero bytes.
 */
void AotcRpcSend(uint8_t *packet, uint8_t type, uint16_t sequence, uint32_t session,
                 uint32_t payload_bytes, AotcRpcWrite write, void *context);

#ifdef __cplusplus
}
#endif

#endif /* AOTC_CRT_RPC_FRAME_H_ */
