# Data sets of noise, as IDX files, for scripts that have a folder $work.

# noise COUNT: as many bytes, the same each time.
noise() {
    LC_ALL=C awk -v count="$1" 'BEGIN {
        for (x = 1; count-- > 0;) {
            x = (x * 16807) % 2147483647
            printf "%c", int(x / 1024) % 255 + 1
        } }'
}

# labels COUNT: 0 .. 7 in turn.
labels() {
    i=0
    while [ $i -lt "$1" ]; do
        printf "\\$((i % 8))"
        i=$((i + 1))
    done
}

# files PREFIX COUNT(two octal bytes) COUNT: so many images of 28x28 and their labels.
files() {
    { printf "\\0\\0\\10\\3\\0\\0$2\\0\\0\\0\\34\\0\\0\\0\\34"; noise $(($3 * 784)); } |
        gzip >"$work/$1-images-idx3-ubyte.gz"
    { printf "\\0\\0\\10\\1\\0\\0$2"; labels "$3"; } | gzip >"$work/$1-labels-idx1-ubyte.gz"
}
