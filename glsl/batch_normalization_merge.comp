// mean, M2 of FAN_IN neighbouring runs
void invocation(ivec3 at) {
    int first = at.x * FAN_IN;
    statistics s = merge_runs(first, min(first + FAN_IN, runs), at.y);
    store_merged(at.x, 0, at.y, 0, s.mean);
    store_merged(at.x, 0, at.y, 1, s.m2);
}
