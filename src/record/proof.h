/* The proof that a driver computes: known numbers go through the functions that kernels are made of. A
 * compiler that takes the processor for another makes programs that run, and whose results are nonsense
 * (llvmpipe of armhf below qemu-user: the square root of 5 is 1.41). glsl/record/count.comp computes. */
#ifndef GLCNN_PROOF_H
#define GLCNN_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROOF_LANES                                                                                \
    16 /* numbers, and invocations: no subgroup of a software rasteriser is larger */
#define PROOF_FUNCTIONS 6
#define PROOF_WORDS     (PROOF_LANES * (1 + PROOF_FUNCTIONS))

/* The numbers, as the first PROOF_LANES words; the results stand behind them and are set to 0. */
void proof_fill(uint32_t words[PROOF_WORDS]);

/* True if each result is right, within 1e-4 of itself or of 1: GPUs are less exact than C, and nonsense
 * is further off. The first that is wrong is put into `text`: "sqrt of 5 as 1.41421
 * instead of 2.23607". */
bool proof_holds(const uint32_t words[PROOF_WORDS], char *text, size_t size);

#endif
