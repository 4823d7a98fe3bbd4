#!/bin/sh
# train.sh TOOL prepare FOLDER: puts there what a step needs, this file too.
# FOLDER/train.sh TOOL RUN: a training step of the network of that name, or of the file RUN.glcnn, which
# takes 8x8 pixels of 3 channels and has 5 classes: tokens is a ViT, keras a MobileNetV2, detector a
# YOLOv8 with its boxes, and shaped a UNet. The runs segmenter and boxes are a step of those tasks, float16 is
# resnet8 that keeps its images as float16, and NAME16 does so with any of these.
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
case $2 in
float16) net=resnet8 precision=float16 ;;
*16) net=${2%16} precision=float16 ;;
*) net=$2 precision=float32 ;;
esac
tool=$1
train() { exec "$tool" train "$@" --precision $precision --epochs 1; }
[ ! -e "$here/$net.glcnn" ] || train --model "$here/$net.glcnn" --data "$here/pixels.csv" --batch 32
# What the tool takes of itself for these data: masks are for segment, boxes for detect.
case $net in
segmenter) train --data "$here/$net" --batch 8 --augment flip,rotate=10,noise=0.1 ;;
boxes) train --data "$here/$net" --net mobilenet-tiny --batch 8 --augment flip ;;
*) train --net "$net" --limit 64 --batch 64 ;;
esac
