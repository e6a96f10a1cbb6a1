// SPDX-License-Identifier: Apache-2.0
/* A test writes `#define TRANSFER_ASYNC 0` or 1 in here; 1 is the default. */
