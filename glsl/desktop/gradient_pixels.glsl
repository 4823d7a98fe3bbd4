// Column, row and image of a pixel of the gradient that takes part: all images numbered through.
ivec3 place_of(int pixel) {
    int width = end_x - begin_x, height = end_y - begin_y;
    int line = quotient(pixel, width);
    int image = quotient(line, height);
    return ivec3(begin_x + pixel - line * width, begin_y + line - image * height, image);
}
