// gradient(k) = omega(k) d(k),   loss(k) = omega(k) l(k),   omega = weight * weights image
// l and d are those of the loss type's library. A pixel's losses are stored one by one (ELEMENTS),
// or as one texel (sum, number of weights that are not 0) for the reduction (SUMS), which for a
// single pixel is the loss already (LAST).
// SCALED gradients are multiplied by gradient_scale.
// loss/by_one.glsl or loss/by_lanes.glsl says who goes through the slices of a pixel. Gradients have
// a loop of their own: with the losses they are more than Mali's older GPUs can keep. (A T820 spills
// up to 15 values all the same where soft-max cross entropy has weights: three images are read then.)
// needs lib/channels.glsl
// needs loss/loss.glsl
// needs loss/loss_of_sums.glsl
void invocation(ivec3 at) {
    at.xy = pixel_of(at.xy);
    long_sum sum = long_sum(0.0, 0.0);
    float count = 0.0;
#ifdef OVER_CHANNELS
    element_sums s = element_sums_of(at.xy, at.z);
#endif
    for (int slice = first_slice(); slice < source_slices; slice += SLICE_STEP) {
        vec4 y = prediction(at.xy, slice, at.z);
        vec4 t = label(at.xy, slice, at.z);
#ifdef OVER_CHANNELS
        vec4 loss = omega(at.xy, slice, at.z) * element_loss(y, t, s);
#else
        vec4 loss = omega(at.xy, slice, at.z) * element_loss(y, t);
#endif
#ifdef ELEMENTS
        store_elements(at.x, at.y, slice, at.z,
                       mix(vec4(0.0), loss, is_channel(slice, source_channels)));
#endif
        add_slice(sum, slice_sum(loss, slice, source_channels), slice);
#ifdef WEIGHTS
        vec4 present = vec4(notEqual(weights_image(at.xy, slice, at.z), vec4(0.0)));
        count += slice_sum(present, slice, source_channels);
#endif
    }
#if defined(LAST) || defined(SUMS)
    vec4 sums = sum_of_all(vec4(total_of(sum), count, 0.0, 0.0));
    if (first_slice() == 0)
#ifdef LAST
        store_sums(0, 0, 0, at.z, loss_of(sums));
#else
        store_sums(at.x - origin_x, at.y - origin_y, 0, at.z, sums);
#endif
#endif
    for (int slice = first_slice(); slice < source_slices; slice += SLICE_STEP) {
        vec4 y = prediction(at.xy, slice, at.z);
        vec4 t = label(at.xy, slice, at.z);
        vec4 w = omega(at.xy, slice, at.z);
#ifdef OVER_CHANNELS
        vec4 gradient = element_weighted_gradient(y, t, w, s);
#else
        vec4 gradient = w * element_gradient(y, t);
#endif
#ifdef SCALED
        gradient *= gradient_scale;
#endif
        store_destination(at.x, at.y, slice, at.z, gradient);
    }
}
