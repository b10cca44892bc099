"""Draws a chart of times against numbers of rows, both on logarithmic axes, as SVG. Needs only Python."""
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 480, 70, 250, 20, 50
OURS = ("#08306b", "#2171b5", "#6baed6", "#17becf")
THEIRS = ("#a63603", "#e6550d", "#756bb1", "#31a354", "#636363", "#dd1c77", "#8c6d31")


def decades(values):
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def label(exponent):
    return f"{10 ** exponent:,}" if exponent >= 0 else f"{10.0 ** exponent:g}"


def svg(lines, floor_per_row):
    """Returns the SVG. `lines` is {name: [(rows, microseconds)]}; lines of emomc are thick. `floor_per_row` is in
    microseconds, or None."""
    x_low, x_high = decades([n for line in lines.values() for n, _ in line])
    y_low, y_high = decades([t for line in lines.values() for _, t in line])

    def place(n, t):
        x = LEFT + (math.log10(n) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (math.log10(t) - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)
        return x, y

    def text(x, y, content, anchor="start", more=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{content}</text>'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for e in range(x_low, x_high + 1):
        x, bottom = place(10.0**e, 10.0**y_low)
        parts += [f'<path d="M{x:.1f} {TOP}V{bottom:.1f}" stroke="#ddd"/>', text(x, bottom + 18, label(e), "middle")]
    for e in range(y_low, y_high + 1):
        left, y = place(10.0**x_low, 10.0**e)
        parts += [f'<path d="M{left:.1f} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>', text(left - 6, y + 4, label(e), "end")]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts += [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "rows", "middle"),
              text(16, middle, "microseconds", "middle", f' transform="rotate(-90 16 {middle})"')]
    if floor_per_row:
        first = max(10.0**x_low, 10.0**y_low / floor_per_row)
        (x1, y1), (x2, y2) = place(first, first * floor_per_row), place(10.0**x_high, 10.0**x_high * floor_per_row)
        parts.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="black" stroke-dasharray="6 4"/>')
    legend, colours = TOP + 10, {True: list(OURS), False: list(THEIRS)}
    entries = list(lines.items()) + ([("floor of the arithmetic", None)] if floor_per_row else [])
    for name, line in entries:
        ours = name.startswith("emomc")
        colour = "black" if line is None else colours[ours].pop(0)
        dash = ' stroke-dasharray="6 4"' if line is None else ""
        style = f'fill="none" stroke="{colour}" stroke-width="{3 if ours else 1.5}"{dash}'
        if line:
            points = [place(*point) for point in sorted(line)]
            parts.append(f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" {style}/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points]
        x = WIDTH - RIGHT + 15
        parts += [f'<path d="M{x} {legend}h24" {style}/>', text(x + 30, legend + 4, name.replace("&", "and"))]
        legend += 20
    return "\n".join(parts) + "\n</svg>\n"
