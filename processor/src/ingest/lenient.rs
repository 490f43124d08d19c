//! Wire types that take whatever an agent writes: a field of an unexpected type is an absent field, an unknown field is
//! passed over, and of a repeated field the last counts. Only bytes that aren't JSON are an error.
//!
//! Serde's derive would refuse the whole line for one odd field; formats here are internal to their agents and change.

mod list;
mod prose;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Visitor};

pub(crate) use list::List;
pub(crate) use prose::Prose;

/// A string, if there is one; a number is taken as its digits. Borrowed from the line where it has no escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Option<Cow<'a, str>>);

impl Text<'_> {
    /// The string, or an empty one.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The string, unless it is absent or empty.
    pub(crate) fn filled(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

/// `true`, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

/// Lets a visitor take every kind of value that it doesn't care for as its default.
macro_rules! ignore_values {
    (scalars of $life:lifetime) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (strings of $life:lifetime) => {
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (lists of $life:lifetime) => {
        fn visit_seq<A: serde::de::SeqAccess<$life>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (maps of $life:lifetime) => {
        fn visit_map<A: serde::de::MapAccess<$life>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map
                .next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?
                .is_some()
            {}
            Ok(Self::Value::default())
        }
    };
}
pub(crate) use ignore_values;

/// Declares a struct that reads its named fields from a JSON object and takes anything else as its default.
macro_rules! wire_struct {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $key:literal => $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(crate) struct $name<'a> {
            $($(#[$doc])* pub(crate) $field: $type,)*
            /// Ties the struct to the line even when no field borrows.
            pub(crate) line: std::marker::PhantomData<&'a ()>,
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor<'a>(std::marker::PhantomData<&'a ()>);

                impl<'de: 'a, 'a> serde::de::Visitor<'de> for ObjectVisitor<'a> {
                    type Value = $name<'a>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("anything")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut object = $name::default();
                        while let Some(key) = map.next_key::<$crate::ingest::lenient::Text<'de>>()? {
                            match key.as_str() {
                                $($key => object.$field = map.next_value()?,)*
                                _ => { map.next_value::<serde::de::IgnoredAny>()?; }
                            }
                        }
                        Ok(object)
                    }

                    $crate::ingest::lenient::ignore_values!(scalars of 'de);
                    $crate::ingest::lenient::ignore_values!(strings of 'de);
                    $crate::ingest::lenient::ignore_values!(lists of 'de);
                }

                deserializer.deserialize_any(ObjectVisitor(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use wire_struct;

struct TextVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
    type Value = Text<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'a>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'a>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Text<'a>, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Text<'a>, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Text<'a>, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text<'a>, E> {
        Ok(Text(None))
    }

    fn visit_unit<E>(self) -> Result<Text<'a>, E> {
        Ok(Text(None))
    }

    ignore_values!(lists of 'de);
    ignore_values!(maps of 'de);
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor(PhantomData))
    }
}

/// Whether a field holds anything but `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Present(pub(crate) bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::<serde::de::IgnoredAny>::deserialize(deserializer)?.is_some()))
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Flag, E> {
        Ok(Flag(flag))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Flag, E> {
        Ok(Flag(false))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Flag, E> {
        Ok(Flag(false))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Flag, E> {
        Ok(Flag(false))
    }

    fn visit_unit<E>(self) -> Result<Flag, E> {
        Ok(Flag(false))
    }

    ignore_values!(strings of 'de);
    ignore_values!(lists of 'de);
    ignore_values!(maps of 'de);
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}
