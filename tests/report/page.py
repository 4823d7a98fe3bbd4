"""Reads a page of --report as XML and as a browser does, and sees that it needs nothing else."""
import html.parser
import xml.etree.ElementTree as ET

VOID = {"meta", "img", "br", "path", "rect", "circle"}


class Reader(html.parser.HTMLParser):
    """Which elements there are, and that each is closed where it should be."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_startendtag(self, tag, attributes):
        self.note(tag, attributes)

    def handle_starttag(self, tag, attributes):
        self.note(tag, attributes)
        assert tag not in VOID, tag + " is not closed"
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "</%s> closes another element" % tag

    def note(self, tag, attributes):
        assert tag not in ("script", "link", "iframe", "object", "embed", "base", "form"), tag
        for name, value in attributes:
            assert not name.startswith("on"), name
            assert name not in ("href", "xlink:href", "srcset", "action"), name
            assert name != "src" or value.startswith("data:image/png;base64,"), value[:40]


def text(element):
    return "".join(element.itertext())


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            page = file.read()
        reader = Reader()
        reader.feed(page)
        reader.close()
        assert not reader.open, reader.open
        shown = "".join(part.split('"')[-1] for part in page.split("base64,"))
        for word in ("http:", "https:", "//", "url(", "@import", "javascript:"):
            assert word not in shown, word
        assert "default-src 'none'" in page
        self.root = ET.fromstring(page.replace("<!DOCTYPE html>", ""))
        for picture in self.root.iter("svg"):
            assert picture.get("role") == "img" and len(picture.get("aria-label")) > 20
            assert len(list(picture.iter())) > 3
        for picture in self.root.iter("img"):
            assert picture.get("alt")

    def section(self, title):
        """What lies between a heading and the next."""
        wrap, inside = ET.Element("section"), False
        for element in self.root.find("body"):
            if element.tag == "h2":
                inside = text(element) == title
            elif inside:
                wrap.append(element)
        return wrap

    def tiles(self):
        return {text(t.find("span")): text(t.find("b")) for t in self.root.iter("div") if t.get("class") == "tile"}
