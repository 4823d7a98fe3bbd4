// gradient = share * sum, and the sum begins again: share is 1 / executions that it is over
void invocation(ivec3 at) {
    gradient[at.x] = share * sum[at.x];
    sum[at.x] = 0.0;
}
