// The checks of `.ci/page`, which writes the pages and runs this beside them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import puppeteer from "puppeteer-core";

const LONGEST = 1000; // milliseconds, to open 100,000 cases
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM,
    // Containers of CI services have no user namespaces. The pages are this project's own.
    args: ["--no-sandbox"],
});

// Opens a page and collects what it must not do: errors, requests and dialogs.
async function open(name, scheme = "light") {
    const page = await browser.newPage();
    const wrong = [];
    const address = pathToFileURL(name).href;
    page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
    page.on("console", (message) => wrong.push(`console: ${message.text()}`));
    page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => request.url() === address || wrong.push(`request: ${request.url()}`));
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.setViewport({ width: 1280, height: 900 });
    const start = performance.now();
    await page.goto(address, { waitUntil: "load" });
    return { page, wrong, time: performance.now() - start };
}

async function check(name, run) {
    await run();
    console.log(`ok: ${name}`);
}

// Clears the filters and sets these, by the names of their columns: the shown cases, and what the page says.
const filter = (page, wanted) => page.evaluate((wanted) => {
    const form = document.getElementById("filter-form");
    document.getElementById("clear").click();
    for (const [name, value] of Object.entries(wanted)) {
        if (name === "text") document.getElementById("text").value = value;
        else form.elements[name].selectedIndex = 1 + [...form.elements[name].options].slice(1).findIndex((one) => one.value === value);
    }
    form.requestSubmit();
    const lines = [];
    for (let last = false; !last;) {
        const cells = document.querySelectorAll("#rows .line code");
        lines.push(...[...cells].map((cell) => cell.title || cell.textContent));
        last = document.getElementById("next").disabled;
        document.getElementById("next").click();
    }
    return { lines, count: document.getElementById("filter-count").textContent };
}, wanted);

// The cases of a page's JSON: for each, its line, what happened and the values of each filter.
const casesOf = (page) => page.evaluate(() => {
    const { columns, texts, rows } = JSON.parse(document.getElementById("data").textContent);
    return rows.map((row) => {
        const of = (name) => texts[row[columns.indexOf(name)]] ?? "";
        const clause = row[columns.indexOf("clause")].map((place) => texts[place]);
        const values = { clause, operator: [row[1].slice(0, row[1].indexOf(" "))] };
        for (const name of ["verdict", "class", "finding", "validity", "known"]) values[name] = [of(name)];
        if (of("change")) values.change = [of("change")];
        return { line: row[1], what: of("what"), values };
    });
});

const number = (text) => Number(/[\d,]+/.exec(text)[0].replaceAll(",", ""));
const linesOf = (cases) => cases.map((one) => one.line);

