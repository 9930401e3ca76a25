//! The declaration of a process, and the comparison of two declarations that should be equal.

use serde_json::Value;

use crate::{
    Capabilities,
    protocol::{Hello, Manner, short},
};

/// The declaration in a process's `hello`.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// The `hello` itself.
    pub(super) hello: Hello,
    pub(super) capabilities: Capabilities,
    pub(super) manner: Manner,
}

impl Declared {
    /// Describes how the declaration of a later process differs, with the differing members. `None` if both
    /// mean the same, even if one omits a key and the other gives its default.
    pub(super) fn disagreement(&self, later: &Self) -> Option<String> {
        if self.capabilities == later.capabilities && self.manner == later.manner {
            return None;
        }
        let (first, now) = (members(&self.hello), members(&later.hello));
        let of = |members: &[(String, Value)], name: &str| {
            let found = members.iter().find(|(member, _)| member == name);
            found.map_or_else(|| "none".to_owned(), |(_, value)| short(&value.to_string()))
        };
        let mut names: Vec<&String> = first.iter().chain(&now).map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        let differing: Vec<String> = names
            .into_iter()
            .map(|name| (name, of(&first, name), of(&now, name)))
            .filter(|(_, first, now)| first != now)
            .map(|(name, first, now)| format!("`{name}` was {first} and is {now}"))
            .collect();
        Some(format!(
            "declares something else than when it was first started: {}; a backend says the same whenever it is started",
            differing.join(", ")
        ))
    }
}

/// The members of a hello that are present, with those of nested objects as separate entries.
fn members(hello: &Hello) -> Vec<(String, Value)> {
    let Ok(Value::Object(members)) = serde_json::to_value(hello) else { return Vec::new() };
    let flat = members.into_iter().flat_map(|(name, value)| match value {
        Value::Object(inner) => {
            inner.into_iter().map(|(key, value)| (format!("{name}.{key}"), value)).collect()
        }
        value => vec![(name, value)],
    });
    flat.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(more: &str) -> Declared {
        let text = format!(
            r#"{{"protocol": 1, "name": "mine", "feature_level": "5.0", "ranks": {{"min": 1, "max": 4}}, {more}}}"#
        );
        let hello: Hello = serde_json::from_str(&text).expect("what is required is there");
        let manner = Manner { is_packed: hello.packed, is_ahead: hello.ahead };
        Declared { capabilities: hello.capabilities().expect("it makes sense"), manner, hello }
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let first = declared(r#""version": "1", "data_types": ["INT8"]"#);
        let later =
            declared(r#""version": "2", "data_types": ["INT8", "UINT8"], "limits": {"batch_cases": 7}"#);
        assert_eq!(
            first.disagreement(&later).as_deref(),
            Some(
                r#"declares something else than when it was first started: `data_types` was ["INT8"] and is ["INT8","UINT8"], "#
                    .to_owned()
                    + r#"`limits.batch_cases` was none and is 7, `version` was "1" and is "2"; "#
                    + "a backend says the same whenever it is started"
            )
            .as_deref()
        );
        let later = declared(r#""version": "1", "data_types": ["INT8"], "packed": true"#);
        assert!(
            first.disagreement(&later).is_some_and(|said| said.contains("`packed` was none and is true"))
        );
    }

    #[test]
    fn what_comes_to_the_same_is_the_same() {
        let first = declared(r#""version": "1", "data_types": ["INT8"]"#);
        let spelled = declared(
            r#""version": "1", "data_types": ["INT8"], "device": "", "operators": null, "ahead": false"#,
        );
        assert_eq!(first.disagreement(&spelled), None);
    }
}
