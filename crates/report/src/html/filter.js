"use strict";
// The filter of the table: the predicate language over the line of a case, with more names for its result.
// `Filter.compile(text, known)` returns a function of a row, or throws an error with the place of the mistake.
// A condition is true, false or undefined, by Kleene's logic. Integers are mathematical: each one is a BigInt.
const Filter = (() => {
    const KEYWORDS = new Set([
        "and", "or", "not", "any", "all", "sum", "product", "axis", "axes", "in", "mod", "if", "then", "else",
    ]);
    const TENSORS = ["InputTensor", "OutputTensor"];
    const FIELDS = {
        Sizes: "list", Strides: "list", PackedStrides: "list", DataType: "name", DimensionCount: "integer",
        Flags: "integer", TotalTensorSizeInBytes: "integer", GuaranteedBaseOffsetAlignment: "integer", ElementSize: "integer",
    };
    const OF_RESULT = ["verdict", "class", "finding", "known", "change", "old", "new"];
    const FUNCTIONS = { abs: 1, min: 2, max: 2, clamp: 3, align: 2, length: 1, present: 1 };

    class Mistake extends Error {
        constructor(message, at, length) {
            super(message);
            this.at = at;
            this.length = Math.max(length, 1);
        }
    }

    // The names of clauses as `violation` has them: without operator and tensor, with underscores.
    const shortName = (clause) => clause.replace(/^[^.]*\.(input\.|output\.)?/, "").replace(/[-.]/g, "_");
    const plain = (name) => name.replace(/_/g, "-");

    function tokens(text, values) {
        const all = [];
        const forms = [
            ["space", /\s+/y], ["string", /"[^"]*"|'[^']*'/y], ["number", /0x[0-9a-fA-F]+|\d+/y],
            ["word", /[A-Za-z_][\w.]*(?:-[\w.]+)*/y], ["sign", /==|!=|<=|>=|[-<>+*/(),[\]^]/y],
        ];
        for (let at = 0; at < text.length;) {
            let found;
            for (const [kind, form] of forms) {
                form.lastIndex = at;
                const match = form.exec(text);
                if (match) { found = { kind, text: match[0], at }; break; }
            }
            if (!found) throw new Mistake(`\`${text[at]}\` has no meaning here`, at, 1);
            // A hyphen belongs to a known value such as `wrong-value`, and subtracts otherwise.
            if (found.kind === "word" && found.text.includes("-") && !values.has(plain(found.text))) {
                found.text = found.text.slice(0, found.text.indexOf("-"));
            }
            at += found.text.length;
            if (found.kind !== "space") all.push(found);
        }
        all.push({ kind: "end", text: "", at: text.length });
        return all;
    }

    // The fields of a line, by their names. A line is parsed once.
    function parseLine(line) {
        const words = line.split(/\s+/);
        const fields = new Map();
        for (const word of words.slice(2)) {
            const sign = word.indexOf("=");
            if (sign > 0) fields.set(word.slice(0, sign), word.slice(sign + 1));
        }
        return { operator: words[0], type: words[1] ?? "", fields, lists: new Map() };
    }

    const integer = (text) => (text !== undefined && /^-?\d+$/.test(text) ? BigInt(text) : undefined);

    function listOf(parsed, key) {
        if (parsed.lists.has(key)) return parsed.lists.get(key);
        const text = parsed.fields.get(key);
        let list;
        if (text !== undefined && text !== "null") list = text === "" ? [] : text.split(",").map(integer);
        parsed.lists.set(key, list);
        return list;
    }

    function packed(sizes) {
        const strides = new Array(sizes.length);
        let step = 1n;
        for (let axis = sizes.length - 1; axis >= 0; axis--) {
            strides[axis] = step;
            step *= sizes[axis] ?? 0n;
        }
        return strides;
    }

    const elementSize = (type) => {
        const bits = /\d+$/.exec(type);
        return bits ? BigInt(bits[0]) / 8n : undefined;
    };

    function tensorField(tensor, field) {
        const key = tensor === "InputTensor" ? "in" : "out";
        const sizes = (parsed) => listOf(parsed, key);
        const strides = (parsed) => listOf(parsed, `${tensor}.Strides`) ?? (sizes(parsed) && packed(sizes(parsed)));
        const type = (parsed) => parsed.fields.get(`${tensor}.DataType`) ?? parsed.type;
        const isNull = (parsed) => parsed.fields.get(tensor) === "null";
        const total = (parsed) => {
            const [lengths, steps, size] = [sizes(parsed), strides(parsed), elementSize(type(parsed))];
            if (!lengths || !steps || size === undefined || lengths.length !== steps.length) return 0n;
            if (lengths.some((length) => length < 1n)) return 0n;
            const last = lengths.reduce((sum, length, axis) => sum + (length - 1n) * steps[axis], 0n);
            return ((last + 1n) * size + 3n) / 4n * 4n;
        };
        const read = {
            Sizes: sizes,
            Strides: strides,
            PackedStrides: (parsed) => sizes(parsed) && packed(sizes(parsed)),
            DataType: type,
            ElementSize: (parsed) => elementSize(type(parsed)),
            DimensionCount: (parsed) => BigInt(sizes(parsed)?.length ?? 0),
            TotalTensorSizeInBytes: total,
        }[field] ?? (() => 0n);
        const isWritten = (parsed) => FIELDS[field] === "integer" && parsed.fields.has(`${tensor}.${field}`);
        return (parsed) => {
            if (isNull(parsed)) return undefined;
            return isWritten(parsed) ? integer(parsed.fields.get(`${tensor}.${field}`)) : read(parsed);
        };
    }

    function member(name, kind) {
        switch (kind) {
            case "list": return (parsed) => listOf(parsed, name);
            case "name": return (parsed) => parsed.fields.get(name) ?? parsed.type;
            case "count": return (parsed) => integer(parsed.fields.get(name)) ?? BigInt(listOf(parsed, "in")?.length ?? 0);
            default: return (parsed) => (parsed.fields.has(name) ? integer(parsed.fields.get(name)) : 0n);
        }
    }

    // Every name, with its kind and the function that reads it from a row.
    function names(known) {
        const all = new Map();
        const ofLine = (name, kind, read) => all.set(name, { kind, read: (row) => read(row.parsed()) });
        for (const tensor of TENSORS) {
            for (const [field, kind] of Object.entries(FIELDS)) {
                ofLine(`${tensor}.${field}`, kind, tensorField(tensor, field));
            }
            // Strides have values where their pointer is null: `present` and `length` ask the pointer.
            all.get(`${tensor}.Strides`).pointer = (row) => listOf(row.parsed(), `${tensor}.Strides`);
            const isNull = (row) => row.parsed().fields.get(tensor) === "null";
            all.set(tensor, { kind: "tensor", read: () => undefined, pointer: (row) => (isNull(row) ? undefined : tensor) });
        }
        for (const side of ["InputBinding", "OutputBinding"]) {
            ofLine(`${side}.Offset`, "integer", (parsed) => integer(parsed.fields.get(`${side}.Offset`) ?? "0"));
        }
        for (const [operator, members] of Object.entries(known.operators)) {
            for (const [name, kind] of Object.entries(members)) {
                const read = member(name, kind);
                const other = all.get(name)?.read;
                const own = (row) => (row.parsed().operator === operator ? read(row.parsed()) : other?.(row));
                all.set(name, { kind: kind === "list" || kind === "name" ? kind : "integer", read: own });
            }
        }
        ofLine("operator", "name", (parsed) => parsed.operator);
        ofLine("rank", "integer", (parsed) => listOf(parsed, "in") && BigInt(listOf(parsed, "in").length));
        for (const name of OF_RESULT) all.set(name, { kind: "name", read: (row) => row.get(name) });
        all.set("clause", { kind: "name", read: (row) => row.clauses() });
        all.set("violation", { kind: "name", read: (row) => row.clauses().map(shortName) });
        all.set("violations", { kind: "integer", read: (row) => BigInt(row.clauses().length) });
        all.set("index", { kind: "integer", read: (row) => BigInt(row.index) });
        for (const validity of ["valid", "invalid", "open"]) {
            all.set(validity, { kind: "condition", read: (row) => row.get("validity") === validity });
        }
        all.set("true", { kind: "condition", read: () => true });
        all.set("false", { kind: "condition", read: () => false });
        return all;
    }

    // The name that differs from a mistyped one in the fewest letters.
    function closest(name, all) {
        const distance = (one, other) => {
            let row = Array.from({ length: other.length + 1 }, (_, place) => place);
            for (let i = 1; i <= one.length; i++) {
                const next = [i];
                for (let j = 1; j <= other.length; j++) {
                    const change = one[i - 1].toLowerCase() === other[j - 1].toLowerCase() ? 0 : 1;
                    next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + change));
                }
                row = next;
            }
            return row[other.length];
        };
        let [best, least] = [undefined, Math.max(2, Math.floor(name.length / 3)) + 1];
        for (const other of all) {
            const far = distance(name, other);
            if (far < least) [best, least] = [other, far];
        }
        return best;
    }

    const KINDS = { integer: "a number", condition: "a condition", name: "a name", value: "a name", text: "a text", tensor: "a tensor" };

    class Parser {
        constructor(text, known) {
            this.known = known;
            this.values = new Set(Object.values(known.values).flat().map(plain));
            known.values.clause.forEach((clause) => this.values.add(plain(shortName(clause))));
            ["broken", "changed", "new-failing", "answered", "fixed", "gone", "same"].forEach((kind) => this.values.add(kind));
            this.names = names(known);
            this.all = tokens(text, this.values);
            this.place = 0;
            // The number of quantifiers around the place, and whether a value of an axis was used.
            this.axes = 0;
            this.usesAxes = false;
        }

        get token() { return this.all[this.place]; }
        is(...texts) { return this.token.kind !== "string" && texts.includes(this.token.text); }
        take() { return this.all[this.place++]; }
        accept(...texts) { return this.is(...texts) ? this.take() : undefined; }
        fail(message, token = this.token) { throw new Mistake(message, token.at, token.text.length); }
        expect(text) {
            const found = this.token.kind === "end" ? "the end" : `\`${this.token.text}\``;
            return this.accept(text) ?? this.fail(`expected \`${text}\` here, found ${found}`);
        }

        whole() {
            const node = this.condition(this.parseOr());
            if (this.token.kind !== "end") this.fail(`\`${this.token.text}\` cannot follow here; join conditions by \`and\` or \`or\``);
            return node.run;
        }

        // A node that is a condition. A text is one: the line or what the backend did contains it.
        condition(node) {
            if (node.kind === "text") {
                const text = node.value.toLowerCase();
                return { ...node, kind: "condition", run: (row) => row.text().includes(text) };
            }
            if (node.kind !== "condition") {
                throw new Mistake(`expected a condition, such as a comparison, and this is ${KINDS[node.kind]}`, node.at, node.length);
            }
            return node;
        }

        number(node) {
            if (node.kind !== "integer") {
                throw new Mistake(`expected a number, and this is ${KINDS[node.kind]}`, node.at, node.length);
            }
            return node;
        }

        // A condition or a number.
        parseOr() {
            return this.is("if") ? this.parseIf() : this.parseAnyOf();
        }

        parseIf() {
            const { at } = this.take();
            const condition = this.condition(this.parseOr()).run;
            this.expect("then");
            const one = this.parseOr();
            this.expect("else");
            const other = this.parseOr();
            if (one.kind !== other.kind) throw new Mistake("the branches of this `if` are of different kinds", at, 2);
            return { kind: one.kind, at, length: 2, run: (row, axis) => {
                const held = condition(row, axis);
                return held === undefined ? undefined : held ? one.run(row, axis) : other.run(row, axis);
            } };
        }

        parseAnyOf() {
            let left = this.parseAnd();
            while (this.accept("or")) {
                const [one, other] = [this.condition(left).run, this.condition(this.parseAnd()).run];
                left = { ...left, kind: "condition", run: (row, axis) => {
                    const first = one(row, axis);
                    if (first === true) return true;
                    const second = other(row, axis);
                    return second === true ? true : first === undefined || second === undefined ? undefined : false;
                } };
            }
            return left;
        }

        parseAnd() {
            let left = this.parseNot();
            while (this.accept("and")) {
                const [one, other] = [this.condition(left).run, this.condition(this.parseNot()).run];
                left = { ...left, kind: "condition", run: (row, axis) => {
                    const first = one(row, axis);
                    if (first === false) return false;
                    const second = other(row, axis);
                    return second === false ? false : first === undefined || second === undefined ? undefined : true;
                } };
            }
            return left;
        }

        parseNot() {
            const { at } = this.token;
            if (this.accept("not")) {
                const { run } = this.condition(this.parseNot());
                const negated = (row, axis) => { const held = run(row, axis); return held === undefined ? undefined : !held; };
                return { kind: "condition", at, length: 3, run: negated };
            }
            if (this.is("any", "all")) return this.parseAxes();
            return this.parseComparison();
        }

        parseAxes() {
            const word = this.take();
            if (!this.accept("axis", "axes")) this.fail(`expected \`axis\` after \`${word.text}\``);
            this.axes++;
            const { run } = this.condition(this.parseOr());
            this.axes--;
            const decides = word.text === "any";
            return { kind: "condition", at: word.at, length: word.text.length, run: (row) => {
                const rank = listOf(row.parsed(), "in")?.length ?? 0;
                let result = !decides;
                for (let axis = 0; axis < rank; axis++) {
                    const held = run(row, axis);
                    if (held === decides) return decides;
                    if (held === undefined) result = undefined;
                }
                return result;
            } };
        }

        parseComparison() {
            const first = this.parseSum();
            const member = this.is("in") && this.take();
            if (member) return this.parseIn(first);
            const parts = [];
            let left = first;
            while (this.is("==", "!=", "<", "<=", ">", ">=")) {
                const sign = this.take();
                const right = this.parseSum();
                parts.push(this.compare(left, sign, right));
                left = right;
            }
            if (parts.length === 0) return first.kind === "value" ? this.unknown(first) : first;
            const run = (row, axis) => {
                let result = true;
                for (const part of parts) {
                    const held = part(row, axis);
                    if (held === false) return false;
                    if (held === undefined) result = undefined;
                }
                return result;
            };
            return { kind: "condition", at: first.at, length: first.length, run };
        }

        unknown(node) {
            throw new Mistake(`\`${node.value}\` is a value: compare a name with it, as in \`${this.nameFor(node.value)} == ${node.value}\``, node.at, node.length);
        }

        nameFor(value) {
            const found = Object.entries(this.known.values).find(([, all]) => all.some((one) => plain(one) === plain(value)));
            return found ? found[0] : "violation";
        }

        parseIn(left) {
            this.expect("[");
            const parts = [];
            do {
                parts.push(this.compare(left, { text: "==", at: left.at }, this.parseSum()));
            } while (this.accept(","));
            this.expect("]");
            const run = (row, axis) => {
                const held = parts.map((part) => part(row, axis));
                return held.includes(true) ? true : held.includes(undefined) ? undefined : false;
            };
            return { kind: "condition", at: left.at, length: left.length, run };
        }

        compare(left, sign, right) {
            const isName = (node) => ["name", "value", "text"].includes(node.kind);
            if (isName(left) || isName(right)) {
                const other = isName(left) ? right : left;
                if (!isName(other)) throw new Mistake(`a name cannot be compared with ${KINDS[other.kind]}`, other.at, other.length);
                if (left.kind !== "name" && right.kind !== "name") throw new Mistake("neither side is a name of the case", left.at, left.length);
                if (sign.text !== "==" && sign.text !== "!=") this.fail("names have only `==`, `!=` and `in`", sign);
                const wanted = sign.text === "==";
                return (row, axis) => {
                    const [one, other] = [left.run(row, axis), right.run(row, axis)];
                    if (one === undefined || other === undefined) return undefined;
                    const same = [one].flat().some((a) => [other].flat().some((b) => plain(a) === plain(b)));
                    return same === wanted;
                };
            }
            const [one, other] = [this.number(left).run, this.number(right).run];
            const holds = {
                "==": (a, b) => a === b, "!=": (a, b) => a !== b, "<": (a, b) => a < b,
                "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
            }[sign.text];
            return (row, axis) => {
                const [a, b] = [one(row, axis), other(row, axis)];
                return a === undefined || b === undefined ? undefined : holds(a, b);
            };
        }

        arithmetic(left, right, compute) {
            const [one, other] = [this.number(left).run, this.number(right).run];
            return { ...left, kind: "integer", run: (row, axis) => {
                const [a, b] = [one(row, axis), other(row, axis)];
                return a === undefined || b === undefined ? undefined : compute(a, b);
            } };
        }

        parseSum() {
            let left = this.parseProduct();
            for (let sign; (sign = this.accept("+", "-"));) {
                left = this.arithmetic(left, this.parseProduct(), sign.text === "+" ? (a, b) => a + b : (a, b) => a - b);
            }
            return left;
        }

        parseProduct() {
            const mod = (a, b) => { const size = b < 0n ? -b : b; return size === 0n ? undefined : ((a % size) + size) % size; };
            const divide = (a, b) => {
                if (b === 0n) return undefined;
                const quotient = a / b;
                return a % b !== 0n && (a < 0n) !== (b < 0n) ? quotient - 1n : quotient;
            };
            const compute = { "*": (a, b) => a * b, "/": divide, mod };
            let left = this.parseUnary();
            for (let sign; (sign = this.accept("*", "/", "mod"));) {
                left = this.arithmetic(left, this.parseUnary(), compute[sign.text]);
            }
            return left;
        }

        parseUnary() {
            if (!this.is("-")) return this.parsePrimary();
            const { at } = this.take();
            const { run } = this.number(this.parseUnary());
            return { kind: "integer", at, length: 1, run: (row, axis) => { const a = run(row, axis); return a === undefined ? a : -a; } };
        }

        parsePrimary() {
            const token = this.take();
            const about = { at: token.at, length: token.text.length };
            if (token.kind === "number") {
                let value = BigInt(token.text);
                if (this.accept("^")) {
                    const power = this.take();
                    if (power.kind !== "number" || BigInt(power.text) > 128n) this.fail("expected a power from 0 to 128", power);
                    value **= BigInt(power.text);
                }
                return { ...about, kind: "integer", run: () => value };
            }
            if (token.kind === "string") {
                const value = token.text.slice(1, -1);
                return { ...about, kind: "text", value, run: () => value };
            }
            if (token.text === "(") {
                const outer = this.parseOr();
                this.expect(")");
                return outer;
            }
            if (token.text === "sum" || token.text === "product") return this.parseFold(token);
            if (token.kind === "word" && Object.hasOwn(FUNCTIONS, token.text) && this.is("(")) return this.parseCall(token);
            const isName = !KEYWORDS.has(token.text) || (token.text === "axis" && this.axes > 0);
            if (token.kind === "word" && isName) return this.parseName(token, about);
            this.place--;
            if (token.kind === "end") this.fail("the filter ends too early: a name or a number is missing");
            return this.fail(`expected a name or a number here, found \`${token.text}\``);
        }

        parseName(token, about) {
            if (token.text === "axis" && this.axes > 0) return { ...about, kind: "integer", run: (_, axis) => BigInt(axis) };
            const name = this.names.get(token.text);
            const defined = !name && this.parseDefined(token.text, about);
            if (defined) return defined;
            if (!name) {
                if (this.values.has(plain(token.text))) return { ...about, kind: "value", value: token.text, run: () => token.text };
                const defined = Object.values(this.known.definitions).flatMap(Object.keys);
                const all = [...this.names.keys(), ...defined, ...Object.values(this.known.values).flat()];
                const other = closest(token.text, all);
                this.fail(`\`${token.text}\` is not a name here${other ? `; did you mean \`${other}\`?` : ""}`, token);
            }
            if (name.kind === "tensor") return { ...about, kind: "tensor", pointer: name.pointer, run: name.read };
            if (name.kind !== "list") return { ...about, kind: name.kind, run: name.read };
            const pointer = name.pointer ?? name.read;
            if (this.axes === 0) return { ...about, kind: "list", pointer, run: () => undefined };
            this.usesAxes = true;
            return { ...about, kind: "integer", pointer, run: (row, axis) => name.read(row)?.[axis] };
        }

        // A definition of the specs: each operator has its own. `undefined` if none can be computed here.
        parseDefined(name, about) {
            const nodes = new Map();
            for (const [operator, all] of Object.entries(this.known.definitions)) {
                if (!Object.hasOwn(all, name)) continue;
                try {
                    const parser = new Parser(all[name], this.known);
                    parser.axes = 1;
                    const node = parser.parseOr();
                    if (parser.token.kind !== "end") continue;
                    nodes.set(operator, node);
                    this.usesAxes ||= parser.usesAxes;
                    about = { ...about, kind: node.kind, isOfAxis: about.isOfAxis || parser.usesAxes };
                } catch (mistake) {
                    if (!(mistake instanceof Mistake)) throw mistake;
                }
            }
            if (nodes.size === 0) return undefined;
            if (about.isOfAxis && this.axes === 0) return { ...about, kind: "list", run: () => undefined };
            return { ...about, run: (row, axis) => nodes.get(row.parsed().operator)?.run(row, axis) };
        }

        // `sum axes E` and `product axes E`.
        parseFold(token) {
            if (!this.accept("axis", "axes")) this.fail(`expected \`axes\` after \`${token.text}\``);
            this.axes++;
            const { run } = this.number(this.parseSum());
            this.axes--;
            const isSum = token.text === "sum";
            return { kind: "integer", at: token.at, length: token.text.length, run: (row) => {
                let all = isSum ? 0n : 1n;
                for (let axis = 0; axis < (listOf(row.parsed(), "in")?.length ?? 0); axis++) {
                    const value = run(row, axis);
                    if (value === undefined) return undefined;
                    all = isSum ? all + value : all * value;
                }
                return all;
            } };
        }

        parseCall(token) {
            this.expect("(");
            const given = [this.parseOr()];
            while (this.accept(",")) given.push(this.parseOr());
            this.expect(")");
            if (given.length !== FUNCTIONS[token.text]) this.fail(`\`${token.text}\` takes ${FUNCTIONS[token.text]} values, not ${given.length}`, token);
            const about = { kind: "integer", at: token.at, length: token.text.length };
            if (token.text === "length" || token.text === "present") {
                const { pointer, kind } = given[0];
                if (!pointer || (kind === "tensor" && token.text === "length")) throw new Mistake(`\`${token.text}\` takes a list, such as \`InputTensor.Strides\``, given[0].at, given[0].length);
                if (token.text === "present") return { ...about, kind: "condition", run: (row) => pointer(row) !== undefined };
                return { ...about, run: (row) => { const all = pointer(row); return all && BigInt(all.length); } };
            }
            const compute = {
                abs: (a) => (a < 0n ? -a : a), min: (a, b) => (a < b ? a : b), max: (a, b) => (a > b ? a : b),
                clamp: (x, low, high) => (x < low ? low : x > high ? high : x),
                align: (x, n) => (n <= 0n ? undefined : ((x + n - 1n) / n) * n),
            }[token.text];
            const runs = given.map((node) => this.number(node).run);
            return { ...about, run: (row, axis) => {
                const numbers = runs.map((run) => run(row, axis));
                return numbers.includes(undefined) ? undefined : compute(...numbers);
            } };
        }
    }

    // A list outside `any axis` cannot be compared: the kind says so, with a better message.
    KINDS.list = "a list: write `any axis` or `all axes` before the condition";

    return {
        compile: (text, known) => (text.trim() === "" ? () => true : new Parser(text, known).whole()),
        parseLine,
    };
})();
