// How a lane of a group walks the pixels of its run, LANES apart: row after row of image after image.
// Each place follows from the one before by sums, so that no pixel takes a division.
struct place {
    int x, y, image;
};

struct walker {
    place at, apart;
    int last_image; // of the run
};

// Of a pixel that is counted from the first of row `first_row`; rows are counted through the images.
place place_of(int pixel, int first_row) {
    int line = pixel / row_pixels;
    int row = first_row + line;
    int image = row / image_rows;
    return place(pixel - line * row_pixels, row - image * image_rows, image);
}

// Through `count` pixels.
walker walker_of(int lane, int count, int first_row) {
    return walker(place_of(lane, first_row), place_of(LANES, 0),
                  place_of(count - 1, first_row).image);
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
