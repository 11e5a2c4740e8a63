/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draw/svg.h"
#include "serve/page_private.h"

/* The answer is what was written so far: open_memstream would write to 'reply' until it is closed. */
static void take_body(struct page *page)
{
    (void)fclose(page->out);
    page->out = NULL;
    if (page->call->reply->body == NULL)
        api_error(page->call, 500, "out of memory");
}

static void write_nav(const struct page *page, const char *view)
{
    static const struct {
        const char *view;
        const char *path;
        const char *text;
    } links[] = {
        { "now", "./", "Now" },           { "time", "time", "Over time" },
        { "jobs", "jobs", "Jobs" },       { "ledger", "ledger", "Ledger" },
        { "doctor", "doctor", "Doctor" },
    };

    (void)fputs("<nav aria-label=\"Views\">\n", page->out);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        (void)fprintf(page->out, "<a href=\"%s%s\"%s>%s</a>\n", page->up, links[i].path,
                      strcmp(view, links[i].view) == 0 ? " aria-current=\"page\"" : "",
                      links[i].text);
    (void)fprintf(page->out,
                  "</nav>\n<form action=\"%sfind\" role=\"search\"><label for=\"q\">Job or machine"
                  "</label> <input id=\"q\" name=\"q\" size=\"9\" autocomplete=\"off\"> "
                  "<button>Show</button></form>\n",
                  page->up);
}

static void write_head(const struct page *page, const char *title, const char *view)
{
    const struct serve_world *world = page->call->world;
    FILE *out = page->out;

    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>", out);
    html_text(out, title);
    (void)fputs(" \xC2\xB7 ", out);
    html_text(out, world->cluster);
    (void)fprintf(out,
                  "</title>\n<meta name=\"viewport\" content=\"width=device-width, "
                  "initial-scale=1\">\n<link rel=\"stylesheet\" href=\"%spage.css\">\n"
                  "<script src=\"%spage.js\" defer></script>\n</head>\n<body>\n"
                  "<a class=\"skip\" href=\"#main\">Skip to content</a>\n<header>\n"
                  "<p class=\"brand\"><a href=\"%s./\">Stint</a> <span class=\"cluster\">",
                  page->up, page->up, page->up);
    html_text(out, world->cluster);
    (void)fputs("</span></p>\n", out);
    write_nav(page, view);
    (void)fputs("</header>\n<main id=\"main\">\n<h1>", out);
    html_text(out, title);
    (void)fputs("</h1>\n", out);
}

bool page_begin(struct page *page, struct api_call *call, const char *title, const char *view)
{
    const char *path = call->request->path;

    *page = (struct page){ .call = call,
                           .up = strrchr(path, '/') != path ? "../" : "",
                           .out = open_memstream(&call->reply->body, &call->reply->size) };
    if (page->out == NULL) {
        api_error(call, 500, "out of memory");
        return false;
    }
    call->reply->status = 200;
    call->reply->content_type = "text/html; charset=utf-8";
    call->reply->is_page = true;
    write_head(page, title, view);
    return true;
}

void page_end(struct page *page)
{
    const struct serve_world *world = page->call->world;
    FILE *out = page->out;

    (void)fputs("</main>\n<footer><p>As of ", out);
    html_time(out, page->call->now);
    (void)fputs(" UTC. Mode ", out);
    html_text(out, world->mode);
    (void)fputs(", policy ", out);
    html_text(out, world->policy);
    (void)fputs(", up ", out);
    html_span(out, page->call->now - world->started_at);
    (void)fputs(". <span id=\"refresh\"></span></p></footer>\n</body></html>\n", out);
    take_body(page);
}

void page_error(struct api_call *call, unsigned status, const char *text)
{
    struct page page;

    if (!page_begin(&page, call, status == 404 ? "Not found" : "This did not work", ""))
        return;
    (void)fputs("<p>", page.out);
    html_text(page.out, text);
    (void)fputs(".</p>\n", page.out);
    page_end(&page);
    call->reply->status = status;
}

/* Answers of the API. -------------------------------------------------------------------------- */

static json_t *ask(const struct api_call *call, const char *path, const char *key,
                   const char *value, unsigned *ret_status)
{
    const struct api_argument argument = { .key = key, .value = value };

    return api_ask(call, path, &argument, key != NULL ? 1 : 0, ret_status);
}

json_t *page_try(const struct api_call *call, const char *path, const char *key, const char *value)
{
    unsigned status = 0;
    json_t *answer = ask(call, path, key, value, &status);

    if (status == 200)
        return answer;
    json_decref(answer);
    return NULL;
}

json_t *page_ask_with(struct api_call *call, const char *path, const struct api_argument *arguments,
                      uint32_t count)
{
    unsigned status = 0;
    json_t *answer = api_ask(call, path, arguments, count, &status);

    if (status == 200)
        return answer;
    page_error(call, status, answer != NULL ? page_word(answer, "error") : "there is no answer");
    json_decref(answer);
    return NULL;
}

json_t *page_ask(struct api_call *call, const char *path, const char *key, const char *value)
{
    const struct api_argument argument = { .key = key, .value = value };

    return page_ask_with(call, path, &argument, key != NULL ? 1 : 0);
}

money_t page_money(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : MONEY_UNKNOWN;
}

int64_t page_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : -1;
}

