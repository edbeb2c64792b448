"""Draws pages for `bun test/bench/recognition.ts`: reads their descriptions as JSON lines, writes PNG files.

Answers each line with the text of the page in reading order.
"""

import json
import math
import random
import sys

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont


def wrapped(text, font, width):
    """Returns lines of words; in languages without spaces between words, lines of characters."""
    spaced = any(len(word) < 12 for word in text.split())
    lines, line = [], ""
    for word in text.split() if spaced else text.replace(" ", ""):
        longer = f"{line} {word}".strip() if spaced else line + word
        if line and font.getlength(longer) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line]


def draw_text(job, image):
    """Draws paragraphs in columns, as far as there is space."""
    draw, size = ImageDraw.Draw(image), job["size"]
    font = ImageFont.truetype(job["font"], size, index=job.get("face", 0))
    columns, margin, pitch = job.get("columns", 1), 60, round(size * 1.45)
    width = (image.width - 2 * margin - 40 * (columns - 1)) // columns
    lines = [line for paragraph in job["paragraphs"] for line in [*wrapped(paragraph, font, width), None]]
    room = (image.height - 2 * margin) // pitch
    # Makes the columns about equally high.
    each = min(room, math.ceil(len(lines) / columns)) if columns > 1 else room
    drawn = []
    for column in range(columns):
        for row in range(each):
            at = column * each + row
            if at >= len(lines) or lines[at] is None:
                continue
            x, y = margin + column * (width + 40), margin + row * pitch
            draw.text((x, y), lines[at], fill=job.get("ink", 0), font=font)
            drawn.append(lines[at])
    band = job.get("band")
    if band:
        box = (0, image.height - 2 * margin, image.width, image.height - margin)
        draw.rectangle(box, fill=30)
        draw.text((margin, box[1] + (margin - size) // 2), band, fill=250, font=font)
        drawn.append(band)
    return " ".join(drawn)


def cell_lines(text, font, width):
    return wrapped(text, font, width) if width else [text]


def draw_table(job, image):
    """Draws a table below a paragraph, and another paragraph below it; cells may span columns or rows."""
    draw, size = ImageDraw.Draw(image), job["size"]
    font = ImageFont.truetype(job["font"], size)
    bold = ImageFont.truetype(job.get("bold", job["font"]), size)
    pad, left, top = job["pad"], 60, 60
    for line in wrapped(job["before"], font, image.width - 120):
        draw.text((left, top), line, fill=0, font=font)
        top += round(size * 1.45)
    top += size * 2
    rows, pitch = job["rows"], round(size * 1.3)
    merged = {(one["row"], one["column"]): one for one in job.get("merged", [])}
    count, limit = len(rows[0]), job.get("wrap", 0)
    widths = [0] * count
    heights = [0] * len(rows)
    texts = {}
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            face = bold if r == 0 else font
            texts[r, c] = cell_lines(text, face, limit)
            heights[r] = max(heights[r], len(texts[r, c]) * pitch + 2 * pad[1])
            if (r, c) not in merged:
                widths[c] = max(widths[c], *(math.ceil(face.getlength(line)) for line in texts[r, c]), 8)
    widths = [width + 2 * pad[0] for width in widths]
    xs = [left + sum(widths[:c]) for c in range(count + 1)]
    ys = [top + sum(heights[:r]) for r in range(len(rows) + 1)]
    hidden = set()
    for (r, c), one in merged.items():
        hidden |= {(r + i, c + j) for i in range(one["rowSpan"]) for j in range(one["columnSpan"])} - {(r, c)}
    style, thick, ink = job["style"], job.get("thick", 1), job.get("ruleInk", 0)
    for r in range(len(rows)):
        for c in range(count):
            if (r, c) in hidden:
                continue
            span = merged.get((r, c), {"rowSpan": 1, "columnSpan": 1})
            x0, y0, x1, y1 = xs[c], ys[r], xs[c + span["columnSpan"]], ys[r + span["rowSpan"]]
            if r == 0 and job.get("headFill") is not None:
                draw.rectangle((x0, y0, x1, y1), fill=job["headFill"])
            elif r % 2 == 0 and job.get("zebra") is not None:
                draw.rectangle((x0, y0, x1, y1), fill=job["zebra"])
            if style == "grid":
                for a, b in [((x0, y0), (x1, y0)), ((x0, y1), (x1, y1)), ((x0, y0), (x0, y1)), ((x1, y0), (x1, y1))]:
                    draw.line([a, b], fill=ink, width=thick)
            elif style == "inner":
                if r:
                    draw.line([(x0, y0), (x1, y0)], fill=ink, width=thick)
                if c:
                    draw.line([(x0, y0), (x0, y1)], fill=ink, width=thick)
            face = bold if r == 0 else font
            lines = texts[r, c]
            y = y0 + pad[1] if style == "none" else y0 + (y1 - y0 - len(lines) * pitch) / 2
            for line in lines:
                length = face.getlength(line)
                align = job["align"][c] if span["columnSpan"] == 1 else "center"
                x = x0 + pad[0] if align == "left" else x1 - pad[0] - length if align == "right" else (x0 + x1 - length) / 2
                draw.text((x, y), line, fill=job.get("headInk", 0) if r == 0 else 0, font=face)
                y += pitch
    if style == "lines":
        for r in [0, 1, len(rows)]:
            draw.line([(xs[0], ys[r]), (xs[-1], ys[r])], fill=ink, width=thick)
    top = ys[-1] + size * 2
    for line in wrapped(job["after"], font, image.width - 120):
        draw.text((left, top), line, fill=0, font=font)
        top += round(size * 1.45)
    return ""


def shadow(image, strength):
    """Darkens the page towards one corner."""
    across = Image.linear_gradient("L").resize(image.size)
    dark = Image.blend(across, across.transpose(Image.Transpose.ROTATE_90).resize(image.size), 0.4)
    return ImageChops.multiply(image, dark.point(lambda value: 255 - round(strength * value)))


def noise(image, job, roll):
    if job.get("blur"):
        image = image.filter(ImageFilter.GaussianBlur(job["blur"]))
    if job.get("grain"):
        data = bytes(
            max(0, min(255, round(value + roll.gauss(0, job["grain"])))) for value in image.tobytes()
        )
        image = Image.frombytes("L", image.size, data)
    if job.get("specks"):
        pixels = image.load()
        for _ in range(round(job["specks"] * image.width * image.height)):
            pixels[roll.randrange(image.width), roll.randrange(image.height)] = roll.choice([0, 255])
    return image


def photographed(image, corners, ground):
    """Returns the page with its corners moved, on a background."""
    width, height = round(image.width * 1.25), round(image.height * 1.25)
    source = [(0, 0), (image.width, 0), (image.width, image.height), (0, image.height)]
    matrix = []
    for (x, y), (u, v) in zip(corners, source):
        matrix.append([x, y, 1, 0, 0, 0, -u * x, -u * y, u])
        matrix.append([0, 0, 0, x, y, 1, -v * x, -v * y, v])
    return image.transform((width, height), Image.Transform.PERSPECTIVE, solve(matrix), Image.Resampling.BICUBIC, fillcolor=ground)


def solve(rows):
    """Gaussian elimination; the last number of a row is its right-hand side."""
    size = len(rows)
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(size):
            if row != at:
                factor = rows[row][at] / rows[at][at]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[at])]
    return [rows[at][size] / rows[at][at] for at in range(size)]


def make(job):
    roll = random.Random(job["seed"])
    image = Image.new("L", (job["width"], job["height"]), job.get("paper", 255))
    text = draw_table(job, image) if job["kind"] == "table" else draw_text(job, image)
    if job.get("inverted"):
        image = ImageChops.invert(image)
    if job.get("skew"):
        image = image.rotate(-job["skew"], Image.Resampling.BICUBIC, expand=True, fillcolor=job.get("paper", 255))
    if job.get("turns"):
        image = image.rotate(-90 * job["turns"], expand=True)
    if job.get("corners"):
        image = photographed(image, job["corners"], job.get("ground", 70))
    if job.get("shadow"):
        image = shadow(image, job["shadow"])
    image = noise(image, job, roll)
    image.save(job["file"])
    return text


for line in sys.stdin:
    print(json.dumps(make(json.loads(line))), flush=True)
