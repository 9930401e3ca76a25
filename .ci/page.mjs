// The checks of `.ci/page`, which writes the pages and runs this beside them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
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

// Applies a filter: the number of selected cases, their lines and the message.
const filter = (page, text) => page.evaluate((text) => {
    document.getElementById("filter").value = text;
    document.getElementById("filter-form").requestSubmit();
    const lines = [];
    for (let last = false; !last;) {
        const cells = document.querySelectorAll("#rows .line code");
        lines.push(...[...cells].map((cell) => cell.title || cell.textContent));
        last = document.getElementById("next").disabled;
        document.getElementById("next").click();
    }
    const message = document.getElementById("filter-error").textContent;
    const isInvalid = document.getElementById("filter").getAttribute("aria-invalid") === "true";
    return { lines, message, isInvalid, count: document.getElementById("filter-count").textContent };
}, text);

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

const WHERE = {
    "strides.html": [
        "operator == SLICE1", "rank == 4 and InputTensor.DataType in [FLOAT32, INT8]",
        "any axis (InputTensor.Strides != InputTensor.PackedStrides and InputTensor.Sizes > 1)",
        "PaddingMode == REFLECTION or not operator == PADDING1", "all axes InputTensor.Strides >= 1",
        "any axis (highest >= 4 and InputWindowStrides * InputWindowSizes mod 3 == 1)",
        "sum axes OutputTensor.Sizes > 2 ^ 3 and 1 <= rank < 6", "product axes InputTensor.Sizes / 2 >= 7",
        "any axis max(StartPadding, EndPadding) > abs(-1)", "present(OutputTensor.Strides)", "valid",
        "InputTensor.TotalTensorSizeInBytes > 64", "length(InputTensor.Strides) == 3", "any axis Strides == 2",
        "any axis (if axis == 0 then InputWindowOffsets > 0 else InputWindowOffsets == 0)",
    ],
    "invalid.html": [
        "invalid", "violations == 1", "violation == window_not_empty", "valid or open", "any axis lowest < 0",
        "InputTensor.DimensionCount == DimensionCount",
    ],
};
for (const [name, filters] of Object.entries(WHERE)) {
    await check(`${name}: the filter selects what --where selects`, async () => {
        const { page } = await open(name);
        const all = (await filter(page, "")).lines;
        assert.ok(all.length > 5);
        let selecting = 0;
        for (const where of filters) {
            const options = { encoding: "utf8", maxBuffer: 1 << 28 };
            const listed = execFileSync(process.env.DMLCTS, ["list", "--suite", "smoke", "--where", where], options);
            const wanted = new Set(listed.split("\n"));
            const { lines, message } = await filter(page, where);
            assert.equal(message, "", where);
            const selected = new Set(lines);
            const wrong = all.filter((line) => selected.has(line) !== wanted.has(line));
            assert.deepEqual(wrong.slice(0, 3), [], `${where}: ${wrong.length} of ${all.length} cases`);
            selecting += lines.length > 0 && lines.length < all.length;
        }
        assert.ok(all.length < 100 || selecting >= filters.length / 3, "the filters tell cases apart");
        await page.close();
    });
}

await check("the filter knows the results", async () => {
    const { page } = await open("several.html");
    const all = (await filter(page, "")).lines.length;
    const findings = await page.$$eval("[data-finding]", (cards) => cards.map((card) => card.dataset.finding));
    assert.ok(findings.length > 1);
    let counted = (await filter(page, "finding == ''")).lines.length;
    for (const id of findings) counted += (await filter(page, `finding == ${id}`)).lines.length;
    assert.equal(counted, all, "each case belongs to one finding, or to none");
    const wrong = (await filter(page, "class == wrong-value and verdict == fail")).lines.length;
    const others = (await filter(page, "class != wrong_value or verdict != fail")).lines.length;
    assert.ok(wrong > 0 && others > 0 && wrong + others === all, `${wrong} and ${others}`);
    await page.close();
    const strides = (await open("strides.html")).page;
    const padded = (await filter(strides, "\"padding1 float16\"")).lines;
    assert.ok(padded.length > 0 && padded.every((line) => line.startsWith("PADDING1 FLOAT16")));
    await strides.close();
    const invalid = (await open("invalid.html")).page;
    assert.ok((await filter(invalid, "clause == slice1.window-not-empty")).lines.length > 0);
    const diff = (await open("diff.html")).page;
    const changes = [];
    for (const change of ["broken", "fixed"]) changes.push((await filter(diff, `change == ${change}`)).lines.length);
    assert.ok(changes.every((count) => count > 0), `${changes}`);
});

await check("a broken filter says what is wrong, and leaves the cases", async () => {
    const { page } = await open("strides.html");
    const broken = {
        "rnk == 4": /did you mean `rank`.*column 1/,
        "rank == ": /ends too early/,
        "(rank == 4": /expected `\)`/i,
        "rank == 4 rank": /cannot follow/,
        "InputTensor.Sizes > 2": /any axis/,
        "rank": /expected a condition/i,
        "SLICE1": /operator == SLICE1/,
        "operator < SLICE1": /only `==`/,
        "rank == SLICE1": /cannot be compared/,
        "any rank == 2": /axis/,
        "rank == 4 & rank": /no meaning/,
        "min(rank) == 2": /takes 2 values/,
        "constructor == 1": /not a name/,
    };
    await filter(page, "rank == 4");
    const before = await page.$eval("#filter-count", (found) => found.textContent);
    for (const [text, message] of Object.entries(broken)) {
        const result = await filter(page, text);
        assert.match(result.message, message, text);
        assert.ok(result.isInvalid, text);
        assert.equal(result.count, before);
    }
    assert.equal(await page.$eval("#filter-error", (error) => error.getAttribute("role")), "alert");
    const fixed = await filter(page, "rank == 4");
    assert.deepEqual([fixed.message, fixed.isInvalid], ["", false]);
    await page.close();
});

await check("the keyboard reaches the report, the filter and the cards", async () => {
    const { page, wrong } = await open("wrong.html");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    await page.focus("#filter");
    await page.keyboard.type("rank == 2");
    await page.keyboard.press("Enter");
    assert.match(await page.$eval("#filter-count", (found) => found.textContent), / of /);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "clear");
    await page.keyboard.press("Enter");
    assert.doesNotMatch(await page.$eval("#filter-count", (found) => found.textContent), / of /);
    await page.focus(".card .actions button");
    await page.keyboard.press("Enter");
    assert.match(await page.$eval("#filter", (input) => input.value), /^finding == /);
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
            document.getElementById("filter").value = "any axis (StartPadding > EndPadding and InputTensor.Sizes == 2)";
            document.getElementById("filter-form").requestSubmit();
            return performance.now() - start;
        });
        assert.ok(taken < 2 * LONGEST, `the filter took ${taken} ms`);
        await page.close();
    }
    times.sort((one, other) => one - other);
    console.log(`opened in ${times.map(Math.round).join(", ")} ms`);
    // Other programs may slow down some of the rounds.
    assert.ok(times[1] < LONGEST, `${times}`);
});

await browser.close();
