"""What a step of training takes on boards, reckoned from what their compilers say.

    model.py WORK [REPORT...]
    model.py --measured REPORT...

WORK has what check_boards_arm.sh left there: GPU.inner, the record of a GPU's inner loops
(inner_loops.py), and FAMILY.steps, the passes of a step (steps.c). Prints two tables, as Markdown:

  - of each GPU what 192 multiply-adds of the innermost loops take, of the pipe that takes longest, and
    how many pixels and weights they read;
  - of each board and network the milliseconds of a step, what most of them go to, and beside it the
    milliseconds of the board's processors at half of NEON's peak; a dash where a loop of the step is in no
    network that was compiled.

A REPORT is what "glcnn bench --board" prints on a board: what it measured stands beside what is reckoned
for the board, or where none is reckoned in a row of its own. --measured prints such rows alone.

A pass takes the longer of its products by the cost of its inner loop, at the clock, in all cores, and of
its bytes by what memory gives; with the time of its dispatches added. Caches are perfect, cores always
have work, and nothing else runs. So a step takes longer, and boards differ less than it says.
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = {"sums": "forward, data", "sums_1x1": "the same, 1x1",
           "sums_by_channel": "the same, by channel", "weights": "weights",
           "weights_1x1": "weights, 1x1", "weights_by_channel": "weights, by channel"}
WINOGRADS = "winograd_products", "winograd_gradient_products" # sums; the others transform
PASSES = WINOGRADS + ("winograd_inputs", "winograd_results", "winograd_weights", "winograd_gradients")
FEWER = 9 / 4 # products of a sum that Winograd's filtering, F(2x2, 3x3), makes by one
NORMAL = 192 # four pixels, three taps, four inputs, four outputs
PEAK = 0.5 # of NEON, in a good program


def statistics(text):
    """{"inst": 278.0, ...}; Nouveau puts the number behind the word."""
    text = re.sub(r"^.*?(shader: |type: \d+, )", "", text)
    pairs = re.findall(r"([\d.]+) ([a-z][\w-]*)", text)
    return {**{word: float(number) for number, word in pairs},
            **{word: float(number) for word, number in re.findall(r"(\w+): ([\d.]+)", text)}}


def spills(text):
    found = re.search(r"(\d+):(\d+) spills", text)
    return bool(found) and found.groups() != ("0", "0")


def cost(one, two):
    """What the second has more, of the unit that the driver counts in. Where it spills and the first
    does not, loads and stores are those of the spills."""
    a, b = statistics(one), statistics(two)
    pipes = ["arith", "texture", "fma", "cvt", "sfu", "t"] + \
        ([] if spills(two) else ["ldst", "ls"])
    by_pipe = {pipe: b[pipe] - a[pipe] for pipe in pipes if pipe in a}
    if by_pipe:
        pipe = max(by_pipe, key=by_pipe.get)
        return by_pipe[pipe], pipe
    for word in "bundles", "non-nops", "instrs", "inst":
        if word in a:
            return b[word] - a[word], ""
    raise SystemExit("model.py: no statistics in \"%s\"" % one)


def inner_loops(path):
    """By kind: cost of NORMAL multiply-adds, the pipe, reads for as many."""
    said, labels = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if fields[0] in ("linked", "dispatched") and fields[-1]:
                said[fields[1]] = fields[-1]
            elif fields[0] == "label":
                labels[fields[1]] = fields[2]
    pairs = {}
    for number, name in labels.items():
        kind, products, reads, which = name.split(".")[0].split("-")
        pairs.setdefault((kind, int(products), int(reads)), {})[which] = said.get(number)
    found = {}
    for (kind, products, reads), pair in pairs.items():
        if pair.get("1") and pair.get("2"):
            taken, pipe = cost(pair["1"], pair["2"])
            found[kind] = taken * NORMAL / products, pipe, reads * NORMAL / products
    if "winograd_column" in found: # the loop that adds four of them was counted with one
        taken, pipe, reads = found["winograd_results"]
        found["winograd_results"] = taken + 3 * found["winograd_column"][0], pipe, reads
    return found


def boards():
    with open(os.path.join(HERE, "boards.txt"), encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                name, gpu, cores, clock, memory, dispatch, processors = \
                    [field.strip() for field in line.split("|")][:7]
                yield {"name": name, "gpu": gpu, "clock": float(cores) * float(clock) * 1e6,
                       "memory": float(memory) * 1e9, "dispatch": float(dispatch) * 1e-6,
                       "processors": sum(of_cluster(text) for text in processors.split("+"))}


def of_cluster(text):
    cores, products, clock = (float(number) for number in text.split("x"))
    return cores * products * clock * 1e6 * PEAK


def steps(path):
    """By network, in the order of the file: (kernel, shader, dispatches, products, bytes)."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            net, kernel, shader, dispatches, operations, size = line.rstrip("\n").split("\t")
            found.setdefault(net, []).append((kernel, shader, int(dispatches),
                                              float(operations) / 2, float(size)))
    return found


