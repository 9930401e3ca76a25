//! Closed sets in files. A value is written as its id. An unknown id is an error at the place where it is
//! read, so that foreign text cannot get past the reader as the name of a verdict.

use std::{fmt, marker::PhantomData};

use dmlcts_model::printable;
use serde::{
    Deserializer,
    de::{Error, Visitor},
};

use crate::{Class, Difference, Ending, Smallest, Verdict};

/// The maximum number of characters of an unknown id that an error repeats.
const LONGEST: usize = 100;

/// A set whose values have ids. [`closed!`](crate::closed) implements it.
pub trait Closed: Sized {
    /// The noun for a value, in messages.
    const WHAT: &str;

    /// The value with this id.
    fn find(id: &str) -> Option<Self>;

    /// Reads the id of a value.
    ///
    /// # Errors
    ///
    /// There is no text, or it is no id of this set.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Ids(PhantomData))
    }
}

struct Ids<T>(PhantomData<T>);

impl<T: Closed> Visitor<'_> for Ids<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the id of a {}", T::WHAT)
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<T, E> {
        T::find(id).ok_or_else(|| {
            E::custom(format_args!("`{}` is no {} that this program knows", printable(id, LONGEST), T::WHAT))
        })
    }
}

/// Writes values as their ids, and reads only these: `Verdict: "verdict", id;` names the set, the noun for a
/// value, and the method that gives its id. `Verdict::ALL` has its values.
#[macro_export]
macro_rules! closed {
    ($($set:ident: $what:literal, $id:ident;)*) => {$(
        impl $crate::Closed for $set {
            const WHAT: &str = $what;

            fn find(id: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.$id() == id)
            }
        }

        impl serde::Serialize for $set {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$id())
            }
        }

        impl<'de> serde::Deserialize<'de> for $set {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::Closed::read(deserializer)
            }
        }

        impl schemars::JsonSchema for $set {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($set).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": Self::ALL.map(Self::$id) })
            }
        }
    )*};
}

closed! {
    Class: "class", id;
    Difference: "difference", name;
    Ending: "ending", id;
    Smallest: "result of a smallest case", id;
    Verdict: "verdict", id;
}
