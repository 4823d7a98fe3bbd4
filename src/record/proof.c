/* Known numbers, and what C's functions make of them. */
#include "record/proof.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE 1e-4

/* Positive, since they go through log2, and none like another. */
static const float known[PROOF_LANES] = {0.25f, 2.0f, 5.0f,  0.75f, 1.5f,   3.0f, 7.5f, 10.25f,
                                         13.0f, 0.1f, 21.3f, 6.6f,  9.875f, 4.2f, 1.1f, 17.7f};

static float next_of(size_t i)
{
    return known[(i + 1) % PROOF_LANES];
}

static double sqrt_of(size_t i)
{
    return sqrt(known[i]);
}

static double exp2_of(size_t i)
{
    return exp2(known[i]);
}

static double log2_of(size_t i)
{
    return log2(known[i]);
}

static double floor_of(size_t i)
{
    return floor(-known[i]);
}

static double quotient_of(size_t i)
{
    return (double)known[i] / next_of(i);
}

static double sum_until(size_t last)
{
    double sum = 0;
    for (size_t i = 0; i <= last; i++)
        sum += known[i];
    return sum;
}

/* In the order of the shader. */
static const struct {
    const char *name; /* stands before the number */
    double (*expected)(size_t i);
    bool has_next; /* it takes the next number too */
} functions[PROOF_FUNCTIONS] = {
    {"sqrt of", sqrt_of, false},        {"exp2 of", exp2_of, false},
    {"log2 of", log2_of, false},        {"floor of minus", floor_of, false},
    {"division of", quotient_of, true}, {"a sum that ends with", sum_until, false},
};

void proof_fill(uint32_t words[PROOF_WORDS])
{
    memset(words, 0, PROOF_WORDS * sizeof *words);
    memcpy(words, known, sizeof known);
}

/* A NaN is not right either. */
static bool is_right(double found, double expected)
{
    return fabs(found - expected) <= TOLERANCE * fmax(1, fabs(expected));
}

static void say(char *text, size_t size, size_t function, size_t i, double found)
{
    char next[24] = "";
    if (functions[function].has_next)
        snprintf(next, sizeof next, " by %.6g", next_of(i));
    snprintf(text, size, "%s %.6g%s as %.6g instead of %.6g", functions[function].name, known[i],
             next, found, functions[function].expected(i));
}

bool proof_holds(const uint32_t words[PROOF_WORDS], char *text, size_t size)
{
    float found;
    for (size_t function = 0; function < PROOF_FUNCTIONS; function++)
        for (size_t i = 0; i < PROOF_LANES; i++) {
            memcpy(&found, &words[PROOF_LANES * (1 + function) + i], sizeof found);
            if (is_right(found, functions[function].expected(i)))
                continue;
            say(text, size, function, i, found);
            return false;
        }
    return true;
}
