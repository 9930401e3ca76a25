// The table of cases: its rows from the JSON of the page, its filter, and its pages. Texts become text nodes,
// so that nothing in them is read as HTML.
(() => {
    const PAGE = 100;
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
        clauses() { return this.cells[column.clauses].map((place) => data.texts[place]); }
        parsed() { return (this.line_ ??= Filter.parseLine(this.line)); }
        text() { return `${this.line}\n${this.get("what")}`.toLowerCase(); }
    }

    const rows = data.rows.map((cells) => new Row(cells));
    const cards = new Map();
    for (const card of document.querySelectorAll("[data-finding]")) cards.set(card.dataset.finding, card.id);
    const [input, error, found] = ["filter", "filter-error", "filter-count"].map((id) => document.getElementById(id));
    const number = new Intl.NumberFormat("en");
    let shown = rows;
    let page = 0;

    const copy = async (button, text) => {
        const say = (words) => {
            button.textContent = words;
            setTimeout(() => { button.textContent = "Copy"; }, 1500);
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
        button.addEventListener("click", () => copy(button, text));
        return button;
    };

    const words = (id) => id.replace(/-/g, " ");
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
        // A quote in a line of another version could end the word in a shell.
        const safe = !row.line.includes("'");
        cells.push(element("td", {}, safe ? copyButton(`Copy the command of case ${row.index}`, `${data.command} '${row.line}'`) : ""));
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
        const all = number.format(rows.length);
        found.textContent = shown === rows ? `${all} cases` : `${number.format(shown.length)} of ${all} cases`;
    };

    const apply = () => {
        let holds;
        try {
            holds = Filter.compile(input.value, data);
        } catch (mistake) {
            if (mistake.at === undefined) throw mistake;
            const part = input.value.slice(mistake.at, mistake.at + mistake.length);
            const where = part ? ` (column ${mistake.at + 1}: ${part})` : "";
            error.textContent = `${mistake.message[0].toUpperCase()}${mistake.message.slice(1)}${where}`;
            input.setAttribute("aria-invalid", "true");
            return;
        }
        error.textContent = "";
        input.removeAttribute("aria-invalid");
        shown = input.value.trim() === "" ? rows : rows.filter((row) => holds(row) === true);
        page = 0;
        show();
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
    document.getElementById("clear").addEventListener("click", () => {
        input.value = "";
        apply();
        input.focus();
    });
    for (const button of document.querySelectorAll("[data-filter]")) {
        button.addEventListener("click", () => {
            input.value = button.dataset.filter;
            apply();
            document.getElementById("cases").scrollIntoView();
            input.focus({ preventScroll: true });
        });
    }
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
