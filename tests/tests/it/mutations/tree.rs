//! Finds values in a YAML tree, and replaces them.

use serde_yaml::Value;

/// A step from a value to one inside it.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// The steps from the root of a file to a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(Vec<Step>);

/// A value, and the path to it.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    pub(crate) path: Path,
    value: &'a Value,
}

impl<'a> Node<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { path: Path::default(), value }
    }

    fn child(&self, step: Step, value: &'a Value) -> Self {
        let mut path = self.path.clone();
        path.0.push(step);
        Self { path, value }
    }

    /// The value of a key, if this is a mapping that has it.
    pub(crate) fn key(&self, key: &str) -> Option<Self> {
        Some(self.child(Step::Key(key.to_owned()), self.value.get(key)?))
    }

    /// The members of the list under a key; empty without the key.
    pub(crate) fn list(&self, key: &str) -> Vec<Self> {
        let Some(list) = self.key(key) else { return Vec::new() };
        let members = list.value.as_sequence().into_iter().flatten().enumerate();
        members.map(|(index, member)| list.child(Step::Index(index), member)).collect()
    }

    /// The values of the mapping under a key, by name; empty without the key.
    pub(crate) fn mapping(&self, key: &str) -> Vec<(&'a str, Self)> {
        self.key(key).map(|mapping| mapping.entries()).unwrap_or_default()
    }

    /// The values of this mapping, by name.
    pub(crate) fn entries(&self) -> Vec<(&'a str, Self)> {
        let entries = self.value.as_mapping().into_iter().flatten();
        let named = entries.filter_map(|(name, value)| Some((name.as_str()?, value)));
        named.map(|(name, value)| (name, self.child(Step::Key(name.to_owned()), value))).collect()
    }

    /// The text under a key; empty without the key.
    pub(crate) fn text_of(&self, key: &str) -> &'a str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    pub(crate) fn number(&self) -> Option<u64> {
        self.value.as_u64()
    }
}

impl Path {
    /// Replaces the value at this path, or removes it from its list.
    pub(crate) fn set(&self, root: &mut Value, value: Option<Value>) {
        let (last, before) = self.0.split_last().expect("a change is inside a file");
        let mut parent = root;
        for step in before {
            parent = match step {
                Step::Key(key) => &mut parent[key.as_str()],
                Step::Index(index) => &mut parent[*index],
            };
        }
        match (last, value) {
            (Step::Key(key), Some(value)) => parent[key.as_str()] = value,
            (Step::Index(index), Some(value)) => parent[*index] = value,
            (Step::Index(index), None) => {
                parent.as_sequence_mut().expect("an index is of a list").remove(*index);
            }
            (Step::Key(_), None) => unreachable!("only members of lists are left out"),
        }
    }
}
