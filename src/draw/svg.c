/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/svg.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "draw/digits.h"

#define BOLD_WIDTH 1.15 /* of the same text in bold */

enum { DECIMALS = 2, ELLIPSIS = 0x2026 };

static const char ellipsis_bytes[] = "\xE2\x80\xA6";

/* In hundredths of the font size: the printing characters of ASCII, in their order. */
static const uint8_t widths[] = {
    32,  41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, /* space to / */
    64,  64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54, /* 0 to ? */
    100, 69, 69, 70, 78, 67, 61, 78, 76, 30, 50, 67, 56, 87, 75, 79, /* @ to O */
    67,  79, 73, 67, 62, 74, 69, 99, 69, 67, 69, 40, 34, 40, 84, 56, /* P to _ */
    50,  62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98, 64, 62, /* ` to o */
    64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,     /* p to ~ */
};

/* In parts of the font size; what is not in the table may be as wide as a Chinese character. */
static double width_of(uint32_t character)
{
    if (character < ' ' || character - ' ' >= sizeof(widths))
        return 1;
    return widths[character - ' '] / 100.0;
}

/* What a width of 1 in width_of() is in pixels. */
static double unit_of(struct svg_font font)
{
    return font.bold ? font.size * BOLD_WIDTH : font.size;
}

double svg_text_width(struct svg_phrase phrase, struct svg_font font)
{
    const double extra = phrase.is_cut ? width_of(ELLIPSIS) : 0;

    return (utf8_width(phrase.span, width_of) + extra) * unit_of(font);
}

struct svg_phrases svg_wrap(const char *text, double room, uint32_t lines_most,
                            struct svg_font font)
{
    const double units = room / unit_of(font);
    struct svg_phrases ret = { .count = 0 };

    assert(lines_most > 0);
    assert(lines_most <= SVG_WRAP_LINES);

    while (text != NULL && ret.count < lines_most) {
        struct svg_phrase phrase = { utf8_take_line(&text, units, width_of), false };

        if (phrase.span.size == 0)
            break;
        phrase.is_cut = *text != '\0' && ret.count + 1 == lines_most;
        if (svg_text_width(phrase, font) > room) {
            phrase.span = utf8_cut(phrase.span, units - width_of(ELLIPSIS), width_of);
            phrase.is_cut = true;
        }
        ret.line[ret.count++] = phrase;
    }
    return ret;
}

void svg_number(FILE *out, double value)
{
    struct digits digits = digits_of_real(value, DECIMALS, DIGITS_PLAIN);
    size_t size = strlen(digits.text);

    /* 12.50 is 12.5 and 12.00 is 12: the same place in fewer bytes. */
    while (digits.text[size - 1] == '0')
        digits.text[--size] = '\0';
    if (digits.text[size - 1] == '.')
        digits.text[--size] = '\0';
    (void)fputs(digits.text, out);
}

void svg_escaped(FILE *out, struct utf8_span span)
{
    for (size_t i = 0; i < span.size; i++) {
        switch (span.text[i]) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        default:
            (void)fputc(span.text[i], out);
            break;
        }
    }
}

static void attribute(FILE *out, const char *name, double value)
{
    (void)fprintf(out, " %s=\"", name);
    svg_number(out, value);
    (void)fputc('"', out);
}

const char svg_dark_rules[] =
    "svg [fill=\"#ffffff\"]{fill:#16181d}svg [stroke=\"#ffffff\"]{stroke:#16181d}"
    "svg [fill=\"#222222\"]{fill:#e8e8e8}svg [stroke=\"#555555\"]{stroke:#b0b0b0}"
    "svg [stroke=\"#e4e4e4\"]{stroke:#343a42}svg [fill=\"#c9c9c9\"]{fill:#4a505a}svg [fill=\"#e4e4e4\"]{fill:#343a42}"
    "svg [fill=\"#000000\"]{fill:#f2f2f2}svg [stroke=\"#000000\"]{stroke:#f2f2f2}"
    "svg [fill=\"#0072b2\"]{fill:#3d93d6}svg [stroke=\"#0072b2\"]{stroke:#3d93d6}";

void svg_begin(FILE *out, double width, double height, const char *title, bool is_embedded)
{
    (void)fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", out);
    attribute(out, "width", width);
    attribute(out, "height", height);
    (void)fputs(" viewBox=\"0 0 ", out);
    svg_number(out, width);
    (void)fputc(' ', out);
    svg_number(out, height);
    (void)fputs("\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" role=\"img\"", out);
    (void)fputs(is_embedded ? " class=\"chart\">\n" : ">\n", out);
    (void)fputs("<title>", out);
    svg_escaped(out, (struct utf8_span){ title, strlen(title) });
    (void)fputs("</title>\n", out);
}

void svg_backdrop(FILE *out, bool is_embedded)
{
    if (!is_embedded)
        (void)fprintf(out, "<style>@media (prefers-color-scheme:dark){%s}</style>\n",
                      svg_dark_rules);
    (void)fputs("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
}

void svg_end(FILE *out)
{
    (void)fputs("</svg>\n", out);
}

void svg_text(FILE *out, struct svg_point at, enum svg_anchor anchor, bool upwards,
              struct svg_font font, struct svg_phrase phrase)
{
    static const char *const anchors[] = {
        [SVG_START] = "start",
        [SVG_MIDDLE] = "middle",
        [SVG_END] = "end",
    };

    (void)fputs("<text", out);
    if (upwards) {
        (void)fputs(" transform=\"translate(", out);
        svg_number(out, at.x);
        (void)fputc(' ', out);
        svg_number(out, at.y);
        (void)fputs(") rotate(-90)\"", out);
    } else {
        attribute(out, "x", at.x);
        attribute(out, "y", at.y);
    }
    attribute(out, "font-size", font.size);
    if (font.bold)
        (void)fputs(" font-weight=\"bold\"", out);
    (void)fprintf(out, " fill=\"%s\" text-anchor=\"%s\">", font.color, anchors[anchor]);
    svg_escaped(out, phrase.span);
    (void)fputs(phrase.is_cut ? ellipsis_bytes : "", out);
    (void)fputs("</text>\n", out);
}

void svg_line(FILE *out, struct svg_point from, struct svg_point to, struct svg_stroke stroke)
{
    (void)fputs("<line", out);
    attribute(out, "x1", from.x);
    attribute(out, "y1", from.y);
    attribute(out, "x2", to.x);
    attribute(out, "y2", to.y);
    (void)fprintf(out, " stroke=\"%s\"", stroke.color);
    attribute(out, "stroke-width", stroke.width);
    if (stroke.dash != NULL)
        (void)fprintf(out, " stroke-dasharray=\"%s\"", stroke.dash);
    (void)fputs("/>\n", out);
}
