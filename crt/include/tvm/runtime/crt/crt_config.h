/* SPDX-License-Identifier: 0BSD */
/*
 * The compile-time configuration of the C runtime: every macro with its default, bounds and cost.
 *
 * To change a macro, define it on the command line (-DTVM_WORKSPACE_SIZE_BYTES=4096), or in a
 * header of your own (-DTVM_CRT_CONFIG_HEADER='"my_config.h"'). All files of a program, those of
 * the runtime and of the application, must use the same values. A value out of bounds is a
 * compile-time error.
 */
#ifndef TVM_RUNTIME_CRT_CRT_CONFIG_H_
#define TVM_RUNTIME_CRT_CRT_CONFIG_H_

#include <tvm/runtime/crt/logging.h>

#ifdef TVM_CRT_CONFIG_HEADER
#include TVM_CRT_CONFIG_HEADER
#endif

/*
 * Alignment, in bytes, of every block of the stack and page allocators: a power of two. 8 is enough
 * for any element type of C. Vector loads and DMA may need 16 or more.
 * Bounds: 8 .. 4096. Cost: up to the alignment minus 1 bytes for each live block, and once more for
 * a static workspace.
 */
#ifndef TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16
#endif
#if TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES < 8 || TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES > 4096 || \
    (TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES & (TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES - 1)) != 0
#error "TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES must be a power of two in 8 .. 4096 [crt-config]"
#endif

/*
 * 1: the stack allocator stores the size of each block and frees only the newest block.
 * 0: freeing a block also frees all newer blocks, without an error.
 * Bounds: 0, 1. Cost of 1: 4 bytes for each live block, before rounding to the alignment.
 */
#ifndef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK 1
#endif
#if TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK < 0 || TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK > 1
#error "TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK must be 0 or 1 [crt-config]"
#endif

/*
 * Bytes of the static workspace of the default memory hooks (aotc_crt/platform_stack.h). 0: there
 * is no static workspace, and the application provides the memory.
 * Bounds: 0 .. 2147483647. Cost: that many bytes of zeroed RAM plus the alignment minus 1, if the
 * default memory hooks are linked.
 */
#ifndef TVM_WORKSPACE_SIZE_BYTES
#define TVM_WORKSPACE_SIZE_BYTES 0
#endif
#if TVM_WORKSPACE_SIZE_BYTES < 0 || TVM_WORKSPACE_SIZE_BYTES > 2147483647
#error "TVM_WORKSPACE_SIZE_BYTES must be in 0 .. 2147483647 [crt-config]"
#endif

/*
 * Bytes for the text of the last error, its terminating zero included; longer texts are cut.
 * The runtime's own texts have fewer than 64 characters.
 * Bounds: 16 .. 1024. Cost: that many bytes of zeroed RAM.
 */
#ifndef TVM_CRT_LAST_ERROR_BYTES
#define TVM_CRT_LAST_ERROR_BYTES 64
#endif
#if TVM_CRT_LAST_ERROR_BYTES < 16 || TVM_CRT_LAST_ERROR_BYTES > 1024
#error "TVM_CRT_LAST_ERROR_BYTES must be in 16 .. 1024 [crt-config]"
#endif

/*
 * Bytes of the registry that TVMFuncRegisterGlobal fills. With 32-bit pointers, a function with a
 * name of 16 characters takes 27 bytes.
 * Bounds: 64 .. 32768. Cost: that many bytes of zeroed RAM, if functions are called by name.
 */
#ifndef TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES
#define TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES 512
#endif
#if TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES < 64 || TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES > 32768
#error "TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES must be in 64 .. 32768 [crt-config]"
#endif

/*
 * Modules that can be registered at a time (TVMModCreateFromCModule), besides the system library.
 * Bounds: 1 .. 12. Cost of each: a pointer of zeroed RAM, and about 8 instructions in a search for
 * a name that no earlier module has.
 */
#ifndef TVM_CRT_MAX_REGISTERED_MODULES
#define TVM_CRT_MAX_REGISTERED_MODULES 2
#endif
#if TVM_CRT_MAX_REGISTERED_MODULES < 1 || TVM_CRT_MAX_REGISTERED_MODULES > 12
#error "TVM_CRT_MAX_REGISTERED_MODULES must be in 1 .. 12 [crt-config]"
#endif

/*
 * Bytes of the longest name, its terminating zero included, that can be registered at run time.
 * Names in registries that the compiler emits may be longer.
 * Bounds: 16 .. 1024. Cost: none.
 */
