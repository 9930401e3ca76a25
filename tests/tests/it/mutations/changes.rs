//! The changes of the spec files. A change replaces a part of an expression, moves or leaves out a value of a
//! row of support, or leaves out an answer.

use std::{collections::BTreeMap, fmt};

use dmlcts_model::{FeatureLevel, named_enum};
use dmlcts_spec::{Library, LoadError, Source, expression};
use serde_yaml::Value;

use super::{
    expressions,
    tree::{Node, Path},
};

named_enum! {
    /// The part of a spec that a change replaces or leaves out.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum Kind: id, from_id {
        /// An operation, such as `+`, `mod`, `and`, `min` or `any axis`.
        Operator = "operators",
        /// A literal.
        Constant = "constants",
        /// A comparison, such as `<` or `==`.
        Comparison = "comparisons",
        /// An `if` becomes one of its branches.
        Branch = "branches",
        /// An operand, a bound or a member of a list is left out.
        Operand = "operands",
        /// A level, a number of dimensions or a data type.
        Support = "support",
        /// An answer that a question allows is left out.
        Answer = "answers",
    }
}

/// One change of one file. Its text has the place, the old part and the new part.
pub(crate) struct Change {
    pub(crate) kind: Kind,
    /// The index of the file; 0 is the file that all operators share.
    file: usize,
    text: String,
    path: Path,
    /// The new value at the path; `None` removes it.
    value: Option<Value>,
}

/// The spec files, as trees.
pub(crate) struct Files {
    sources: Vec<Source>,
    trees: Vec<Value>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Files {
    pub(crate) fn embedded() -> Self {
        let sources = Library::embedded_sources();
        let tree = |source: &Source| serde_yaml::from_str(&source.text).expect("the embedded files are YAML");
        let trees = sources.iter().map(tree).collect();
        Self { sources, trees }
    }

    /// Every change of every file. Their texts are all different.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let mut all = Vec::new();
        for (file, (source, tree)) in self.sources.iter().zip(&self.trees).enumerate() {
            let mut finder = Finder { file, name: &source.name, all: &mut all };
            let root = Node::root(tree);
            finder.expressions(&root);
            finder.support(&root);
            finder.answers(&root);
        }
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for change in &mut all {
            let count = counts.entry(change.text.clone()).or_default();
            *count += 1;
            if *count > 1 {
                change.text = format!("{} (place {count})", change.text);
            }
        }
        all
    }

    /// Loads the specs with a change. If only one operator changes, the others are left out.
    pub(crate) fn load(&self, change: &Change) -> Result<Library, LoadError> {
        let mut tree = self.trees[change.file].clone();
        change.path.set(&mut tree, change.value.clone());
        let text = serde_yaml::to_string(&tree).expect("a tree is YAML");
        let changed = Source::new(&self.sources[change.file].name, text);
        let others = if change.file == 0 { &self.sources[1..] } else { &[] };
        let operator = (change.file > 0).then(|| changed.clone());
        let common = if change.file == 0 { changed } else { self.sources[0].clone() };
        let sources: Vec<Source> =
            std::iter::once(common).chain(operator).chain(others.iter().cloned()).collect();
        Library::load(&sources)
    }
}

/// Definitions that only predicates over cases use.
const FOR_PREDICATES: [&str; 2] = ["lowest", "highest"];

/// Finds the changes of one file.
struct Finder<'a> {
    file: usize,
    name: &'a str,
    all: &'a mut Vec<Change>,
}

