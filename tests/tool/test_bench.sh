#!/bin/sh
# glcnn bench from outside: every kernel has a row, a report and a trace have their form, a report
# tells a slower and a faster row of another, and a result that is not finite fails its row. No time
# is judged.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. GLCNN_TEST_FULL=1 runs all
# rows. Exits 77 without a device.

. tests/tool.sh
goes_on=1
cd "$work" || exit 1

# gives STATUS ARGUMENT...: runs glcnn bench into files out and err and checks its exit status.
gives() {
    wanted=$1
    shift
    "$glcnn" bench "$@" >out 2>err
    status=$?
    [ $status = "$wanted" ] || fail "bench $*: exit status $status, not $wanted: $(tail -n 3 err)"
}

# says FILE PHRASE: the file out or err has the phrase.
says() {
    grep -qF -- "$2" "$1" || fail "\"$2\" is not in: $(head -n 12 "$1")"
}

"$glcnn" info >out 2>err
[ $? != 77 ] || {
    tail -n 1 err
    exit 77
}

# ---- The rows ------------------------------------------------------------------------------------

gives 0 --list
sed 's/.* [0-9]*x[0-9x]*  //' out | tr ' ' '\n' | sort -u >measured
"$glcnn" kernels --short | sed 's/ .*//' | sort -u >kernels
[ "$(wc -l <kernels)" -gt 70 ] || fail 'the kernels are not listed'
while read -r kernel; do
    grep -qx "$kernel" measured || fail "no row has the kernel $kernel"
done <kernels
for phrase in 'convolution 64-64 3x3 56, weights' 'fully connected 4096-4096, data' \
    'step of mobilenet-tiny, batch 4096' 'step of lenet, batch 64' '16x64x112x112'; do
    says out "$phrase"
done
gives 0 --list -k pooling_max --shape 3x3
[ "$(cat out)" = "$(grep '^max pooling 3x3.*forward' out)" ] || fail 'rows are not chosen by -k'
gives 2 --list -k pooling_may
says err 'there is no kernel "pooling_may"'
gives 2 --shape 'no such row'
says err 'lists the rows'
gives 2 surplus
says err 'unexpected argument "surplus"'

# ---- A report and its trace ----------------------------------------------------------------------

cat >form.c <<'END_OF_C'
/* form REPORT TRACE CLOCK: both have their form, and the trace an event for each pass. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 24];
static cJSON *parse(const char *path)
{
    FILE *file = fopen(path, "r");
    const char *end;
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = 0;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    if (!json)
        printf("%s is no JSON\n", path), exit(1);
    return json;
}
static const cJSON *get(const cJSON *of, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(of, name);
    if (!item)
        printf("there is no %s in %.300s\n", name, cJSON_PrintUnformatted(of)), exit(1);
    return item;
}
static double number(const cJSON *of, const char *name)
{
    if (!cJSON_IsNumber(get(of, name)))
        printf("%s is no number in %.300s\n", name, cJSON_PrintUnformatted(of)), exit(1);
    return get(of, name)->valuedouble;
}
#define WANT(x) if (!(x)) printf("not so: %s\n", #x), exit(1)
int main(int argc, char *argv[])
{
    cJSON *report = parse(argv[1]), *trace = parse(argv[2]);
    const cJSON *row, *event;
    double passes = 0, events = 0, at = 0;
    WANT(argc == 4 && cJSON_IsString(get(report, "version")));
    WANT(cJSON_IsString(get(get(report, "device"), "renderer")));
    WANT(number(report, "copy_bytes_per_second") > 0 && number(report, "failed") == 0);
    cJSON_ArrayForEach(row, get(report, "rows")) {
        WANT(cJSON_IsString(get(row, "name")) && cJSON_IsArray(get(row, "kernels")));
        WANT(cJSON_GetArraySize(get(row, "shape")) == 4 && cJSON_IsNull(get(row, "error")));
        WANT(number(row, "milliseconds") > 0 && number(row, "spread") >= 0);
        WANT(number(row, "passes") >= 1 && number(row, "dispatches") >= number(row, "passes"));
        int is_step = strncmp(get(row, "name")->valuestring, "step", 4) == 0;
        WANT(cJSON_IsFalse(get(row, "left_out")));
        WANT(!is_step || number(row, "commit_cpu_microseconds") > 0);
        WANT(is_step || (number(row, "bytes") > 0 && number(row, "times_floor") > 0));
        WANT(is_step || number(row, "gigabytes_per_second") > 0);
        /* The floor is the bytes at the report's rate, whichever row showed it. */
        double floor = is_step ? 1 : 1e3 * number(row, "bytes") / number(report, "copy_bytes_per_second");
        double times = is_step ? 1 : number(row, "times_floor") * floor / number(row, "milliseconds");
        WANT(times > 0.999 && times < 1.001);
        const char *name = get(row, "name")->valuestring;
        int has_weights = strstr(name, "convolution") || strncmp(name, "fully", 5) == 0;
        WANT(!has_weights || (number(row, "operations") > 0 && number(row, "gigaflops") > 0));
        WANT(has_weights || cJSON_IsNull(get(row, "operations")));
        passes += number(row, "passes");
    }
    cJSON_ArrayForEach(event, get(trace, "traceEvents")) {
        WANT(strcmp(get(event, "ph")->valuestring, "X") == 0 && get(event, "name")->valuestring[0]);
        WANT(number(event, "ts") >= at - 0.002 && number(event, "dur") >= 0);
        WANT(number(get(event, "args"), "dispatches") >= 1);
        WANT(number(get(event, "args"), "operations") > 0 && number(get(event, "args"), "bytes") > 0);
        at = number(event, "ts");
        events++;
    }
    WANT(events == passes && events > 0);
    WANT(strstr(get(get(trace, "otherData"), "clock")->valuestring, argv[3]));
    return 0;
}
END_OF_C
$cc -o form form.c $($pkg_config --cflags --libs libcjson) || fail 'the reader of JSON does not build'

