// SPDX-License-Identifier: Apache-2.0
/* Nothing: the model as it should be. */
