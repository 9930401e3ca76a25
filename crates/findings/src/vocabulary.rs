//! The vocabulary of predicates: integer expressions and conditions about a desc or an axis, from an
//! operator's signature, definitions and clauses. Atoms compare them with numbers and with each other.

use dmlcts_model::{DataType, MemberKind, Side};
use dmlcts_spec::{
    Clause, ElementKind, Operator, Scope,
    expression::{Binary, Expression, Form, parse},
};

/// What a term's value is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ValueKind {
    /// A number.
    Number,
    /// A list of the desc: a number that is compared with other lists.
    List,
    /// A list's number on another axis, which is compared with lists.
    OtherAxis,
    /// A sum of two lists' numbers. Only its parity is asked.
    Parity,
    /// A number of elements, compared with other such numbers.
    Elements,
    /// One of these names.
    Name(Vec<(i64, String)>),
    /// A condition, with the values 0 and 1.
    Condition,
    /// The names of the violated clauses, as a set: bit `n` stands for the name of index `n` here.
    Violation(Vec<String>),
    /// The condition of a clause about the desc, and the index of the clause's name.
    Clause(usize),
}

/// An expression in the language of predicates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) scope: Scope,
    pub(crate) kind: ValueKind,
    /// How hard it is to read.
    pub(crate) weight: u32,
    /// The divisors by which multiples are told.
    pub(crate) divisors: &'static [i64],
    /// Whether it is about the data that a case moves.
    pub(crate) is_of_data: bool,
}

/// The weight of a name, of an expression of two names, and of a longer one.
pub(crate) const NAME: u32 = 4;
const PAIR: u32 = 12;
const LONG: u32 = 20;

/// The name of a clause that a desc violates.
pub(crate) const VIOLATION: &str = "violation";

