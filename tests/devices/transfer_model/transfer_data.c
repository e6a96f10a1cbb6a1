/* SPDX-License-Identifier: Apache-2.0 */
/* The model has no tables. */
typedef int transfer_data_is_empty;