# reports ARGUMENT...: the rows run, and report and trace have their form and name one clock.
reports() {
    gives 0 --quick --json --force --trace trace.json "$@"
    clock='timestamps of the GPU'
    grep -qF "$clock" err || clock='wall time between two waits'
    says err "times in trace.json are $clock"
    ./form out trace.json "$clock" || fail "the form of bench $*"
}
if [ -n "$GLCNN_TEST_FULL" ]; then
    reports
else
    for text in 'batch norm, ' 'max pooling 2x2' 'convolution 256-64' 'cross entropy' 'Adam' 'multiply' \
        'soft-max, gradient' 'step of lenet' 'weighted channel sum' 'running' 'gather' 'of each image' \
        'of boxes'; do
        reports --shape "$text"
    done
fi
# A board's report has its steps at batch 64 alone, and the table of boards reads it.
gives 0 --board --list
[ "$(grep -cv '^step of .*, batch 64$' out)" = 0 ] || fail 'other rows than steps are of a board'
gives 0 --board --shape 'step of lenet'
python3 "$top/tests/boards/model.py" --measured out >table 2>&1 || fail "no table: $(tail -n 1 table)"
grep -q '^| board, GPU | lenet |$' table && grep -q '^| .*, .* | measured [0-9.]* |$' table ||
    fail "what was measured is not in the table: $(cat table)"
reports --float16 --shape 'max pooling 2x2'
export MESA_EXTENSION_OVERRIDE=-GL_EXT_disjoint_timer_query
reports --device software --shape 'batch norm, '
[ "$clock" != 'timestamps of the GPU' ] || fail 'a driver without timestamps has them'
unset MESA_EXTENSION_OVERRIDE
gives 1 --quick -k slice_gradient --trace no/such/folder.json
says err 'no/such/folder.json: cannot be created: No such file or directory'
gives 0 --quick -k slice_gradient
says out 'slice, gradient'
says out 'x floor'

# ---- Comparing -----------------------------------------------------------------------------------

# report FILE MILLISECONDS...: a made-up report of rows a, b, c ...; "-" has no time.
report() {
    file=$1 name=a
    shift
    {
        printf '{"device": {"renderer": "R"}, "format": "float32", "rows": ['
        for ms; do
            [ $name = a ] || printf ,
            [ "$ms" != - ] || ms=null
            printf '{"name": "%s", "shape": [1, 2, 3, 4], "milliseconds": %s, "spread": 0.1}' $name $ms
            name=$(echo $name | tr a-y b-z)
        done
        printf ']}'
    } >"$file"
}
# verdict NAME WORD
verdict() {
    grep -q "^$1 .* $2\$" out || fail "row $1 is not $2: $(cat out)"
}
report old.json 1 1 1 1 2 -
report new.json 1.2 0.8 1.09 0.95 - 2
gives 1 --compare old.json new.json
verdict a slower
verdict b faster
verdict c same
verdict d same
says out '4 rows: 1 slower, 1 faster'
gives 0 --compare old.json old.json
says out '5 rows: 0 slower, 0 faster; geometric mean of the ratios 1.000'
sed 's/1, 2, 3, 4/2, 2, 3, 4/g; s/"R"/"Q"/' new.json >other.json
gives 1 --compare old.json other.json
says err 'no row with the same name and shape'
says out 'The devices differ: R before, Q now.'
gives 1 --compare nowhere.json new.json
says err 'nowhere.json: cannot be opened'
echo '{"rows": 3}' >bad.json
gives 1 --compare old.json bad.json
says err 'bad.json is not a report'
row='-k local_contrast_normalization_gradient --shape contrast'
"$glcnn" bench --quick --json $row >kept.json 2>err
sed 's/"milliseconds":.*,/"milliseconds": 1e9,/' kept.json >slow.json
gives 0 --quick $row --compare slow.json
verdict 'local contrast 5x5, gradient' faster
sed 's/"milliseconds":.*,/"milliseconds": 1e-9,/' kept.json >fast.json
gives 1 --quick $row --compare fast.json
verdict 'local contrast 5x5, gradient' slower
gives 2 --compare old.json --json
says err 'prints text'

