/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/html.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "draw/digits.h"
#include "draw/utf8.h"

static const char replacement[] = "\xEF\xBF\xBD";

/* What stands for a character of ASCII; NULL: itself. */
static const char *entity(uint32_t character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
    case '\n':
    case '\r':
        return " ";
    default:
        return NULL;
    }
}

void html_text(FILE *out, const char *text)
{
    uint32_t size;

    for (; text != NULL && *text != '\0'; text += size) {
        const uint32_t character = utf8_next(text, &size);
        const char *other = entity(character);

        if (other != NULL)
            (void)fputs(other, out);
        else if (character == UTF8_REPLACEMENT || utf8_is_control(character))
            (void)fputs(replacement, out);
        else
            (void)fwrite(text, 1, size, out);
    }
}

void html_address(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;

        if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= 'a' && byte <= 'z') || strchr("-._~", byte) != NULL)
            (void)fputc(byte, out);
        else
            (void)fprintf(out, "%%%02X", byte);
    }
}

static void open_data(FILE *out, const char *name, int64_t value)
{
    (void)fputs("<data", out);
    if (name != NULL)
        (void)fprintf(out, " class=\"%s\"", name);
    (void)fprintf(out, " value=\"%" PRId64 "\">", value);
}

void html_money(FILE *out, const char *name, money_t money, uint32_t digits)
{
    if (money == MONEY_UNKNOWN) {
        (void)fputs("\xE2\x80\x93", out);
        return;
    }
    open_data(out, name, money);

    const struct digits text = digits_of_fixed(money, 6, digits, DIGITS_GROUPED);
    const bool is_negative = text.text[0] == '-';

    (void)fprintf(out, "%s$%s</data>", is_negative ? "\xE2\x88\x92" : "",
                  text.text + (is_negative ? 1 : 0));
}

void html_count(FILE *out, const char *name, int64_t count)
{
    open_data(out, name, count);
    (void)fprintf(out, "%s</data>", digits_of_fixed(count, 0, 0, DIGITS_GROUPED).text);
}

void html_count_of(FILE *out, const char *name, int64_t count, const char *what)
{
    html_count(out, name, count);
    (void)fprintf(out, " %s%s", what, count == 1 ? "" : "s");
}

void html_time(FILE *out, msec_t at)
{
    const time_t seconds = (time_t)(at / MSEC_PER_SEC);
    struct tm parts;
    char day[32];
    char clock[16];

    if (at < 0 || at == MSEC_NEVER || gmtime_r(&seconds, &parts) == NULL ||
        strftime(day, sizeof(day), "%Y-%m-%d", &parts) == 0 ||
        strftime(clock, sizeof(clock), "%H:%M:%S", &parts) == 0) {
        (void)fputs("-", out);
        return;
    }
    (void)fprintf(out, "<time datetime=\"%sT%sZ\">%s %s</time>", day, clock, day, clock);
}

void html_span(FILE *out, msec_t span)
{
    const int64_t seconds = span / MSEC_PER_SEC;

    if (span < 0 || span == MSEC_NEVER)
        (void)fputs("-", out);
    else if (seconds < 120)
        (void)fprintf(out, "%" PRId64 " s", seconds);
    else if (seconds < 7200)
        (void)fprintf(out, "%" PRId64 " min", seconds / 60);
    else if (seconds < 172800)
        (void)fprintf(out, "%" PRId64 " h %" PRId64 " min", seconds / 3600, seconds / 60 % 60);
    else
        (void)fprintf(out, "%" PRId64 " d %" PRId64 " h", seconds / 86400, seconds / 3600 % 24);
}
