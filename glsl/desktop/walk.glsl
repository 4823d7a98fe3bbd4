// How a lane of a group walks the pixels of its run, row after row of image after image, LANES apart.
// Each place follows from the one before by sums, so that no pixel takes a division. With DIVIDES it
// takes them: beside loads of two textures they cost less than what a walker keeps.
struct place {
    int x, y, image;
};

// Of a pixel that is counted from the first of row `first_row`; rows are counted through the images.
place place_of(int pixel, int first_row) {
    int line = quotient(pixel, row_pixels);
    int row = first_row + line;
    int image = quotient(row, image_rows);
    return place(pixel - line * row_pixels, row - image * image_rows, image);
}

#ifdef DIVIDES
struct walker {
    int pixel, first_row, next, end;
};

walker walker_of(int lane, int count, int first_row) {
    return walker(lane, first_row, lane, count);
}

place next_place(inout walker w) {
    place here = place_of(min(w.pixel, w.end - 1), w.first_row);
    w.pixel += LANES;
    return here;
}
#else
struct walker {
    place at, apart;
    int last_image; // of the run
    int next, end;  // pixels of the run, the first of the block and the last's next
};

// Through `count` pixels.
walker walker_of(int lane, int count, int first_row) {
    return walker(place_of(lane, first_row), place_of(LANES, 0),
                  place_of(count - 1, first_row).image, lane, count);
}

// Where it is, before it goes on. Beyond the run that is some pixel, which counts for nothing.
place next_place(inout walker w) {
    place here = place(w.at.x, w.at.y, min(w.at.image, w.last_image));
    w.at.x += w.apart.x;
    bool row_ends = w.at.x >= row_pixels;
    w.at.x -= row_ends ? row_pixels : 0;
    w.at.y += w.apart.y + int(row_ends);
    bool image_ends = w.at.y >= image_rows;
    w.at.y -= image_ends ? image_rows : 0;
    w.at.image += w.apart.image + int(image_ends);
    return here;
}
#endif

// Whether pixel b of the block is one of the run.
bool is_walked(walker w, int b) { return w.next + b * LANES < w.end; }

// For each of its blocks.
#define WALK(w, lane, count, first_row) \
    for (walker w = walker_of(lane, count, first_row); w.next < w.end; w.next += BLOCK * LANES)