# ---- PyTorch -------------------------------------------------------------------------------------

# The networks and the batches of torch_twin.py are ours.
# The loader's pictures a second beside those of a step on pictures of the same form.
mkdir -p pictures/light pictures/dark
cat >paint.c <<'END_OF_C'
#include <png.h>
#include <stdio.h>
int main(void)
{
    for (int n = 0; n < 64; n++) {
        unsigned char pixels[24 * 20 * 3];
        char path[64];
        png_image image = {.version = PNG_IMAGE_VERSION, .width = 24, .height = 20, .format = PNG_FORMAT_RGB};
        for (unsigned i = 0; i < sizeof pixels; i++)
            pixels[i] = (unsigned char)(n % 2 * 128 + i * (unsigned)n % 97);
        snprintf(path, sizeof path, "pictures/%s/%02d.png", n % 2 ? "light" : "dark", n);
        if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL))
            return 1;
    }
    return 0;
}
END_OF_C
$cc -o paint paint.c $($pkg_config --cflags --libs libpng) && ./paint || fail 'there are no pictures'
gives 0 --quick --data pictures --shape 'loader, batch 64'
grep -q '^loader, batch 64  *64x3x20x24$' out || fail 'the loader has no row'
awk '/^loader/ { getline; exit !($9 > 0 && $8 == "-") }' out || fail 'the loader has no pictures a second'
gives 0 --quick --data pictures --shape 'step of small, batch 64' --json
grep -q '"images_per_second":	[0-9]' out || fail 'a step has no pictures a second'
tr -d '\n\t ' <out | grep -q '"shape":\[64,3,20,24\]' || fail 'the step is not of the form of the pictures'
rm pictures/*/6*
gives 0 --quick --data pictures --shape 'loader, batch 64'
grep -q 'left out: there are 60 pictures to train with' out || fail 'too few pictures are not left out'
gives 1 --data nowhere --shape loader
grep -q 'nowhere' err || fail 'pictures that are not there are not named'

"$glcnn" bench --list | sed -n 's/^step of //p' >names
for net in $(sed -n "s/^    '\([^']*\)': lambda.*/\1/p" "$top/tests/bench/torch_twin.py"); do
    for batch in $(sed -n 's/.*steps(report, layout, (\([^)]*\)).*/\1/p' "$top/tests/bench/torch_twin.py"); do
        echo "$net, batch ${batch%,}"
    done
done >twins
[ "$(sort names)" = "$(sort twins)" ] || fail "torch_twin.py has other steps: $(diff names twins)"

# ---- Wrong results -------------------------------------------------------------------------------

$cc -shared -fPIC -o shader.so "$top/tests/preload/shader.c" -ldl || fail 'the preload does not build'

# wrong OF FROM TO PHRASE ARGUMENT...: with that change of its shader a row fails, and says so.
wrong() {
    export SHADER_OF="$1" SHADER_FROM="$2" SHADER_TO="$3" SHADER_NOTE="$work/changed"
    phrase=$4
    shift 4
    rm -f changed
    LD_PRELOAD=$work/shader.so "$glcnn" bench --quick "$@" >out 2>err
    status=$?
    [ -f changed ] || fail "no shader has \"$SHADER_OF\" and \"$SHADER_FROM\""
    [ $status = 1 ] || fail "a wrong shader ends with status $status: $(cat out)"
    says out FAILED
    says out "$phrase"
    says err '1 rows failed'
}
store='store_destination(at.x, at.y, slice, image, value);'
for bits in 7f800000 7fc00000; do # infinity, NaN
    wrong 'floor(U / factor)' "$store" "if (at == ivec2(0)) value = vec4(uintBitsToFloat(0x${bits}u)); $store" \
        'destination_image: element 0 is not finite' --shape 'nearest upsampling 2x, forward'
done

[ $failed = 0 ] && echo 'glcnn bench is as it says'
exit $failed
