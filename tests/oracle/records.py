# SPDX-License-Identifier: Apache-2.0
"""The two flat files that tests exchange with generated programs, read and written.

Inputs file  : u32 0x43544F41, u32 sample count, then per sample the bytes of every model input.
Results file : u32 0x52544F41, then records {u32 sample, u32 op, u32 result, u32 bytes, data}.
All numbers are little endian and nothing is padded, so a C program reads either file with four
lines. A results file written by the oracle has one record per operator result, in the order the
operators run; `OP_MODEL_OUTPUT` marks records that repeat the model's outputs.
"""

import struct

MAGIC_INPUTS = 0x43544F41
MAGIC_RESULTS = 0x52544F41
OP_MODEL_OUTPUT = 0xFFFFFFFE


def pack_inputs(samples):
    """`samples`: list of lists of numpy arrays, one array per model input."""
    parts = [struct.pack("<II", MAGIC_INPUTS, len(samples))]
    for arrays in samples:
        parts.extend(a.tobytes() for a in arrays)
    return b"".join(parts)


def unpack_inputs(data, byte_sizes):
    """The raw bytes of every input of every sample; `byte_sizes` gives bytes per input."""
    magic, count = struct.unpack_from("<II", data)
    if magic != MAGIC_INPUTS:
        raise ValueError(f"not an inputs file: magic {magic:#010x}, expected {MAGIC_INPUTS:#010x}")
    if len(data) != 8 + count * sum(byte_sizes):
        raise ValueError(
            f"inputs file has {len(data)} bytes, {count} samples of {sum(byte_sizes)} need "
            f"{8 + count * sum(byte_sizes)}"
        )
    offset, samples = 8, []
    for _ in range(count):
        sample = []
        for size in byte_sizes:
            sample.append(data[offset : offset + size])
            offset += size
        samples.append(sample)
    return samples


def pack_results(records):
    """`records`: iterable of (sample, op, result, bytes)."""
    parts = [struct.pack("<I", MAGIC_RESULTS)]
    for sample, op, result, data in records:
        parts.append(struct.pack("<IIII", sample, op, result, len(data)))
        parts.append(data)
    return b"".join(parts)


def unpack_results(data):
    (magic,) = struct.unpack_from("<I", data)
    if magic != MAGIC_RESULTS:
        raise ValueError(f"not a results file: magic {magic:#010x}, expected {MAGIC_RESULTS:#010x}")
    offset, records = 4, []
    while offset < len(data):
        sample, op, result, size = struct.unpack_from("<IIII", data, offset)
        offset += 16
        if offset + size > len(data):
            raise ValueError(
                f"record of {size} bytes at offset {offset} passes the end of the file")
        records.append((sample, op, result, data[offset : offset + size]))
        offset += size
    return records