def name_of(shader):
    return os.path.basename(shader).partition(".")[0]


def cost_of_pass(loops, shader):
    """Takes the loops of 3x3, which stand for all but Winograd's; a compiler with few registers has one tap
    at a time. None where no network that was compiled has such a loop."""
    name = name_of(shader)
    of_weights = "gradient_weights" in shader
    kinds = (name,) if name in PASSES else ("weights", "weights_1x1") if of_weights else ("sums",)
    return next((loops[kind][0] for kind in kinds if kind in loops), None)


def products_of_processors(kernel, shader, products):
    """Counts the products of the sums themselves, however the GPU makes them."""
    if "winograd" in shader:
        return products * FEWER if name_of(shader) in WINOGRADS else 0
    return products if "convolution" in kernel or "fully_connected" in kernel else 0


def reckon(board, loops, passes):
    """Milliseconds by what they go to, and those of the processors; None without all loops."""
    spent, processors = {"products": 0.0, "memory": 0.0, "dispatches": 0.0}, 0.0
    for kernel, shader, dispatches, products, size in passes:
        cost_of_loop = cost_of_pass(loops, shader)
        if cost_of_loop is None:
            return None
        work, memory = products * cost_of_loop / NORMAL / board["clock"], size / board["memory"]
        spent["products" if work > memory else "memory"] += 1e3 * max(work, memory)
        spent["dispatches"] += 1e3 * dispatches * board["dispatch"]
        counted = products_of_processors(kernel, shader, products)
        processors += 1e3 * max(counted / board["processors"], memory)
    return spent, processors


def print_loops(loops):
    print("| GPU |" + "".join(" %s |" % title for title in COLUMNS.values()))
    print("| --- |" + " --- |" * len(COLUMNS))
    for gpu, found in loops.items():
        cells = ["%.1f %s; %.0f" % (found[kind][0], found[kind][1] or unit_of(gpu), found[kind][2])
                 if kind in found else "–" for kind in COLUMNS]
        print("| %s | %s |" % (gpu, " | ".join(cells)))


def unit_of(gpu):
    return "bundles" if gpu.startswith("T") else "instructions"


def number(milliseconds):
    return "%.0f" % milliseconds if milliseconds >= 20 else "%.1f" % milliseconds


def report_of(path):
    """Reads what a board measured: its name, its driver, and the milliseconds of a step by network."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    steps_of = {}
    for row in report["rows"]:
        found = re.fullmatch(r"step of (.*), batch 64", row["name"])
        if found and row["milliseconds"] is not None:
            steps_of[found.group(1)] = row["milliseconds"]
    return {"board": report["board"] or "unknown board", "renderer": report["device"]["renderer"],
            "steps": steps_of}


def is_of(report, board):
    """A board calls itself by more than its name, as "Raspberry Pi 5 Model B Rev 1.0"."""
    return board["name"].partition(" (")[0].lower() in report["board"].lower()


def measured(reports, net):
    return "".join(", measured %s" % number(report["steps"][net]) for report in reports
                   if net in report["steps"])


def print_head(nets):
    print("\n| board, GPU |" + "".join(" %s |" % net for net in nets))
    print("| --- |" + " --- |" * len(nets))


def print_measured(reports, nets):
    """A row of what no board's row has."""
    for report in reports:
        cells = [measured([report], net).lstrip(", ") or "–" for net in nets]
        print("| %s, %s | %s |" % (report["board"], report["renderer"], " | ".join(cells)))


def cell(reckoned):
    if reckoned is None:
        return "–"
    spent, processors = reckoned
    return "%s (%s), CPU %s" % (number(sum(spent.values())), max(spent, key=spent.get),
                                number(processors))


def print_steps(loops, families, work, reports):
    rows = [board for board in boards() if board["gpu"] in loops]
    nets = None
    for board in rows:
        passes = steps(os.path.join(work, families[board["gpu"]] + ".steps"))
        if nets is None:
            nets = list(passes)
            print_head(nets)
        own = [report for report in reports if is_of(report, board)]
        cells = [cell(reckon(board, loops[board["gpu"]], passes[net])) + measured(own, net)
                 for net in nets]
        print("| %s, %s | %s |" % (board["name"], board["gpu"], " | ".join(cells)))
    print_measured([report for report in reports
                    if not any(is_of(report, board) for board in rows)], nets or [])


def main():
    work, reports = sys.argv[1], [report_of(path) for path in sys.argv[2:]]
    if work == "--measured":
        nets = list(dict.fromkeys(net for report in reports for net in report["steps"]))
        print_head(nets)
        print_measured(reports, nets)
        return
    with open(os.path.join(work, "families"), encoding="utf-8") as lines:
        families = dict(line.split() for line in lines)
    loops = {gpu: inner_loops(os.path.join(work, gpu + ".inner")) for gpu in families}
    print_loops(loops)
    print_steps(loops, families, work, reports)


main()
