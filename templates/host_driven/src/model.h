/* SPDX-License-Identifier: 0BSD */
/* There is no model here: operators are called by name. These are the types that the platform,
 * which other kinds of project share, speaks of. */
#ifndef MODEL_H
#define MODEL_H

typedef struct model_inputs model_inputs;
typedef struct model_outputs model_outputs;
typedef int32_t (*model_run_function)(const model_inputs *, const model_outputs *, void *);

#endif
