// First tap that may read the pixel `distance` beyond the first tap of window 0, each tap_step-th
// after it may, too; 65536: there is none.
// needs lib/divide.glsl
int first_tap(int distance, int stride, int dilation, int tap_step) {
    int p = 0;
    for (; p < tap_step; p++) {
        int t = distance - dilation * p;
        if (t == floor_divide(t, stride) * stride)
            return p;
    }
    return 65536;
}
