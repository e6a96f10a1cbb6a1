/*
 * The sizes and checks that are fixed when the C runtime is compiled: every macro with its default,
 * its bounds and what it costs.
 *
 * To change one, give it on the command line (-DTVM_WORKSPACE_SIZE_BYTES=4096), or name a header of
 * your own that defines it with -DTVM_CRT_CONFIG_HEADER='"my_config.h"'. All files of a program,
 * the runtime's and the application's, must see the same values. A value out of bounds stops the
 * compiler.
 */
#ifndef TVM_RUNTIME_CRT_CRT_CONFIG_H_
#define TVM_RUNTIME_CRT_CRT_CONFIG_H_

#ifdef TVM_CRT_CONFIG_HEADER
#include TVM_CRT_CONFIG_HEADER
#endif

/*
 * Alignment, in bytes, of every block that the stack and page allocators hand out: a power of two.
 * 8 is enough for any element type of C; 16 and more serve vector loads and DMA.
 * Bounds: 8 .. 4096. Cost: up to that many bytes less one for each live block, and once for a
 * static workspace.
 */
#ifndef TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16
#endif
#if TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES < 8 || TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES > 4096 || \
    (TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES & (TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES - 1)) != 0
#error "TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES must be a power of two in 8 .. 4096 [crt-config]"
#endif

/*
 * 1: the stack allocator keeps the size of each block and refuses to free any but the newest.
 * 0: freeing a block frees all newer ones with it, without an error.
 * Bounds: 0, 1. Cost of 1: 4 bytes for each live block, before rounding to the alignment.
 */
#ifndef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK 1
#endif
#if TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK < 0 || TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK > 1
#error "TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK must be 0 or 1 [crt-config]"
#endif

/*
 * Bytes of the static workspace of the stack platform binding (aotc_crt/platform_stack.h); 0 for
 * none, then the application gives the memory.
 * Bounds: 0 .. 2147483647. Cost: that many bytes of zeroed RAM plus the alignment less one, if the
 * binding is linked.
 */
#ifndef TVM_WORKSPACE_SIZE_BYTES
#define TVM_WORKSPACE_SIZE_BYTES 0
#endif
#if TVM_WORKSPACE_SIZE_BYTES < 0 || TVM_WORKSPACE_SIZE_BYTES > 2147483647
#error "TVM_WORKSPACE_SIZE_BYTES must be in 0 .. 2147483647 [crt-config]"
#endif

/*
 * Bytes kept for the text of the last error, its terminating zero included; longer texts are cut.
 * Texts of the runtime itself have fewer than 64 characters.
 * Bounds: 16 .. 1024. Cost: that many bytes of zeroed RAM.
 */
#ifndef TVM_CRT_LAST_ERROR_BYTES
#define TVM_CRT_LAST_ERROR_BYTES 64
#endif
#if TVM_CRT_LAST_ERROR_BYTES < 16 || TVM_CRT_LAST_ERROR_BYTES > 1024
#error "TVM_CRT_LAST_ERROR_BYTES must be in 16 .. 1024 [crt-config]"
#endif

#endif /* TVM_RUNTIME_CRT_CRT_CONFIG_H_ */
