#!/bin/sh
# The page of --report in headless Chromium: every picture is drawn, nothing that a name says is run or
# loaded, no content is wider than a telephone but what scrolls by itself, the first number beside a long name is in
# sight, and text stands out from its ground where the screen is light, where it is dark, and on paper.
#
# Runs from the top of a built tree. O may be given. Exits 77 without a device or a browser.

. tests/tool.sh
goes_on=1
cd "$work" || exit 1

for browser in chromium-headless-shell chrome-headless-shell chromium chromium-browser google-chrome none; do
    command -v $browser >/dev/null && break
done
[ $browser != none ] || skip 'there is no Chromium; Debian has it in chromium-headless-shell'
command -v python3 >/dev/null || skip 'there is no python3, which writes the data'
needs_device

data='<img src=x onerror=alert(1)>'
python3 "$top/tests/report/data.py" "$data" || exit 1
"$glcnn" train --data "$data" --channels 1 --size 8 --net small --batch 12 --epochs 2 --report page \
    >said 2>err || fail "training fails: $(tail -n 2 err)"

# browse FILE WIDTH OPTION...: the page as it is once it is drawn.
browse() {
    file=$1 width=$2
    shift 2
    HOME=$work $browser --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
        --enable-logging=stderr --window-size=$width,800 "$@" --dump-dom "file://$work/$file" 2>console
}

# As it is: a browser that refuses to load or to run something says so on its console.
browse page/index.html 360 >drawn
[ "$(grep -c '<svg' drawn)" -ge 5 ] || fail "the browser shows $(wc -c <drawn) bytes: $(tail -n 2 console)"
! grep CONSOLE console || fail 'the browser complains of the page'

# A copy that looks at itself. The parser of a browser may see scripts where others see text.
cat >look.js <<'END_OF_SCRIPT'
function luminance(color) {
    const parts = color.match(/[\d.]+/g).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
function ground(element) {
    for (; element; element = element.parentElement) {
        const color = getComputedStyle(element).backgroundColor;
        if (color !== 'rgba(0, 0, 0, 0)') return color;
    }
    return 'rgb(255, 255, 255)';
}
// Words that stand on two lines, though they would fit into one of a telephone.
function broken_words(all) {
    const broken = [];
    for (const element of all)
        for (const node of element.childNodes)
            for (const word of node.nodeType === 3 ? node.data.matchAll(/[A-Za-z]{2,16}/g) : []) {
                const range = document.createRange();
                range.setStart(node, word.index);
                range.setEnd(node, word.index + word[0].length);
                if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1)
                    broken.push(word[0]);
            }
    return broken;
}
window.onload = () => {
    const pictures = [...document.images], all = [...document.body.querySelectorAll('*')];
    const faint = all.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).filter(e => {
        if (e.closest('svg .light') || e.classList.contains('light')) return false; // on a cell
        const style = getComputedStyle(e), color = e.closest('svg') ? style.fill : style.color;
        const [a, b] = [luminance(color), luminance(ground(e))].sort((p, q) => q - p);
        return (a + 0.05) / (b + 0.05) < 4.5;
    });
    const result = document.createElement('pre');
    result.id = 'result';
    result.textContent = JSON.stringify({
        alerts: alerts, pictures: pictures.length,
        undrawn: pictures.filter(p => !p.complete || p.naturalWidth === 0 || p.clientWidth < 40).length,
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        hidden: [...document.querySelectorAll('.wide tr')].filter(r => r.querySelector('td.n') &&
            r.querySelector('td.n').getBoundingClientRect().right > document.documentElement.clientWidth).length,
        faint: faint.map(e => e.textContent.trim().slice(0, 30)),
        ground: luminance(getComputedStyle(document.body).backgroundColor),
        broken: broken_words(all),
        scripts: document.scripts.length, small: [...document.querySelectorAll('svg')]
            .filter(s => s.getBoundingClientRect().width < 100).length});
    document.body.append(result);
};
END_OF_SCRIPT
sed 's|<meta http-equiv[^>]*>|<script>let alerts = 0; window.alert = () => { alerts++; };</script>|
    s|</head>|<script src="look.js"></script></head>|' page/index.html >copy.html
"$glcnn" look --report seen "$data" >said 2>err || fail "a look fails: $(tail -n 2 err)"
sed 's|<meta http-equiv[^>]*>|<script>let alerts = 0; window.alert = () => { alerts++; };</script>|
    s|</head>|<script src="look.js"></script></head>|' seen/index.html >seen.html
browse seen/index.html 360 >drawn
! grep CONSOLE console || fail 'the browser complains of the page on the data'

# looked PAGE WHAT DARK WIDTH OPTION...: the copy has nothing to complain of.
looked() {
    page=$1 what="$1 $2" dark=$3 width=$4
    shift 4
    browse $page.html $width "$@" >drawn
    sed -n 's/.*<pre id="result">\(.*\)<\/pre>.*/\1/p' drawn >result
    DARK=$dark python3 - <<'END_OF_PYTHON' || fail "$what: $(cat result) $(tail -n 2 console)"
import html, json, os
r = json.loads(html.unescape(open("result").read()))
raise SystemExit(not (r["alerts"] == 0 and r["pictures"] >= 10 and r["undrawn"] == r["wide"] == r["small"] == r["hidden"] == 0 and
                      r["faint"] == r["broken"] == [] and r["scripts"] == 2 and (r["ground"] < 0.1) == (os.environ["DARK"] == "1")))
END_OF_PYTHON
}
for page in copy seen; do
    looked $page 'on a desk' 0 1200
    looked $page 'on a telephone' 0 400
    looked $page 'on a small telephone' 0 360
    looked $page 'in the dark' 1 1200 --blink-settings=preferredColorScheme=0
done

# On paper: pages, and not a single long one.
HOME=$work $browser --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
    --print-to-pdf="$work/page.pdf" "file://$work/page/index.html" >/dev/null 2>&1
[ "$(grep -ac '/Type */Page\>' page.pdf)" -ge 2 ] || fail 'it is not printed'

# What the look is there for.
sed 's/<td>&#60;script&#62;/<td><script>/; s/&#60;\/script&#62;<\/td>/<\/script><\/td>/' copy.html >run.html
browse run.html 360 >drawn
grep -o '<pre id="result">.*' drawn | grep -q 'alerts":0' && fail 'a name that is run is not noticed'

[ $failed = 0 ] && echo "the page is drawn by $browser"