const char *page_word(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

/* Parts. --------------------------------------------------------------------------------------- */

static void write_link(const struct page *page, const char *folder, const char *text)
{
    (void)fprintf(page->out, "<a href=\"%s%s/", page->up, folder);
    html_address(page->out, text);
    (void)fputs("\">", page->out);
    html_text(page->out, text);
    (void)fputs("</a>", page->out);
}

void page_link_job(const struct page *page, const char *label)
{
    write_link(page, "job", label);
}

void page_link_machine(const struct page *page, const char *name)
{
    write_link(page, "machine", name);
}

void page_tile(const struct page *page, const char *name)
{
    (void)fprintf(page->out, "<div class=\"tile\"><h2>%s</h2><p class=\"figure\">", name);
}

void page_tile_note(const struct page *page)
{
    (void)fputs("</p><p class=\"note\">", page->out);
}

void page_tile_end(const struct page *page)
{
    (void)fputs("</p></div>\n", page->out);
}

void page_table(const struct page *page, const char *caption, const char *const *columns)
{
    (void)fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", page->out);
    html_text(page->out, caption);
    (void)fputs("\"><table><caption>", page->out);
    html_text(page->out, caption);
    (void)fputs("</caption>\n<thead><tr>", page->out);
    for (; *columns != NULL; columns++) {
        const char sign = (*columns)[0];
        const char *class = sign == '#' ? " class=\"n\"" : sign == '~' ? " class=\"wide\"" : "";

        (void)fprintf(page->out, "<th scope=\"col\"%s>", class);
        html_text(page->out, *columns + (class[0] != '\0' ? 1 : 0));
        (void)fputs("</th>", page->out);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", page->out);
}

void page_table_end(const struct page *page)
{
    (void)fputs("</tbody></table></div>\n", page->out);
}

void page_chart(const struct page *page, const struct chart *chart)
{
    (void)fputs("<figure><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
                page->out);
    html_text(page->out, chart->title);
    (void)fputs("\">\n", page->out);
    (void)chart_write(chart, page->out);
    (void)fputs("</div>\n", page->out);
    chart_write_table(chart, page->out);
    (void)fputs("</figure>\n", page->out);
}

void page_reasons(const struct page *page, const char *caption, const json_t *reasons)
{
    static const char *const columns[] = { "when (UTC)", "where",   "why", "#at $/h",
                                           "instead of", "#at $/h", NULL };
    const json_t *reason;
    size_t i;

    if (json_array_size(reasons) == 0)
        return;
    page_table(page, caption, columns);
    json_array_foreach(reasons, i, reason)
    {
        const char *passed = page_word(reason, "passed_over");

        (void)fputs("<tr><td>", page->out);
        html_time(page->out, page_number(reason, "at"));
        (void)fputs("</td><td>", page->out);
        html_text(page->out, page_word(reason, "where"));
        (void)fputs("</td><td>", page->out);
        html_text(page->out, page_word(reason, "why"));
        (void)fputs("</td><td class=\"n\">", page->out);
        html_money(page->out, NULL, page_money(reason, "chosen_microdollars_per_hour"), 4);
        (void)fputs("</td><td>", page->out);
        html_text(page->out, passed[0] != '\0' ? passed : "\xE2\x80\x93");
        (void)fputs("</td><td class=\"n\">", page->out);
        html_money(page->out, NULL, page_money(reason, "passed_over_microdollars_per_hour"), 4);
        (void)fputs("</td></tr>\n", page->out);
    }
    page_table_end(page);
}

/* Doctor, style and script. --------------------------------------------------------------------- */

void page_doctor(struct api_call *call)
{
    json_t *answer = page_ask(call, "/v1/doctor", NULL, NULL);
    const json_t *findings = json_object_get(answer, "findings");
    const json_t *finding;
    struct page page;
    size_t i;

    if (answer == NULL)
        return;
    if (!page_begin(&page, call, "Doctor", "doctor")) {
        json_decref(answer);
        return;
    }
    (void)fputs("<p>What is wrong with the cluster, and what to do about it.</p>\n", page.out);
    if (json_array_size(findings) == 0)
        (void)fputs("<p class=\"good\">Nothing was found.</p>\n", page.out);
    (void)fputs("<ul class=\"findings\">\n", page.out);
    json_array_foreach(findings, i, finding)
    {
        (void)fputs("<li><strong class=\"badge ", page.out);
        html_text(page.out, page_word(finding, "severity"));
        (void)fputs("\">", page.out);
        html_text(page.out, page_word(finding, "severity"));
        (void)fputs("</strong> <code>", page.out);
        html_text(page.out, page_word(finding, "kind"));
        (void)fputs("</code> <b>", page.out);
        html_text(page.out, page_word(finding, "subject"));
        (void)fputs("</b>: ", page.out);
        html_text(page.out, page_word(finding, "text"));
        (void)fputs("<br><span class=\"advice\">To do: ", page.out);
        html_text(page.out, page_word(finding, "advice"));
        (void)fputs("</span></li>\n", page.out);
    }
    (void)fputs("</ul>\n", page.out);
    json_decref(answer);
    page_end(&page);
}

static void answer_file(struct api_call *call, const char *type, const char *text, const char *more)
{
    struct api_reply *reply = call->reply;
    FILE *out = open_memstream(&reply->body, &reply->size);

    reply->status = 200;
    reply->content_type = type;
    if (out == NULL) {
        api_error(call, 500, "out of memory");
        return;
    }
    (void)fputs(text, out);
    (void)fputs(more, out);
    if (fclose(out) != 0)
        api_error(call, 500, "out of memory");
}

void page_css(struct api_call *call)
{
    char dark[4096];

    (void)snprintf(dark, sizeof(dark), "@media (prefers-color-scheme:dark){%s}\n", svg_dark_rules);
    answer_file(call, "text/css; charset=utf-8", page_css_text, dark);
}

void page_js(struct api_call *call)
{
    answer_file(call, "text/javascript; charset=utf-8", page_js_text, "");
}
