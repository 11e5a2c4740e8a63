/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/csv_text.h"

#include <string.h>

bool csv_is_formula(const char *text)
{
    static const char *const wide[] = { "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
                                        "\xEF\xBC\xA0" };

    if (text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL)
        return text[1] != '\0';
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
        if (strncmp(text, wide[i], 3) == 0)
            return true;
    }
    return false;
}

void csv_text(FILE *out, const char *text)
{
    const bool is_quoted = text[0] == '\0' || text[strcspn(text, ",\"\r\n")] != '\0';

    if (is_quoted)
        (void)fputc('"', out);
    if (csv_is_formula(text))
        (void)fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)fputc('"', out);
        (void)fputc(*text, out);
    }
    if (is_quoted)
        (void)fputc('"', out);
}
