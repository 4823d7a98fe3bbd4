"""usage: check_parts.py PAGE [SCORES.JSON]: a page of numbers or of pixels is well-formed, and says what evaluate
says of the same pictures."""
import json
import sys

from page import Page, text

page = Page(sys.argv[1])
assert "settings" in [h.get("id") for h in page.root.iter("h2")]
if len(sys.argv) == 2:
    sys.exit()
scores = json.load(open(sys.argv[2], encoding="utf-8"))
measure = next(key for key in ("R2", "mIoU") if key in scores)
tiles = page.tiles()
assert tiles[measure if measure in tiles else "validation " + measure] == "%.4f" % scores[measure], tiles


def table(title):
    return [[text(cell) for cell in row] for row in page.section(title).iter("tr")]


if measure == "R2":
    rows = table("Each of the numbers")
    assert rows[0] == ["name", "R2", "mean absolute error", "root mean squared error"], rows[0]
    assert rows[1:] == [[n["name"]] + ["%.5g" % n[key] for key in ("R2", "mean_absolute_error", "root_mean_squared_error")]
                        for n in scores["numbers"]], rows
else:
    rows = {row[0]: row[1:] for row in table("Each class")}
    for c in scores["classes"]:
        precision = c["pixels"] * c["accuracy"]  # what is right
        assert rows[c["name"]][0] == "%d" % c["pixels"], rows
        assert rows[c["name"]][2:] == ["%.4f" % c["accuracy"], "%.4f" % c["iou"]], (rows, c)
        taken = precision / c["iou"] - c["pixels"] + precision
        assert abs(float(rows[c["name"]][1]) - precision / taken) < 1e-4, (rows, c)
    assert not page.section("Precision and recall").findall(".//svg")

figures = page.section("The most wrong pictures").findall(".//figure")
losses = [float(text(f.find("figcaption/small")).split()[1].split("image")[0]) for f in figures]
assert len(figures) >= 8 and losses == sorted(losses, reverse=True), losses
for figure in figures:
    assert text(figure.find("figcaption/small")).split("images/")[1].endswith(".png")
    said = [text(b) for b in figure.findall("figcaption/b")]
    if measure == "R2":
        name = next(n["name"] for n in scores["numbers"] if said[0].startswith("said %s " % n["name"]))
        assert len(said) == 2 and said[1].startswith("is %s " % name), said
    else:
        assert len(said) == 1 and said[0].endswith(" % of its pixels are right"), said
