// Of runs of `span` rows out of `rows`, each `row_pixels` long; the last run may be shorter.
float pixels_of(int run) { return float(row_pixels * (min((run + 1) * span, rows) - run * span)); }
