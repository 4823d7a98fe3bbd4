# Prints each declaration of C headers in a line "HEADER<tab>COMMENT<tab>TEXT": the comment above it, or that of the
# declarations before it where nothing stands between them, with \n and \\ for its line ends and backslashes, and
# the declaration on one line. The build makes constructors of these lines, and generate.py the package for Python.
#
# usage: awk -f declarations.awk HEADER...

FNR == 1 { end_header() }
/^#ifdef __cplusplus/ { skipped = 1 }
skipped || continued || /^#/ && !/^#define GLCNN_[A-Z_]+ +[0-9]/ {
    continued = /^#/ || continued ? /\\$/ : 0
    if (/^#endif/)
        skipped = 0
    next
}
/^#/ { $0 = $0 ";" }
{ text = text $0 "\n" }
END { end_header() }

function end_header() {
    while (match(text, /\/\*|[{};]/)) {
        mark = substr(text, RSTART, RLENGTH)
        declared = declared substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (mark == "/*") {
            end = index(text, "*/")
            if (declared !~ /[^ \t\n]/)
                comment = substr(text, 1, end - 1)
            text = substr(text, end + 2)
            declared = declared " "
            continue
        }
        depth += mark == "{" ? 1 : mark == "}" ? -1 : 0
        if (mark == ";" && depth == 0) {
            print_declaration()
            declared = ""
        } else
            declared = declared mark
    }
    if (declared text ~ /[^ \t\n]/) {
        print header ": this declaration does not end: " declared text >"/dev/stderr"
        exit 1
    }
    header = FILENAME
    text = declared = comment = ""
}

function print_declaration() {
    gsub(/[ \t\n]+/, " ", declared)
    sub(/^ /, "", declared)
    sub(/ $/, "", declared)
    words = comment
    gsub(/\\/, "&&", words)
    gsub(/\n/, "\\n", words)
    print header "\t" words "\t" declared
}