impl Finder<'_> {
    /// Adds a change of a node. `id` names the node in the text.
    fn add(&mut self, kind: Kind, node: &Node<'_>, id: &str, (old, new): (&str, &str), value: Option<Value>) {
        let text = format!("{}, {id}: {old} → {new}", self.name);
        self.all.push(Change { kind, file: self.file, text, path: node.path.clone(), value });
    }

    /// Adds every change of an expression, if there is one.
    fn expression(&mut self, node: Option<&Node<'_>>, id: &str) {
        let Some((node, text)) = node.and_then(|node| Some((node, node.text()?))) else { return };
        let expression = expression::parse(text).expect("the embedded files are correct");
        let old = expression.to_string();
        let mut seen = vec![old.clone()];
        for (kind, changed) in expressions::changed(&expression) {
            let new = changed.to_string();
            if !seen.contains(&new) {
                let (short_old, short_new) = shortened(&old, &new);
                self.add(kind, node, id, (&short_old, &short_new), Some(Value::from(new.as_str())));
                seen.push(new);
            }
        }
    }

    fn expressions(&mut self, root: &Node<'_>) {
        for (key, word, field) in [
            ("clauses", "clause", "that"),
            ("questions", "question", "when"),
            ("bindings", "binding", "that"),
            ("notes", "note", "when"),
        ] {
            for member in root.list(key) {
                let id = format!("{word} {}", member.text_of("id"));
                self.expression(member.key(field).as_ref(), &id);
                for answer in member.list("allow") {
                    self.expression(answer.key("read").as_ref(), &format!("{id}, read"));
                }
            }
        }
        for (name, node) in root.mapping("let") {
            // No verdict depends on these.
            if FOR_PREDICATES.contains(&name) {
                continue;
            }
            self.expression(Some(&node), &format!("let {name}"));
        }
        let Some(semantics) = root.key("semantics") else { return };
        self.expression(semantics.key("read").as_ref(), "read");
        for (name, node) in semantics.mapping("reads") {
            self.expression(Some(&node), &format!("read {name}"));
        }
    }

    /// Changes rows of support (levels, numbers of dimensions and types) and the levels of enumerators.
    fn support(&mut self, root: &Node<'_>) {
        for row in root.list("support") {
            let id = format!("support since {}", row.text_of("since"));
            self.level(&row, &id);
            for (name, node) in row.mapping("dimensions") {
                let number = node.number().expect("a number of dimensions");
                for other in [number - 1, number + 1] {
                    let texts = [number, other].map(|number| format!("{name} {number}"));
                    self.add(Kind::Support, &node, &id, (&texts[0], &texts[1]), Some(Value::from(other)));
                }
            }
            for node in row.list("types") {
                self.add(Kind::Support, &node, &id, (node.text().unwrap_or_default(), "left out"), None);
            }
        }
        for enumerator in root.list("enumerations").iter().flat_map(|one| one.list("enumerators")) {
            self.level(&enumerator, &format!("enumerator {}", enumerator.text_of("name")));
        }
    }

    /// Moves the level of a row or an enumerator to the one before and the one after.
    fn level(&mut self, node: &Node<'_>, id: &str) {
        let Some(since) = node.key("since") else { return };
        let all: Vec<String> = FeatureLevel::all().iter().map(ToString::to_string).collect();
        let place = all.iter().position(|level| Some(level.as_str()) == since.text()).expect("a level");
        let others = [place.checked_sub(1), Some(place + 1)];
        for other in others.into_iter().flatten().filter_map(|place| all.get(place)) {
            let texts = [&all[place], other].map(|level| format!("since {level}"));
            self.add(Kind::Support, &since, id, (&texts[0], &texts[1]), Some(Value::from(other.as_str())));
        }
    }

    /// Leaves out each answer that a question allows.
    fn answers(&mut self, root: &Node<'_>) {
        for question in root.list("questions") {
            let id = format!("question {}", question.text_of("id"));
            for answer in question.list("allow") {
                let name = answer.entries().first().map_or("", |(name, _)| *name);
                self.add(Kind::Answer, &answer, &id, (&format!("allow {name}"), "left out"), None);
            }
        }
    }
}

/// Shortens two long texts to their difference and a few words beside it.
fn shortened(old: &str, new: &str) -> (String, String) {
    /// Texts up to this number of bytes stay whole.
    const SHORT: usize = 60;
    /// The number of words that stay on each side of a difference.
    const BESIDE: usize = 2;
    if old.len().max(new.len()) <= SHORT {
        return (old.to_owned(), new.to_owned());
    }
    let [old, new] = [old, new].map(|text| text.split(' ').collect::<Vec<_>>());
    let alike = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let before = alike(&mut old.iter().zip(&new));
    let after = alike(&mut old[before..].iter().rev().zip(new[before..].iter().rev()));
    let (before, after) = (before.saturating_sub(BESIDE), after.saturating_sub(BESIDE));
    let middle = |words: &[&str]| {
        let dots = |cut: usize| (cut > 0).then_some("…");
        let inside = words[before..words.len() - after].iter().copied();
        dots(before).into_iter().chain(inside).chain(dots(after)).collect::<Vec<_>>().join(" ")
    };
    (middle(&old), middle(&new))
}
