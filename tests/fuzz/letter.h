/* Inputs whose first byte is a letter that names a reader: what is mutated keeps it, so that a corpus of one letter
 * feeds one reader. */
#ifndef GLCNN_TESTS_FUZZ_LETTER_H
#define GLCNN_TESTS_FUZZ_LETTER_H

#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    (void)seed;
    return size == 0 || most < 2 ? size : 1 + LLVMFuzzerMutate(data + 1, size - 1, most - 1);
}

#endif
