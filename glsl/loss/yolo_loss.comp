// gradient(k) and loss(k) of channel k of a cell, from where the passes before have them: the slices of
// an anchor box have x y w h, then its confidence, then its classes; beside the confidence's gradient,
// with COUNTS, stands how many weights are not 0. An invocation goes through a cell.
// Its losses are stored one by one (ELEMENTS), or as one texel (sum, number of weights that are not 0)
// for the reduction (SUMS), which for a single cell is the loss already (LAST). SCALED gradients are
// multiplied by gradient_scale.
// needs lib/channels.glsl
// needs loss/loss_of_sums.glsl

// The slice that has a channel, and the component.
ivec2 place_of(int channel) {
    int box = channel / BOX_CHANNELS;
    int rank = channel - box * BOX_CHANNELS;
    int slot = rank < 5 ? rank : rank + 3;
    return ivec2(min(box * BOX_SLICES + (slot >> 2), gradients_slices - 1), slot & 3);
}

float component(vec4 v, int i) {
    vec2 half_of = i < 2 ? v.xy : v.zw;
    return (i & 1) == 0 ? half_of.x : half_of.y;
}

float gradient_of(ivec3 cell, int channel) {
    ivec2 place = place_of(channel);
    return component(gradients(cell.x, cell.y, place.x, cell.z), place.y);
}

#ifdef LOSSES
float loss_of_channel(ivec3 cell, int channel) {
    ivec2 place = place_of(channel);
    return component(losses(cell.x, cell.y, place.x, cell.z), place.y);
}
#endif

void invocation(ivec3 at) {
    ivec3 cell = at - ivec3(origin_x, origin_y, 0);
    long_sum sum = long_sum(0.0, 0.0);
    float count = 0.0;
    for (int slice = 0; slice < destination_slices; slice++) {
        int k = slice * 4;
        vec4 gradient = vec4(gradient_of(cell, k), gradient_of(cell, k + 1),
                             gradient_of(cell, k + 2), gradient_of(cell, k + 3));
#ifdef SCALED
        gradient *= gradient_scale;
#endif
        store_destination(at.x, at.y, slice, at.z, gradient);
#ifdef LOSSES
        vec4 loss = vec4(loss_of_channel(cell, k), loss_of_channel(cell, k + 1),
                         loss_of_channel(cell, k + 2), loss_of_channel(cell, k + 3));
#ifdef ELEMENTS
        store_elements(at.x, at.y, slice, at.z, loss);
#endif
        add_slice(sum, slice_sum(loss, slice, destination_channels), slice);
#endif
    }
#ifdef COUNTS
    for (int slice = 1; slice < gradients_slices; slice += BOX_SLICES)
        count += gradients(cell.x, cell.y, slice, cell.z).y;
#endif
    vec4 sums = vec4(total_of(sum), count, 0.0, 0.0);
#ifdef LAST
    store_sums(0, 0, 0, at.z, loss_of(sums));
#elif defined(SUMS)
    store_sums(cell.x, cell.y, 0, at.z, sums);
#endif
}
