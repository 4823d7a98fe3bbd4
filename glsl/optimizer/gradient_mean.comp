// gradient = mean_factor * sum, and the sum begins again: the factor is 1 / executions that it is over
void invocation(ivec3 at) {
    gradient[at.x] = mean_factor * sum[at.x];
    sum[at.x] = 0.0;
}
