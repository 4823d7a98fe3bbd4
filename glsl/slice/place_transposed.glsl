// Axes in another order: of the source's channel, row and column the number of the result's axis.
ivec3 place(ivec3 at) { return ivec3(at[FROM_C], at[FROM_Y], at[FROM_X]); }
