//! Closed sets in files. A value is written as its id. An unknown id is an error at the place where it is
//! read, so that foreign text cannot get past the reader as the name of a verdict.

use std::{borrow::Cow, fmt, marker::PhantomData};

use dmlcts_model::printable;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

use crate::{Class, Conformity, Difference, Ending, ReservationKind, Smallest, Verdict};

/// The maximum number of characters of an unknown id that an error repeats.
const LONGEST: usize = 100;

/// A set whose values have ids.
trait Closed: Sized {
    /// The noun for a value, in messages.
    const WHAT: &str;

    /// The value with this id.
    fn find(id: &str) -> Option<Self>;
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

macro_rules! closed {
    ($($set:ident: $what:literal, $id:ident;)*) => {$(
        impl Closed for $set {
            const WHAT: &str = $what;

            fn find(id: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.$id() == id)
            }
        }

        impl Serialize for $set {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$id())
            }
        }

        impl<'de> Deserialize<'de> for $set {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Ids(PhantomData))
            }
        }

        impl JsonSchema for $set {
            fn schema_name() -> Cow<'static, str> {
                stringify!($set).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": Self::ALL.map(Self::$id) })
            }
        }
    )*};
}

closed! {
    Class: "class", id;
    Conformity: "conformity", id;
    Difference: "difference", name;
    Ending: "ending", id;
    ReservationKind: "kind of reservation", id;
    Smallest: "result of a smallest case", id;
    Verdict: "verdict", id;
}
