/* The power of a normalisation: by roots and products where beta is a usual one. */
#include "kernels/scale_power.h"

/* Beta in quarters; 0: it is no number of them, or so many that products lose digits. */
static int quarters_of(float beta)
{
    int quarters = beta > 0 && beta <= 5 ? (int)(4 * beta) : 0;
    bool whole = quarters % 4 == 0;
    return (float)quarters == 4 * beta && (whole || quarters < 8) ? quarters : 0;
}

/* Of less than a whole power no step leaves the range of floats, but for a tiny L. */
static bool roots_are_enough(int quarters, float least)
{
    return quarters > 0 && quarters < 4 && least >= 1e-7F;
}

void pass_scale_power(struct pass *pass, float beta, float least)
{
    int quarters = quarters_of(beta);
    pass_float(pass, "beta", beta);
    if (quarters)
        pass_define(pass, "QUARTERS", quarters);
    if (roots_are_enough(quarters, least))
        pass_define(pass, "ROOTS_ALONE", 1);
}
