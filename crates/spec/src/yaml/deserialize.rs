//! Makes the value of a form of a tree. The entries of a mapping keep their order.

use serde::{
    Deserializer,
    de::{
        IntoDeserializer, Visitor,
        value::{Error, MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};

use super::{
    shape::{finite, integer, is_null, is_text},
    tree::{Node, NodeKind},
};

impl<'de> IntoDeserializer<'de> for &'de Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// An unquoted scalar is null, a boolean or a number if YAML's core schema says so.
impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let text = match &self.kind {
            NodeKind::Sequence(items) => return visitor.visit_seq(SeqDeserializer::new(items.iter())),
            NodeKind::Mapping(entries) => {
                let entries = entries.iter().map(|(key, node)| (key.name.as_str(), node));
                return visitor.visit_map(MapDeserializer::new(entries));
            }
            NodeKind::Scalar { value, .. } => value,
        };
        if is_null(self) {
            visitor.visit_unit()
        } else if is_text(self) {
            visitor.visit_borrowed_str(text)
        } else if let Some(number) = integer(text) {
            match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => visitor.visit_u64(number),
                (_, Ok(number)) => visitor.visit_i64(number),
                _ => visitor.visit_i128(number),
            }
        } else if let Some(number) = finite(text) {
            visitor.visit_f64(number)
        } else {
            visitor.visit_bool(text.eq_ignore_ascii_case("true"))
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if is_null(self) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.kind {
            NodeKind::Scalar { value, .. } => visitor.visit_enum(value.as_str().into_deserializer()),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}