const PAGES = ["passing.html", "wrong.html", "strides.html", "invalid.html", "diff.html", "problem.html"];
for (const name of PAGES) {
    for (const scheme of ["light", "dark"]) {
        await check(`${name}, ${scheme}: no error, no request, and axe finds nothing`, async () => {
            const { page, wrong } = await open(name, scheme);
            await page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
            await page.evaluate(axe);
            const { violations } = await page.evaluate(() => window.axe.run());
            const told = violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html).join("\n")}`);
            assert.deepEqual(told, []);
            assert.deepEqual(wrong, []);
            // A narrow page scrolls its tables, never itself.
            await page.setViewport({ width: 360, height: 800 });
            const width = await page.evaluate(() => document.documentElement.scrollWidth);
            assert.ok(width <= 360, `it is ${width} wide`);
            await page.close();
        });
    }
}

await check("words of a backend stay words", async () => {
    const { page } = await open("problem.html");
    assert.match(await page.title(), /^dmlcts: /);
    assert.equal(await page.$("img"), null);
    assert.match(await page.$eval("main", (main) => main.textContent), /<img src=x>/);
    await page.close();
});

for (const name of ["strides.html", "several.html", "invalid.html", "diff.html"]) {
    await check(`${name}: each choice selects the cases that have its value`, async () => {
        const { page, wrong } = await open(name);
        const all = await casesOf(page);
        assert.ok(all.length > 5);
        const choices = await page.$$eval("#choices select", (selects) => selects.map((select) => ({
            name: select.name,
            isShown: select.checkVisibility(),
            options: [...select.options].slice(1).map((option) => ({ value: option.value, text: option.textContent })),
        })));
        assert.deepEqual(choices.map((choice) => choice.name).sort(), Object.keys(all[0].values).sort());
        for (const { name, isShown, options } of choices) {
            const values = new Set(all.flatMap((one) => one.values[name]));
            assert.deepEqual(options.map((option) => option.value), [...values].sort(), name);
            assert.equal(isShown, values.size > 1 || !values.has(""), name);
            for (const { value, text } of options) {
                const wanted = all.filter((one) => one.values[name].includes(value));
                const { lines } = await filter(page, { [name]: value });
                assert.ok(isDeepStrictEqual(lines, linesOf(wanted)), `${name} ${value}: ${lines.length} of ${wanted.length} cases`);
                assert.ok(text.endsWith(` (${wanted.length.toLocaleString("en")})`), text);
            }
        }
        assert.deepEqual(wrong, []);
        await page.close();
    });
}

await check("filters combine, and words are found in any letter case", async () => {
    const { page } = await open("strides.html");
    const all = await casesOf(page);
    const padded = all.filter((one) => one.line.startsWith("PADDING1 FLOAT16"));
    assert.ok(padded.length > 0);
    assert.deepEqual((await filter(page, { text: " float16  padding1 " })).lines, linesOf(padded));
    const wrong = padded.filter((one) => one.what.includes("expected") && one.values.validity[0] === "valid");
    const { lines, count } = await filter(page, { text: "FLOAT16 Expected", operator: "PADDING1", validity: "valid" });
    assert.ok(lines.length > 0);
    assert.deepEqual(lines, linesOf(wrong));
    assert.equal(count, `${lines.length} of ${all.length.toLocaleString("en")} cases`);
    assert.equal((await filter(page, { text: "no such words" })).count, `0 of ${all.length.toLocaleString("en")} cases`);
    await page.close();
});

await check("numbers of the clauses and the findings show their cases", async () => {
    for (const name of ["several.html", "invalid.html"]) {
        const { page } = await open(name);
        const all = await casesOf(page);
        const buttons = await page.$$("button.select");
        for (const button of buttons) {
            const [text, values] = await button.evaluate((button) => [button.textContent, { ...button.dataset }]);
            await filter(page, { text: "nothing" });
            await button.evaluate((button) => button.click());
            const counts = all.filter((one) => Object.entries(values).every(([name, value]) => one.values[name].includes(value)));
            const said = number(await page.$eval("#filter-count", (found) => found.textContent));
            assert.deepEqual([said, said > 0], [counts.length, true], JSON.stringify(values));
            if (values.verdict) assert.equal(said, number(text), JSON.stringify(values));
        }
        assert.ok(buttons.length > 2, `${name} has ${buttons.length}`);
        await page.close();
    }
});

await check("a button copies a command that runs the shown cases", async () => {
    const { page } = await open("invalid.html");
    await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; });
    const all = await casesOf(page);
    await filter(page, {});
    assert.equal(await page.$eval("#copy", (button) => button.disabled), all.length > 20);
    const { lines } = await filter(page, { text: all[0].line });
    assert.ok(lines.length > 0 && lines.length <= 20);
    const label = lines.length === 1 ? "1 case" : `${lines.length} cases`;
    assert.equal(await page.$eval("#copy", (button) => button.textContent), `Copy a command for ${label}`);
    await page.click("#copy");
    const command = await page.evaluate(() => window.copied);
    for (const line of lines) assert.ok(command.includes(` '${line}'`), command);
    const ran = spawnSync("sh", ["-c", command.replace(/^dmlcts/, "\"$DMLCTS\"")], { encoding: "utf8" });
    assert.equal(ran.status, 1, `${command}: ${ran.stdout}${ran.stderr}`);
    await filter(page, { text: "no such words" });
    assert.ok(await page.$eval("#copy", (button) => button.disabled));
    await page.close();
});

await check("the keyboard reaches the report, the filters and the cards", async () => {
    const { page, wrong } = await open("wrong.html");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    await page.focus("#text");
    await page.keyboard.type("slice1 float16");
    await page.keyboard.press("Enter");
    assert.match(await page.$eval("#filter-count", (found) => found.textContent), / of /);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "clear");
    await page.keyboard.press("Enter");
    assert.doesNotMatch(await page.$eval("#filter-count", (found) => found.textContent), / of /);
    await page.focus("select[name=operator]");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.$eval("#choices .chosen select", (select) => select.name), "operator");
    await page.focus(".card .actions button");
    await page.keyboard.press("Enter");
    const [finding, chosen] = await page.evaluate(() => [
        document.querySelector(".card").dataset.finding, document.querySelector("select[name=finding]").value,
    ]);
    assert.equal(chosen, finding);
    assert.equal(await page.evaluate(() => document.activeElement.id), "text");
    assert.deepEqual(wrong, []);
    await page.close();
});

await check("100,000 cases open within a second, and a filter answers as fast", async () => {
    const times = [];
    for (let round = 0; round < 5; round++) {
        const { page, wrong, time } = await open("large.html");
        assert.equal(await page.$eval("#filter-count", (found) => found.textContent), "100,000 cases");
        assert.deepEqual(wrong, []);
        times.push(time);
        const taken = await page.evaluate(() => {
            const start = performance.now();
            document.querySelector("select[name=verdict]").selectedIndex = 1;
            document.getElementById("text").value = "float32 expected no such words";
            document.getElementById("filter-form").requestSubmit();
            return performance.now() - start;
        });
        assert.ok(taken < LONGEST, `the filter took ${taken} ms`);
        await page.close();
    }
    times.sort((one, other) => one - other);
    console.log(`opened in ${times.map(Math.round).join(", ")} ms`);
    // Other programs may slow down some of the rounds.
    assert.ok(times[1] < LONGEST, `${times}`);
});

await browser.close();
