#!/bin/sh
# train.sh TOOL prepare FOLDER: puts there what a step needs, this file too.
# FOLDER/train.sh TOOL RUN: a training step of the network of that name, or of the file RUN.glcnn, which
# takes 8x8 pixels of 3 channels and has 5 classes: tokens is a ViT, keras a MobileNetV2, detector a
# YOLOv8 with its boxes, and shaped a UNet. The runs segmenter and boxes are a step of those tasks, float16 one
# of resnet8 that keeps its images as float16.
set -e
here=$(dirname "$0")
if [ "$2" = prepare ]; then
    cp "$0" "$3"
    for name in tokens keras detector shaped; do
        GLCNN_DEVICE=software "$1" import "$here/../golden/learned/$name.onnx" -o "$3/$name.glcnn" >"$3/log" 2>&1 || {
            cat "$3/log"
            exit 1
        }
    done
    awk 'BEGIN {
        for (i = 0; i < 64; i++) {
            printf "%d", i % 5
            for (k = 0; k < 192; k++)
                printf ",%d", (i * 31 + k * k * 7) % 256
            print ""
        }
    }' >"$3/pixels.csv"
    ${CC:-cc} -std=c11 -O1 -o "$3/pictures" "$here/pictures.c" \
        $(${PKG_CONFIG:-pkg-config} --cflags --libs libpng)
    mkdir -p "$3/segmenter/images" "$3/segmenter/masks" "$3/boxes/images" "$3/boxes/labels"
    "$3/pictures" "$3"
    exit
fi
if [ -e "$here/$2.glcnn" ]; then
    exec "$1" train --model "$here/$2.glcnn" --data "$here/pixels.csv" --batch 32 --epochs 1
fi
# What the tool takes of itself for these data: masks are for segment, boxes for detect.
case $2 in
segmenter) exec "$1" train --data "$here/$2" --batch 8 --epochs 1 --augment flip,rotate=10,noise=0.1 ;;
boxes) exec "$1" train --data "$here/$2" --net mobilenet-tiny --batch 8 --epochs 1 --augment flip ;;
esac
precision=float32 net=$2
[ "$2" != float16 ] || precision=float16 net=resnet8
exec "$1" train --net "$net" --precision $precision --limit 64 --batch 64 --epochs 1
