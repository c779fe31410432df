#ifndef KITH_CLIBFUZZER_SHIM_H
#define KITH_CLIBFUZZER_SHIM_H

#include <stddef.h>
#include <stdint.h>

// Runs the fuzzer that -sanitize=fuzzer links, with its arguments, over a function of one input.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t count));

#endif