#ifndef TVM_CRT_MAX_STRLEN_FUNCTION_NAME
#define TVM_CRT_MAX_STRLEN_FUNCTION_NAME 120
#endif
#if TVM_CRT_MAX_STRLEN_FUNCTION_NAME < 16 || TVM_CRT_MAX_STRLEN_FUNCTION_NAME > 1024
#error "TVM_CRT_MAX_STRLEN_FUNCTION_NAME must be in 16 .. 1024 [crt-config]"
#endif

/*
 * Largest number of values in a TVMArgs (packed_func.h). TVMFuncCall accepts any number.
 * Bounds: 1 .. 255. Cost of each: 12 bytes in every TVMArgs; a TVMPackedFunc has two TVMArgs.
 */
#ifndef TVM_CRT_MAX_ARGS
#define TVM_CRT_MAX_ARGS 10
#endif
#if TVM_CRT_MAX_ARGS < 1 || TVM_CRT_MAX_ARGS > 255
#error "TVM_CRT_MAX_ARGS must be in 1 .. 255 [crt-config]"
#endif

/*
 * Maximal number of dimensions for TVMArrayAlloc.
 * Bounds: 1 .. 32. Cost: none, because the shape of an array has only the entries that it needs.
 */
#ifndef TVM_CRT_MAX_NDIM
#define TVM_CRT_MAX_NDIM 6
#endif
#if TVM_CRT_MAX_NDIM < 1 || TVM_CRT_MAX_NDIM > 32
#error "TVM_CRT_MAX_NDIM must be in 1 .. 32 [crt-config]"
#endif

/*
 * Largest payload, in bytes, of a packet that a server of remote calls receives or sends.
 * Bounds: 64 .. 65535. Cost: the server's packet buffer, if it is linked.
 */
#ifndef TVM_CRT_MAX_PACKET_SIZE_BYTES
#define TVM_CRT_MAX_PACKET_SIZE_BYTES 2048
#endif
#if TVM_CRT_MAX_PACKET_SIZE_BYTES < 64 || TVM_CRT_MAX_PACKET_SIZE_BYTES > 65535
#error "TVM_CRT_MAX_PACKET_SIZE_BYTES must be in 64 .. 65535 [crt-config]"
#endif

/*
 * Bytes for the text of an element type ("float32x4"), its terminating zero included. Only for
 * applications; the runtime does not use this macro.
 * Bounds: 8 .. 64. Cost: none.
 */
#ifndef TVM_CRT_MAX_STRLEN_DLTYPE
#define TVM_CRT_MAX_STRLEN_DLTYPE 10
#endif
#if TVM_CRT_MAX_STRLEN_DLTYPE < 8 || TVM_CRT_MAX_STRLEN_DLTYPE > 64
#error "TVM_CRT_MAX_STRLEN_DLTYPE must be in 8 .. 64 [crt-config]"
#endif

/*
 * Bytes for the name of a parameter, its terminating zero included. Only for applications; the
 * runtime does not use this macro.
 * Bounds: 16 .. 1024. Cost: none.
 */
#ifndef TVM_CRT_MAX_STRLEN_PARAM_NAME
#define TVM_CRT_MAX_STRLEN_PARAM_NAME 80
#endif
#if TVM_CRT_MAX_STRLEN_PARAM_NAME < 16 || TVM_CRT_MAX_STRLEN_PARAM_NAME > 1024
#error "TVM_CRT_MAX_STRLEN_PARAM_NAME must be in 16 .. 1024 [crt-config]"
#endif

/*
 * The highest level (TVM_CRT_LOG_LEVEL_* of logging.h) at which TVM_CRT_LOGF calls TVMLogf;
 * messages of higher levels are not compiled.
 * Bounds: 0 .. 3. Cost: the texts of all messages up to that level.
 */
#ifndef TVM_CRT_LOG_LEVEL
#define TVM_CRT_LOG_LEVEL 0
#endif
#if TVM_CRT_LOG_LEVEL < 0 || TVM_CRT_LOG_LEVEL > 3
#error "TVM_CRT_LOG_LEVEL must be in 0 .. 3 [crt-config]"
#endif

/*
 * 1: the stack and page allocators fill free memory with 0xdd and check it before they allocate it
 * again. They then report a write after free as kTvmErrorPlatformUsedAfterFree.
 * Bounds: 0, 1. Cost of 1: time in proportion to the number of bytes that are allocated and freed.
 */
#ifndef TVM_CRT_DEBUG
#define TVM_CRT_DEBUG 0
#endif
#if TVM_CRT_DEBUG < 0 || TVM_CRT_DEBUG > 1
#error "TVM_CRT_DEBUG must be 0 or 1 [crt-config]"
#endif

#endif /* TVM_RUNTIME_CRT_CRT_CONFIG_H_ */
