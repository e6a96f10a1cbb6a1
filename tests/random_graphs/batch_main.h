// SPDX-License-Identifier: Apache-2.0
/* Around the models of a batch: comparing, and a workspace that counts, checks the order of
 * releases and fails when told. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/runtime/c_backend_api.h>

/* A union of everything aligns the bytes for any element type. */
#define TABLE(name, n) \
  union {              \
    uint8_t bytes[n];  \
    uint64_t a;        \
    double b;          \
  } name

static struct {
  void* blocks[4096];
  size_t sizes[4096];
  size_t live, used, most;
  long calls; /* allocations so far */
  long frees;
  long fail_alloc_at; /* 1 for the first, 0 for none */
  long fail_free_at;
  int disorder;
} space;

void* TVMBackendAllocWorkspace(int type, int id, uint64_t nbytes, int code, int bits) {
  /* As the stack allocator of crt/ counts: a footer of four bytes, rounded up to 16. */
  const size_t block = ((size_t)nbytes + 4u + 15u) / 16u * 16u;
  (void)type, (void)id, (void)code, (void)bits;
  if (++space.calls == space.fail_alloc_at || space.live == 4096) return NULL;
  /* Exactly the bytes asked for, aligned as the runtime aligns: any more is found by the
   * sanitizer. */
  void* p = NULL;
  if (posix_memalign(&p, 16, nbytes ? (size_t)nbytes : 1u) != 0) return NULL;
  memset(p, 0xA5, (size_t)nbytes);
  space.blocks[space.live] = p;
  space.sizes[space.live++] = block;
  space.used += block;
  if (space.used > space.most) space.most = space.used;
  return p;
}

int TVMBackendFreeWorkspace(int type, int id, void* ptr) {
  int failed;
  (void)type, (void)id;
  if (space.live == 0 || space.blocks[space.live - 1] != ptr) {
    space.disorder = 1;
    return -1;
  }
  failed = ++space.frees == space.fail_free_at;
  --space.live;
  space.used -= space.sizes[space.live];
  free(ptr);
  return failed ? -1 : 0;
}

static int same_float(const uint8_t* a, const uint8_t* b) {
  uint32_t x, y;
  memcpy(&x, a, 4);
  memcpy(&y, b, 4);
  return x == y || ((x & 0x7fffffffu) > 0x7f800000u && (y & 0x7fffffffu) > 0x7f800000u);
}

static int differs(const uint8_t* have, const uint8_t* want, size_t n, int is_float) {
  size_t i;
  if (!is_float) return memcmp(have, want, n) != 0;
  for (i = 0; i < n; i += 4)
    if (!same_float(have + i, want + i)) return 1;
  return 0;
}

/* Guards on both sides of a buffer of outputs or arena. */
enum { GUARD = 32 };
static void guard(uint8_t* at, size_t n, uint8_t fill) { memset(at, fill, n + 2u * GUARD); }
static int guard_broken(const uint8_t* at, size_t n, uint8_t fill) {
  size_t i;
  for (i = 0; i < GUARD; ++i)
    if (at[i] != fill || at[GUARD + n + i] != fill) return 1;
  return 0;
}

static int report(const char* name, const char* why, long detail) {
  printf("FAILED %s: %s (%ld)\n", name, why, detail);
  return 1;
}

/* Every allocation and every release fails once: an error, nothing left, nothing out of order. */
static int inject(const char* name, int32_t (*run)(void), int32_t workspace_error, size_t promised) {
  long n, allocs, frees;
  memset(&space, 0, sizeof space);
  if (run() != 0) return report(name, "a plain run fails", 0);
  if (space.live != 0 || space.disorder) return report(name, "a plain run leaks", (long)space.live);
  if (space.most != promised) return report(name, "WORKSPACE_SIZE is not the high water", (long)space.most);
  allocs = space.calls;
  frees = space.frees;
  if (allocs != frees) return report(name, "allocations without release", allocs - frees);
  for (n = 1; n <= allocs; ++n) {
    memset(&space, 0, sizeof space);
    space.fail_alloc_at = n;
    if (run() != workspace_error) return report(name, "a failed allocation is not reported", n);
    if (space.live != 0) return report(name, "a failed allocation leaks", n);
    if (space.disorder) return report(name, "releases out of order behind a failed allocation", n);
  }
  for (n = 1; n <= frees; ++n) {
    memset(&space, 0, sizeof space);
    space.fail_free_at = n;
    if (run() != workspace_error) return report(name, "a failed release is not reported", n);
    if (space.live != 0 || space.disorder) return report(name, "a failed release leaks", n);
  }
  memset(&space, 0, sizeof space);
  return 0;
}
