// Where a product has a row: within each 16 rows as if they were transposed, so that invocations which
// own a vector of rows each store to neighbours.
int product_place(int row) { return (row & ~15) + (row & 3) * 4 + (row >> 2 & 3); }

int product_pitch(int rows) { return (rows + 15) & ~15; }
