/* SPDX-License-Identifier: 0BSD */
/* There is no model here: operators are called by name. These are the types that the platform,
 * which other kinds of project share, speaks of. */
#ifndef INCLUDED_MODEL
#define INCLUDED_MODEL

typedef struct inputs_of_model inputs_of_model;
typedef struct outputs_of_model outputs_of_model;
typedef int32_t (*run_function_of_model)(const inputs_of_model *, const outputs_of_model *, void *);

#endif