/// Multiples that code depends on: lanes, words and lines of a cache.
const POWERS: &[i64] = &[2, 3, 4, 8, 16, 32, 64];
/// The same for numbers of elements: groups of threads, too.
const GROUPS: &[i64] = &[2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/// The ranges of narrow unsigned numbers.
const MODULI: [i64; 2] = [1 << 8, 1 << 16];
/// The same for codes, which bit fields hold, too.
const CODES: [i64; 4] = [1 << 3, 1 << 4, 1 << 8, 1 << 16];
const BYTES: &[i64] = &[4, 8, 16, 32, 64, 128, 256, 1024, 4096];

/// Every word about an operator's cases.
pub(crate) fn words(operator: &Operator) -> Vec<Word> {
    let mut words = Words(Vec::new());
    words.of_desc(operator);
    words.of_tensors();
    let lists = words.lists(operator);
    words.of_axes(operator, &lists);
    words.of_other_axes(&lists);
    words.of_narrow_signs(&lists);
    words.of_moved_axes(operator);
    words.of_periods(operator, &lists);
    words.of_rules(operator);
    words.of_data(operator);
    words.0
}

struct Words(Vec<Word>);

impl Words {
    fn add(&mut self, scope: Scope, kind: ValueKind, weight: u32, text: impl Into<String>) -> &mut Word {
        let place = self.0.len();
        self.0.push(Word { text: text.into(), scope, kind, weight, divisors: &[], is_of_data: false });
        &mut self.0[place]
    }

    fn desc(&mut self, weight: u32, text: impl Into<String>) -> &mut Word {
        self.add(Scope::Desc, ValueKind::Number, weight, text)
    }

    fn axis(&mut self, weight: u32, text: impl Into<String>) -> &mut Word {
        self.add(Scope::Axis, ValueKind::Number, weight, text)
    }

    fn list(&mut self, weight: u32, text: impl Into<String>) -> &mut Word {
        self.add(Scope::Axis, ValueKind::List, weight, text)
    }

    fn condition(&mut self, weight: u32, text: impl Into<String>) {
        self.add(Scope::Desc, ValueKind::Condition, weight, text);
    }

    fn axis_condition(&mut self, weight: u32, text: impl Into<String>) {
        self.add(Scope::Axis, ValueKind::Condition, weight, text);
    }

    /// Members with one value, and what all operators have.
    fn of_desc(&mut self, operator: &Operator) {
        self.desc(NAME, "rank");
        // The data types of one size differ in their data, so a type is the better guess.
        self.desc(NAME + 4, "InputTensor.ElementSize");
        self.add(Scope::Desc, ValueKind::Name(data_types()), NAME, "InputTensor.DataType");
        self.condition(PAIR, "InputTensor.ElementSize == OutputTensor.ElementSize");
        for modulus in MODULI {
            let [input, output] =
                Side::BOTH.map(|side| format!("code({}.DataType) mod {modulus}", side.member_name()));
            self.condition(LONG, format!("{input} == {output}"));
        }
        for side in Side::BOTH {
            self.desc(NAME + 6, side.binding_name()).divisors = BYTES;
        }
        for member in &operator.signature().members {
            match &member.kind {
                MemberKind::U32 | MemberKind::I32 => {
                    self.desc(NAME, member.name.as_str()).divisors = POWERS;
                }
                MemberKind::Enumeration(enumeration) => {
                    let names = enumeration.enumerators.iter().map(|it| (it.value, it.name.clone()));
                    self.add(Scope::Desc, ValueKind::Name(names.collect()), NAME, member.name.as_str());
                    self.desc(PAIR, format!("code({})", member.name));
                    let codes = enumeration.enumerators.iter().map(|it| it.value.to_string());
                    let codes = codes.collect::<Vec<_>>().join(", ");
                    for modulus in CODES {
                        self.condition(LONG, format!("code({}) mod {modulus} in [{codes}]", member.name));
                    }
                }
                MemberKind::Count => {
                    self.desc(PAIR, format!("{} - rank", member.name));
                    for modulus in MODULI {
                        self.condition(LONG, format!("{} mod {modulus} == rank", member.name));
                    }
                }
                MemberKind::DataType => {
                    self.add(Scope::Desc, ValueKind::Name(data_types()), NAME + 2, member.name.as_str());
                    self.condition(PAIR, format!("size({}) == InputTensor.ElementSize", member.name));
                    for modulus in CODES {
                        let text =
                            format!("code({}) mod {modulus} == code(InputTensor.DataType)", member.name);
                        self.condition(LONG, text);
                    }
                }
                MemberKind::Scalar => {
                    self.desc(NAME + 6, format!("spare({})", member.name)).divisors = &MODULI;
                }
                _ => {}
            }
        }
    }

    /// The memory of both tensors.
    fn of_tensors(&mut self) {
        for tensor in Side::BOTH.map(Side::member_name) {
            let elements = format!("(product axes {tensor}.Sizes)");
            let span = format!("(1 + sum axes ({tensor}.Sizes - 1) * {tensor}.Strides)");
            let size = format!("{tensor}.ElementSize");
            self.condition(NAME, format!("present({tensor}.Strides)"));
            self.add(Scope::Desc, ValueKind::Elements, PAIR, elements.clone()).divisors = GROUPS;
            self.add(Scope::Desc, ValueKind::Elements, LONG, span.clone()).divisors = POWERS;
            self.desc(LONG, format!("{elements} * {size}")).divisors = BYTES;
            self.desc(LONG + 4, format!("{span} * {size}")).divisors = BYTES;
            self.desc(PAIR, format!("{tensor}.TotalTensorSizeInBytes")).divisors = BYTES;
            // Without the innermost axis: rows.
            let rows = format!("(product axes (if axis == rank - 1 then 1 else {tensor}.Sizes))");
            self.add(Scope::Desc, ValueKind::Elements, LONG, rows).divisors = POWERS;
            for bits in [32, 64] {
                self.desc(LONG, format!("{elements} mod 2^{bits}"));
            }
            // What each tensor needs: exactly, in 32 bits and rounded up; without its last element; and
            // without its strides.
            for (needed, more) in [
                (format!("{span} * {size}"), 4),
                (format!("{span} * {size} mod 2^32"), 8),
                (format!("align({span} * {size}, 4)"), 8),
                (format!("align((sum axes ({tensor}.Sizes - 1) * {tensor}.Strides) * {size}, 4)"), 8),
                (format!("align({elements} * {size}, 4)"), 8),
                // Elements of a type that has no size, taken for bytes.
                (format!("align({span}, 4)"), 0),
            ] {
                self.desc(LONG + more, format!("{tensor}.TotalTensorSizeInBytes - {needed}"));
            }
            for modulus in MODULI {
                let codes = DataType::all().map(|kind| kind.0.to_string()).collect::<Vec<_>>().join(", ");
                self.condition(LONG, format!("code({tensor}.DataType) mod {modulus} in [{codes}]"));
            }
            self.desc(PAIR, format!("code({tensor}.DataType)"));
            self.desc(NAME + 6, format!("{tensor}.Flags"));
            let alignment = format!("{tensor}.GuaranteedBaseOffsetAlignment");
            self.desc(PAIR, format!("{alignment} mod {size}"));
            self.desc(NAME + 6, alignment).divisors = POWERS;
        }
        // How many times the input the output is, rounded down and up.
        let [input, output] = Side::BOTH.map(|side| format!("(product axes {}.Sizes)", side.member_name()));
        self.desc(PAIR, format!("{output} / {input}"));
        self.desc(PAIR + 4, format!("({output} - 1) / {input}"));
        self.condition(PAIR, "overlaps(InputTensor)");
        // The last element that is read, and its distance from the start in bytes.
        let last = "(sum axes highest * InputTensor.Strides)";
        self.add(Scope::Desc, ValueKind::Elements, PAIR, last);
        self.desc(LONG, format!("{last} * InputTensor.ElementSize"));
    }

    /// The lists of an operator's descs, the unsigned members first.
    fn lists(&mut self, operator: &Operator) -> Lists {
        let mut lists = Lists::default();
        for member in &operator.signature().members {
            match member.kind {
                MemberKind::U32List => lists.unsigned.push(member.name.clone()),
                MemberKind::I32List => lists.signed.push(member.name.clone()),
                _ => {}
            }
        }
        for (name, weight) in lists
            .unsigned
            .iter()
            .chain(&lists.signed)
            .map(|name| (name.clone(), NAME))
            .chain(lists.signed.iter().map(|name| (format!("abs({name})"), NAME + 6)).chain(
                [("Sizes", 1), ("Strides", 1), ("PackedStrides", 3)].into_iter().flat_map(|(field, more)| {
                    Side::BOTH.map(|side| (format!("{}.{field}", side.member_name()), NAME + more))
                }),
            ))
        {
            self.list(weight, name).divisors = POWERS;
        }
        for of_all in ["present(LIST)", "length(LIST) == rank"] {
            let each = lists.unsigned.iter().chain(&lists.signed).map(|name| of_all.replace("LIST", name));
            let all = each.collect::<Vec<_>>().join(" and ");
            // It is long, and says one thing.
            self.condition(NAME + 2, format!("({all})"));
        }
        lists
    }

    /// Numbers on an axis that are computed from its lists.
    fn of_axes(&mut self, operator: &Operator, lists: &Lists) {
        self.axis(NAME, "axis");
        for tensor in Side::BOTH.map(Side::member_name) {
            for of in ["Sizes", "Strides"] {
                let bytes = format!("{tensor}.{of} * {tensor}.ElementSize");
                self.axis(PAIR + 4, bytes).divisors = BYTES;
            }
        }
        self.axis(PAIR, "rank - 1 - axis");
        self.axis(PAIR, "InputTensor.Sizes - OutputTensor.Sizes");
        for definition in operator.scope().definitions() {
            let is_usable = definition.term.per_axis && !definition.term.uses_coordinate;
            if is_usable && !definition.name.contains('.') {
                let is_read = matches!(definition.name.as_str(), "lowest" | "highest");
                let weight = if is_read { NAME + 2 } else { PAIR + 2 };
                self.list(weight, definition.name.as_str());
                if let Some(text) = off_by_one(&definition.expression.to_string()) {
                    self.list(LONG, text);
                }
                self.axis_condition(LONG, format!("{} mod 2^32 >= 2^31", definition.name));
            }
        }
        for step in &lists.signed {
            // The window that the output needs.
            self.list(PAIR + 2, format!("1 + (OutputTensor.Sizes - 1) * abs({step})"));
        }
        for (place, one) in lists.unsigned.iter().enumerate() {
            for other in &lists.unsigned[place + 1..] {
                self.list(PAIR, format!("{one} + {other}"));
                self.list(PAIR, format!("max({one}, {other})"));
                self.axis(PAIR, format!("{one} - {other}"));
                // The rest of the axis and a step, which code adds up to divide by the step.
                self.axis(LONG, format!("InputTensor.Sizes - {one} + {other}"));
            }
            self.axis(PAIR, format!("{one} / InputTensor.Sizes"));
            self.axis(PAIR + 4, format!("({one} - 1) / InputTensor.Sizes"));
            self.axis(PAIR + 4, format!("{one} / (InputTensor.Sizes - 1)"));
            for step in &lists.signed {
                self.list(PAIR + 4, format!("{one} + (OutputTensor.Sizes - 1) * abs({step})"));
                self.axis(PAIR, format!("{one} + abs({step})"));
                self.axis(PAIR, format!("{one} * {step}"));
                self.axis(PAIR, format!("{one} mod {step}"));
                self.axis(PAIR + 4, format!("({one} - 1) mod {step}"));
            }
        }
    }

    /// Numbers of other axes, and conditions on two axes: code that merges, transposes or reverses axes
    /// depends on more than one.
    fn of_other_axes(&mut self, lists: &Lists) {
        let of_tensors = Side::BOTH.map(Side::member_name).into_iter();
        let of_tensors =
            of_tensors.flat_map(|tensor| [".Sizes", ".Strides"].map(|of| tensor.to_owned() + of));
        let members: Vec<String> =
            lists.unsigned.iter().chain(&lists.signed).cloned().chain(of_tensors).collect();
        for (place, name) in members.iter().enumerate() {
            for other in ["next", "previous", "first", "last", "opposite"] {
                self.add(Scope::Axis, ValueKind::OtherAxis, PAIR + 4, format!("{other}({name})"));
            }
            for second in &members[place + 1..] {
                self.add(Scope::Axis, ValueKind::Parity, PAIR, format!("{name} + {second}"));
            }
        }
        for tensor in Side::BOTH.map(Side::member_name) {
            self.axis_condition(LONG, format!("{tensor}.Strides == next({tensor}.Sizes * {tensor}.Strides)"));
        }
        // Code that merges axes may take the output's sizes for the input's.
        self.axis_condition(LONG, "InputTensor.Strides == next(OutputTensor.Sizes * InputTensor.Strides)");
        for step in &lists.signed {
            for other in ["next", "previous", "later"] {
                self.axis_condition(LONG, format!("{other}({step} < 0)"));
            }
            self.axis_condition(
                LONG,
                format!("previous(InputTensor.Strides) == InputTensor.Strides * {step}"),
            );
        }
        for walked in ["highest > 0", "InputTensor.Strides > 0", "OutputTensor.Sizes > 1"] {
            for other in ["next", "previous"] {
                self.axis_condition(LONG, format!("{other}({walked})"));
            }
        }
    }

    /// Lists whose values become negative in a narrow signed number, or change their sign there.
    fn of_narrow_signs(&mut self, lists: &Lists) {
        for modulus in MODULI {
            let half = modulus / 2;
            for name in &lists.unsigned {
                self.axis_condition(LONG, format!("{name} mod {modulus} >= {half}"));
            }
            for name in &lists.signed {
                let low = format!("{name} mod {modulus} < {half}");
                self.axis_condition(LONG, format!("({name} < 0 and {low} or {name} >= 0 and not {low})"));
            }
        }
    }

    /// Axes whose first elements are not simply copied. Without its offset and stride, an axis would be.
    fn of_moved_axes(&mut self, operator: &Operator) {
        let definitions = operator.scope().definitions();
        let has = |name: &&str| definitions.iter().any(|definition| definition.name == *name);
        if let Some(first) = ["start", "lowest"].into_iter().find(has) {
            self.axis_condition(LONG, format!("({first} > 0 or highest >= OutputTensor.Sizes)"));
        }
    }

    /// Paddings and the periods after which the semantics repeat.
    fn of_periods(&mut self, operator: &Operator, lists: &Lists) {
        let periods = periods(operator);
        if periods.is_empty() {
            return;
        }
        for (place, one) in lists.unsigned.iter().enumerate() {
            for period in &periods {
                let others = lists.unsigned[place + 1..].iter();
                let differences = others.map(|other| format!("({one} - {other})"));
                for moved in [one.clone(), format!("2 * {one}")].into_iter().chain(differences) {
                    self.axis_condition(LONG, format!("{moved} mod {period} == 0"));
                }
            }
            for other in &lists.unsigned[place + 1..] {
                for size in ["InputTensor.Sizes", "(InputTensor.Sizes - 1)"] {
                    self.axis(LONG, format!("(max({one}, {other}) - 1) / {size}"));
                }
            }
        }
    }

    /// The number of violated clauses, and each clause as a condition.
    fn of_rules(&mut self, operator: &Operator) {
        self.desc(NAME, "violations");
        let names: Vec<String> =
            operator.clause_names().enumerators.iter().map(|it| it.name.clone()).collect();
        self.add(Scope::Desc, ValueKind::Violation(names.clone()), NAME + 2, VIOLATION);
        for (place, clause) in operator.clauses().iter().enumerate() {
            let name = names.iter().position(|name| *name == clause.name());
            let kind = match name.filter(|_| clause.scope == Scope::Desc) {
                Some(name) => ValueKind::Clause(name),
                None => ValueKind::Condition,
            };
            self.add(clause.scope, kind, LONG, format!("({})", clause.text));
            for part in parts(&clause.expression) {
                self.add(clause.scope, ValueKind::Condition, LONG, format!("({part})"));
            }
            let is_same = |other: &&Clause| other.scope == Scope::Desc && other.name() == clause.name();
            for other in operator.clauses()[place + 1..].iter().filter(is_same) {
                self.of_both(&clause.expression, &other.expression);
            }
            if let Some(text) = in_32_bits(operator, &clause.expression) {
                self.add(clause.scope, ValueKind::Condition, LONG, text);
            }
        }
    }
}

impl Words {
    /// A clause of both tensors, and the same without a part.
    fn of_both(&mut self, one: &Expression, other: &Expression) {
        self.condition(LONG + 4, format!("(({one}) and ({other}))"));
        for (one, other) in parts(one).iter().zip(parts(other)) {
            self.condition(LONG + 4, format!("(({one}) and ({other}))"));
        }
    }

    /// The data that a case moves.
    fn of_data(&mut self, operator: &Operator) {
        let has_padding = operator.semantics().fill.is_some();
        let first = self.0.len();
        for (verb, adjective) in [("moves", "moved"), ("pads", "padded")] {
            if verb == "pads" && !has_padding {
                continue;
            }
            for kind in ElementKind::ALL.map(ElementKind::name) {
                self.condition(NAME + 2, format!("{verb}({kind})"));
            }
            self.desc(NAME + 2, format!("{adjective}_precision"));
            self.desc(NAME + 2, format!("{adjective}_bits"));
            self.desc(NAME + 4, format!("{adjective}_signed_bits"));
            self.desc(NAME + 4, format!("{adjective}_lowest_bit"));
        }
        self.0[first..].iter_mut().for_each(|word| word.is_of_data = true);
    }
}

/// A definition with sizes in the place of last indices: `a + (n - 1) * s` becomes `a + n * s`. Code that
/// computes a bound is often wrong by this.
fn off_by_one(definition: &str) -> Option<String> {
    let text = definition.replace(" - 1)", ")");
    (text != definition).then(|| parse(&text).ok()).flatten().map(|expression| expression.to_string())
}

/// The operands of a condition's `and`s and `or`s, and the condition without one of them: code may forget
/// each.
fn parts(condition: &Expression) -> Vec<Expression> {
    let Form::Logic(logic, pair) = &condition.form else { return Vec::new() };
    let [one, other] = &**pair;
    let with = |pair| Expression::new(Form::Logic(*logic, Box::new(pair)), condition.span);
    let (of_one, of_other) = (parts(one), parts(other));
    let without = of_one.iter().map(|part| with([part.clone(), other.clone()]));
    let without_other = of_other.iter().map(|part| with([one.clone(), part.clone()]));
    let joined = without.chain(without_other).collect::<Vec<_>>();
    [vec![one.clone(), other.clone()], of_one, of_other, joined].concat()
}

/// A comparison of a sum with a member, as code that adds in 32 unsigned bits computes it.
fn in_32_bits(operator: &Operator, clause: &Expression) -> Option<String> {
    let Form::Compare(sum, others) = &clause.form else { return None };
    let [(comparison, bound)] = others.as_slice() else { return None };
    let is_sum = match &sum.form {
        Form::Name(name) => operator.scope().definitions().iter().any(|definition| definition.name == *name),
        Form::Binary(Binary::Add, _) => true,
        _ => false,
    };
    let is_compared = is_sum && matches!(bound.form, Form::Name(_));
    let text = format!("({sum}) mod 2^32 {} {bound}", comparison.symbol());
    is_compared.then(|| parse(&text).ok()).flatten().map(|expression| expression.to_string())
}

/// What the semantics divide coordinates by, as factors of products.
fn periods(operator: &Operator) -> Vec<String> {
    fn look(expression: &Expression, found: &mut Vec<String>) {
        if let Form::Binary(Binary::Modulo, pair) = &expression.form
            && !pair[1].names().is_empty()
        {
            let text = pair[1].to_string();
            found.push(if text.contains(' ') { format!("({text})") } else { text });
        }
        expression.form.for_each(|part| look(part, found));
    }
    let mut found = Vec::new();
    let definitions = operator.scope().definitions().iter().map(|definition| &definition.expression);
    let reads = operator.semantics().branches.iter().map(|branch| &branch.expression);
    definitions.chain(reads).for_each(|expression| look(expression, &mut found));
    found.sort();
    found.dedup();
    found
}

/// The names of the data types, by code.
fn data_types() -> Vec<(i64, String)> {
    let types = std::iter::once(DataType::UNKNOWN).chain(DataType::all());
    types.filter_map(|kind| Some((i64::from(kind.0), kind.name()?.to_owned()))).collect()
}

/// The names of an operator's lists.
#[derive(Default)]
struct Lists {
    unsigned: Vec<String>,
    signed: Vec<String>,
}
