/* Nothing: the model as it should be. */
