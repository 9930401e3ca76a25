"use strict";
// The table of cases: its rows from the JSON of the page, its filters, and its pages. Texts become text nodes,
// so that nothing in them is read as HTML.
(() => {
    const PAGE = 100;
    // The maximum number of cases in one command.
    const COMMAND = 20;
    const data = JSON.parse(document.getElementById("data").textContent);
    const column = Object.fromEntries(data.columns.map((name, place) => [name, place]));
    const isComparison = data.rows.some((row) => row.length > column.change);
    const element = (name, attributes = {}, ...children) => {
        const made = document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        made.append(...children);
        return made;
    };

    class Row {
        constructor(cells) { this.cells = cells; }
        get index() { return this.cells[column.index]; }
        get line() { return this.cells[column.line]; }
        get(name) { return data.texts[this.cells[column[name]]] ?? ""; }
        clauses() { return this.cells[column.clause].map((place) => data.texts[place]).filter(Boolean); }
        text() { return `${this.line}\n${this.get("what")}`.toLowerCase(); }
    }

    const rows = data.rows.map((cells) => new Row(cells));
    const cards = new Map();
    for (const card of document.querySelectorAll("article[data-finding]")) cards.set(card.dataset.finding, card.id);
    const [input, found, copyShown] = ["text", "filter-count", "copy"].map((id) => document.getElementById(id));
    const number = new Intl.NumberFormat("en");
    let shown = rows;
    let page = 0;

    const copy = async (button, text, label) => {
        const say = (words) => {
            button.textContent = words;
            setTimeout(() => { button.textContent = label(); }, 1500);
        };
        try {
            await navigator.clipboard.writeText(text);
            say("Copied");
        } catch {
            say("Not allowed");
        }
    };

    const copyButton = (label, text) => {
        const button = element("button", { type: "button", "aria-label": label }, "Copy");
        button.addEventListener("click", () => copy(button, text, () => "Copy"));
        return button;
    };

    // A quote in a line of another version could end the word in a shell.
    const isSafe = (row) => !row.line.includes("'");
    const commandOf = (some) => `${data.command} ${some.map((row) => `'${row.line}'`).join(" ")}`;
    const counted = (count) => `${number.format(count)} ${count === 1 ? "case" : "cases"}`;
    const words = (id) => id.replace(/-/g, " ");

    // A filter by one column: a choice among the values that occur. A row without a value has the value "".
    // Comparing places of texts is faster than comparing texts.
    class Choice {
        constructor(name) {
            this.name = name;
            const places = new Map();
            const count = (place) => places.set(place, (places.get(place) ?? 0) + 1);
            for (const { cells } of rows) {
                const cell = cells[column[name]];
                if (Array.isArray(cell)) cell.forEach(count);
                else count(cell);
            }
            const counts = new Map([...places].map(([place, count]) => [data.texts[place], count]));
            this.values = [...counts.keys()].sort();
            const options = this.values.map((value) => this.option(value, counts.get(value)));
            this.select = element("select", { name }, element("option", {}, "any"), ...options);
            this.select.addEventListener("change", () => apply());
            this.label = element("label", {}, name[0].toUpperCase() + name.slice(1), this.select);
            this.label.hidden = counts.size === 1 && counts.has("");
        }
        option(value, count) {
            const shown = ["change", "verdict", "class"].includes(this.name) ? words(value) : value;
            return element("option", { value }, `${shown || "none"} (${number.format(count)})`);
        }
        // `undefined` stands for any value.
        get chosen() { return this.values[this.select.selectedIndex - 1]; }
        set chosen(value) {
            // The table may leave out the cases that a number of the page counts.
            if (value !== undefined && !this.values.includes(value)) {
                this.values.push(value);
                this.select.append(this.option(value, 0));
                this.label.hidden = false;
            }
            this.select.selectedIndex = this.values.indexOf(value) + 1;
        }
        test() {
            const place = data.texts.indexOf(this.chosen);
            const isPlace = (cell) => cell === place || (Array.isArray(cell) && cell.includes(place));
            return ({ cells }) => isPlace(cells[column[this.name]]);
        }
    }

    const filters = ["verdict", "class", "finding", "operator", "validity", "clause", "known"];
    const choices = [...(isComparison ? ["change"] : []), ...filters].map((name) => new Choice(name));
    const isBad = (verdict) => !["pass", "recorded", "skip", "expected-fail"].includes(verdict);

    const cellsOf = (row) => {
        const finding = row.get("finding");
        const link = cards.has(finding) ? element("a", { href: `#${cards.get(finding)}` }, finding) : finding;
        const what = element("td", { class: "what" }, row.get("what"));
        const clauses = row.clauses();
        if (clauses.length > 0) what.append(element("div", { class: "faint" }, `breaks ${clauses.join(", ")}`));
        if (row.get("known")) what.append(element("div", { class: "faint" }, `known as ${row.get("known")}`));
        const short = row.line.split(" ").map((word) => (word.length > 56 ? `${word.slice(0, 48)}…` : word)).join(" ");
        const line = element("td", { class: "line" }, element("code", short === row.line ? {} : { title: row.line }, short));
        const cells = [element("td", { class: "index" }, number.format(row.index))];
        if (isComparison) {
            const change = element("td", { class: "what" }, element("b", {}, words(row.get("change"))));
            if (row.get("old") || row.get("new")) {
                change.append(element("div", { class: "faint" }, `${row.get("old") || "absent"} → ${row.get("new") || "absent"}`));
            }
            cells.push(change);
        }
        const verdict = row.get("verdict");
        cells.push(element("td", { class: isBad(verdict) ? "verdict bad" : "verdict" }, element("b", {}, words(verdict))));
        cells.push(element("td", { class: "narrow" }, words(row.get("class"))), element("td", { class: "narrow id" }, link), what, line);
        cells.push(element("td", {}, isSafe(row) ? copyButton(`Copy the command of case ${row.index}`, commandOf([row])) : ""));
        return cells;
    };

    const show = () => {
        const pages = Math.max(1, Math.ceil(shown.length / PAGE));
        page = Math.min(Math.max(page, 0), pages - 1);
        const body = document.getElementById("rows");
        body.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map((row) => element("tr", {}, ...cellsOf(row))));
        document.getElementById("page").textContent = `Page ${number.format(page + 1)} of ${number.format(pages)}`;
        for (const [id, isOff] of [["first", page === 0], ["previous", page === 0], ["next", page === pages - 1], ["last", page === pages - 1]]) {
            document.getElementById(id).disabled = isOff;
        }
        const all = counted(rows.length);
        found.textContent = shown.length === rows.length ? all : `${number.format(shown.length)} of ${all}`;
        copyShown.textContent = copyLabel();
        copyShown.disabled = !fitsCommand();
    };

    const fitsCommand = () => shown.length > 0 && shown.length <= COMMAND && shown.every(isSafe);
    const copyLabel = () => `Copy a command for ${fitsCommand() ? counted(shown.length) : `up to ${COMMAND} cases`}`;
    copyShown.addEventListener("click", () => copy(copyShown, commandOf(shown), copyLabel));

    const apply = () => {
        const tests = input.value.toLowerCase().split(/\s+/).filter(Boolean).map((word) => (row) => row.text().includes(word));
        for (const choice of choices) {
            const isChosen = choice.chosen !== undefined;
            choice.label.classList.toggle("chosen", isChosen);
            if (isChosen) tests.unshift(choice.test());
        }
        shown = rows.filter((row) => tests.every((test) => test(row)));
        page = 0;
        show();
    };

    // Chooses these values by the names of their columns, and any value of other columns.
    const select = (values) => {
        input.value = "";
        for (const choice of choices) choice.chosen = values[choice.name];
        apply();
        input.focus({ preventScroll: true });
    };

    const turn = (id, to) => document.getElementById(id).addEventListener("click", () => {
        page = to();
        show();
    });
    turn("first", () => 0);
    turn("previous", () => page - 1);
    turn("next", () => page + 1);
    turn("last", () => Infinity);

    let waiting;
    input.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(apply, 200);
    });
    document.getElementById("filter-form").addEventListener("submit", (event) => {
        event.preventDefault();
        clearTimeout(waiting);
        apply();
    });
    document.getElementById("clear").addEventListener("click", () => select({}));
    for (const button of document.querySelectorAll("button.select")) {
        button.addEventListener("click", () => {
            select(button.dataset);
            document.getElementById("cases").scrollIntoView();
        });
    }
    document.getElementById("choices").prepend(...choices.map((choice) => choice.label));
    for (const place of document.querySelectorAll(".actions")) place.hidden = false;
    for (const command of document.querySelectorAll("pre.command")) {
        const box = element("div", { class: "with-copy" });
        command.replaceWith(box);
        const what = box.closest("div:not(.with-copy)")?.querySelector("dt")?.textContent ?? "command";
        box.append(command, copyButton(`Copy: ${what}`, command.textContent));
    }
    const heads = ["Case", ...(isComparison ? ["Change"] : []), "Verdict", "Class", "Finding", "What happened", "Line", "Command"];
    document.getElementById("columns").replaceChildren(...heads.map((head) => element("th", { scope: "col" }, head)));
    document.getElementById("table").hidden = false;
    show();
    document.documentElement.dataset.ready = "true";
})();
