// SPDX-License-Identifier: Apache-2.0
// page_look.mjs LINK FOLDER VIEW...: each view (NAME:PATH, or NAME:file:///...) in Chromium at 1280 and 390 pixels, light and dark:
// a picture, axe-core, and whether it is wider than the window. In TAP; run by page_look.sh.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const require = createRequire(process.cwd() + "/");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [link, folder, ...views] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
let count = 0;
let failed = 0;

function judge(good, sentence, why) {
    count++;
    failed += good ? 0 : 1;
    console.log(`${good ? "ok" : "not ok"} ${count} - ${sentence}`);
    if (why) console.log("# " + why.replaceAll("\n", "\n# "));
}

for (const [width, colours] of [[1280, "light"], [1280, "dark"], [390, "light"], [390, "dark"]]) {
    // axe is put in from outside, which the page's own policy rightly forbids
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: colours, bypassCSP: true });
    for (const view of views) {
        const name = view.slice(0, view.indexOf(":"));
        const path = view.slice(name.length + 1);
        const page = await context.newPage();
        const errors = [];
        page.on("pageerror", (error) => errors.push(String(error)));
        const answer = await page.goto(path.startsWith("file:") ? path : link + path);
        await page.screenshot({ path: `${folder}/${name}-${width}-${colours}.png`, fullPage: true });
        await page.evaluate(axe);
        const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        const serious = result.violations.filter((one) => ["serious", "critical"].includes(one.impact));
        judge(serious.length === 0 && errors.length === 0, `${name} at ${width}, ${colours}: axe-core finds nothing serious`,
            [...errors, ...result.violations.map((one) => `${one.impact}: ${one.id}: ${one.help}: ` +
                one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | "))].join("\n"));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        judge(wide <= 0, `${name} at ${width}, ${colours}: no wider than the window`, wide > 0 ? `${wide} pixels` : "");
        if (!path.startsWith("file:")) {
            const timing = answer.request().timing();
            console.log(`# first byte after ${(timing.responseStart - timing.requestStart).toFixed(1)} ms`);
        }
        await page.close();
    }
    await context.close();
}
await browser.close();
console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
