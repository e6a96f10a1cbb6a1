/* SPDX-License-Identifier: 0BSD */
/*
 * The constants of the protocol by which a host calls the functions of a device. docs/rpc.md
 * describes the protocol.
 *
 * A packet is
 *     u8 version, u8 type, u16 sequence, u32 session, u16 payload bytes, payload, u32 CRC-32
 * with all numbers little-endian. It is sent in COBS encoding between zero bytes. These values
 * never change, because programs of other versions use them.
 */
#ifndef AOTC_CRT_RPC_PROTOCOL_H_
#define AOTC_CRT_RPC_PROTOCOL_H_

#define AOTC_RPC_VERSION 1u
#define AOTC_RPC_HEADER_BYTES 10u
#define AOTC_RPC_CHECK_BYTES 4u
/* Bytes of a packet without its payload. */
#define AOTC_RPC_OVERHEAD_BYTES (AOTC_RPC_HEADER_BYTES + AOTC_RPC_CHECK_BYTES)

/* Types of packets. An answer has the type of its request with the high bit set. */
#define AOTC_RPC_HELLO 0x01u
#define AOTC_RPC_LIST 0x02u
#define AOTC_RPC_ALLOCATE 0x03u
#define AOTC_RPC_WRITE 0x04u
#define AOTC_RPC_READ 0x05u
#define AOTC_RPC_CALL 0x06u
#define AOTC_RPC_TIME 0x07u
#define AOTC_RPC_FREE 0x08u
#define AOTC_RPC_RESET 0x09u
/* Only for firmware that runs a model and serves no functions. */
#define AOTC_RPC_RUN 0x0Au
#define AOTC_RPC_CONTINUE 0x0Bu
#define AOTC_RPC_ANSWER 0x80u
/* Sent before the answer of CALL and TIME, and repeatedly during a long TIME. */
#define AOTC_RPC_WORKING 0xF0u
#define AOTC_RPC_ERROR 0xFFu

/* Status in the answer to TIME if the time limit expired before all runs were done. */
#define AOTC_RPC_TIME_OVER 0x7FFFFFFF

/* Errors: the u16 at the start of an ERROR packet. A u32 follows, which the brackets describe. */
#define AOTC_RPC_ERROR_VERSION 1u   /* packet of another version [the device's version] */
#define AOTC_RPC_ERROR_SESSION 2u   /* no HELLO of this session since the device started [0] */
#define AOTC_RPC_ERROR_REQUEST 3u   /* unknown type of request [the type] */
#define AOTC_RPC_ERROR_MALFORMED 4u /* payload too short, or an invalid value [the type] */
#define AOTC_RPC_ERROR_FUNCTION 5u  /* no such function [number of functions] */
#define AOTC_RPC_ERROR_SLOT 6u      /* no such slot, or an empty one [the slot] */
#define AOTC_RPC_ERROR_MEMORY 7u    /* does not fit the pool [requested bytes] */
#define AOTC_RPC_ERROR_RANGE 8u     /* outside of the tensor [bytes of the tensor] */
#define AOTC_RPC_ERROR_TOO_LARGE 9u /* the answer does not fit a packet [largest payload] */

/* Bits of the field `flags` in the answer to HELLO. */
#define AOTC_RPC_FLAG_INSTRUCTIONS 1u /* a tick is an instruction */
#define AOTC_RPC_FLAG_BIG_ENDIAN 2u   /* tensors hold big-endian elements */
#define AOTC_RPC_FLAG_REBOOT 4u       /* RESET can restart the device */
#define AOTC_RPC_FLAG_MODEL 8u        /* runs a model: RUN and CONTINUE, no functions */

/* The operation that RUN requests. */
#define AOTC_RPC_RUN_DEMO 0u
#define AOTC_RPC_RUN_VERIFY 1u
#define AOTC_RPC_RUN_OUTPUTS 2u

/* The event at the start of the answer to RUN and CONTINUE. */
#define AOTC_RPC_EVENT_TEXT 1u  /* the text */
#define AOTC_RPC_EVENT_READ 2u  /* u32 offset, u16 count: CONTINUE sends this part of the file */
#define AOTC_RPC_EVENT_WRITE 3u /* u32 offset, bytes to write to the host's file */
#define AOTC_RPC_EVENT_DONE 4u  /* u32 exit code; the next request is RUN */

#define AOTC_RPC_RESET_STATE 0u
#define AOTC_RPC_RESET_REBOOT 1u

/* Replaces the index of a function if the function's name follows. */
#define AOTC_RPC_BY_NAME 0xFFFFu
/* Replaces the number of a slot and means all slots. */
#define AOTC_RPC_ALL_SLOTS 0xFFu

#endif /* AOTC_CRT_RPC_PROTOCOL_H_ */
