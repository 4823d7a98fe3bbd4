# Judges and tabulates what observe.c wrote.
#
#   awk -f records.awk -v gpu=G52 -v run=small -v renderer=Mali-G52 -v status=0 [-v permitted=FILE]
#       [-v list=1] RECORD
#
# prints one row, then what is wrong with it, and ends with status 1 if anything is. status is that
# of the program that was observed. permitted has lines "GPU,GPU shader most reason", "*" for every
# GPU: the spills that a program may have. list=1 prints every program too, the slowest to compile
# first.
#
#   awk -f records.awk -v gpu=G52 -v table=20 RECORD...
#
# prints the twenty shaders that are dispatched most over all records, each by its largest program
# and with the spills of all.

BEGIN { FS = "\t" }

FNR == 1 { run_of_file++ }

# Programs are counted on from one record to the next.
$1 == "renderer" { said = $2 }
$1 == "link" { p = id($2); programs++; size[p] = $3; open[p] = 1 }
$1 == "linked" { refused[id($2)] = $3 != "good"; at_link = at_link || $5; observe(id($2), $4, $5) }
$1 == "label" { label[id($2)] = $3 }
$1 == "dispatch" { p = id($2); dispatched[p] = 1; open[p] = 1 }
$1 == "dispatched" { observe(id($2), $3, $4) }
$1 == "uses" { uses[id($2)] = $3 }

END {
    if (table) {
        print_table()
        exit 0
    }
    exit judge() ? 1 : 0
}

function id(number) {
    return run_of_file * 1000000 + number
}

# A program that was compiled again for other textures keeps the worse of its statistics.
function observe(p, took, text) {
    delete open[p]
    cpu[p] += took
    if (text && (!(p in statistics) || spills(text) >= spills(statistics[p])))
        statistics[p] = text
}

# Without the words that every line begins with.
function brief(text) {
    sub(/^(MESA_SHADER_COMPUTE shader: |CL shader: |type: 5, )/, "", text)
    return text
}

# The number in front of a word, as in "503 inst, 219 nops" or "2:7 spills:fills", or behind it, as
# in Nouveau's "local: 0, gpr: 15"; nothing where there is none.
function value(text, word,   i, n, parts, words) {
    n = split(brief(text), parts, /, /)
    for (i = 1; i <= n; i++) {
        split(parts[i], words, " ")
        if (words[2] == word)
            return words[1]
        if (words[1] == word ":")
            return words[2]
    }
    return ""
}

# Registers that go to memory and come back; Nouveau tells bytes.
function spills(text,   pair) {
    split(value(text, "spills:fills"), pair, ":")
    return pair[1] + pair[2] + value(text, "stp") + value(text, "ldp") + value(text, "local")
}

# A driver that skips a program's dispatches says nothing of it.
function has_failed(p) {
    return refused[p] || (!(p in statistics) && !(p in open) && (p in dispatched || at_link))
}

function shader(p) {
    return (p in label ? label[p] : "(no name)")
}

function load_permitted(   line, words) {
    while (permitted && (getline line <permitted) > 0) {
        split(line, words, " ")
        if (words[1] == "*" || index("," words[1] ",", "," gpu ","))
            may_spill[words[2]] = words[3]
    }
}

function complain(text) {
    if (++bad <= 8 || list)
        wrong = wrong "    " text "\n"
}

# The program did not end as it should.
function judge_end() {
    if (index(said, renderer) != 1)
        complain("ran on \"" said "\" instead of " renderer)
    if (status == 124 || status == 155)
        complain("did not end in its time")
    else if (status != 0)
        complain("ended with status " status)
    if (!programs)
        complain("compiled no program")
}

function judge(   p, i, clean, spilling, failed, hung, total, found) {
    load_permitted()
    judge_end()
    for (p = 1000001; p <= 1000000 + programs; p++) {
        total += cpu[p]
        if (p in open) {
            hung++
            complain("hung: " shader(p) " " size[p])
        } else if (has_failed(p)) {
            failed++
            complain("failed: " shader(p) " " size[p])
        } else if (!(p in statistics)) {
            continue # not used, so not compiled yet
        } else if (spills(statistics[p])) {
            spilling++
            if (spills(statistics[p]) > may_spill[shader(p)] + 0)
                complain("spills: " shader(p) " " size[p] ": " brief(statistics[p]))
        } else
            clean++
    }
    printf "%-6s %-15s %8d %6d %8d %6d %4d %7.1f %s\n", gpu, run, programs, clean, spilling, failed,
        hung, total / 1000, bad ? "BAD" : "good"
    printf "%s", wrong
    if (bad > 8 && !list)
        printf "    and %d more\n", bad - 8
    if (list)
        list_programs()
    return bad
}

function list_programs(   p, sorted) {
    sorted = "sort -k1,1nr"
    for (p = 1000001; p <= 1000000 + programs; p++)
        printf "    %7.0f ms  %-40s %-8s %4d uses  %s\n", cpu[p], shader(p), size[p], uses[p],
            brief(statistics[p]) | sorted
    close(sorted)
}

# ---- The table of shaders ------------------------------------------------------------------------

function first_of(text, words,   i, n, word, v) {
    n = split(words, word, " ")
    for (i = 1; i <= n; i++)
        if ((v = value(text, word[i])) != "")
            return v
    return "-"
}

# "arith 6.5, texture 0.0, ldst 6.0", the dearest pipe first; a driver without cycles has none.
function cycles(text,   i, j, n, names, v, best, line) {
    n = split("arith texture vary ldst fma cvt sfu v t ls", names, " ")
    for (i = 1; i <= n; i++)
        v[i] = value(text, names[i])
    for (j = 1; j <= n; j++) {
        best = 0
        for (i = 1; i <= n; i++)
            if (v[i] + 0 > 0 && (!best || v[i] + 0 > v[best] + 0))
                best = i
        if (!best)
            break
        line = line (line ? ", " : "") sprintf("%s %.1f", names[best], v[best])
        v[best] = ""
    }
    return line ? line : "-"
}

# ir3 counts half and full registers, the others one kind.
function registers(text,   full) {
    full = value(text, "full")
    if (full == "")
        return first_of(text, "max-temps registers gpr")
    return value(text, "half") + 0 ? full "+" value(text, "half") "h" : full
}

function print_shader(name, text) {
    printf "| %s | %s | %d | %d | %s | %s | %s | %s | %s |\n", gpu, name, count[name], used[name],
        value(text, "inst"), registers(text), first_of(text, "threads waves"), cycles(text),
        spilled[name]
}

function instructions(p) {
    return value(statistics[p], "inst") + 0
}

function print_table(   p, n, shown, name_of, best) {
    for (p in statistics) {
        n = shader(p)
        count[n]++
        used[n] += uses[p]
        spilled[n] += spills(statistics[p])
        if (!(n in largest) || instructions(p) > instructions(largest[n]))
            largest[n] = p
    }
    for (shown = 0; shown < table; shown++) {
        best = ""
        for (n in largest)
            if (best == "" || used[n] > used[best] || (used[n] == used[best] && n < best))
                best = n
        if (best == "")
            return
        print_shader(best, statistics[largest[best]])
        delete largest[best]
    }
}
