//! Enums whose values have names in files, options and messages.

/// Declares an enum without fields, with the name of each value beside it.
///
/// Behind the enum's name stand the names of its methods: what gives a value's name, and, where it is wanted,
/// what finds the value of a name. `ALL` has every value, in the order of their declaration.
///
/// ```
/// dmlcts_model::named_enum! {
///     /// A side of a tensor's memory.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum Edge: id, from_id {
///         /// Lower addresses.
///         Before = "before",
///         /// Higher addresses.
///         Behind = "behind",
///     }
/// }
/// assert_eq!(Edge::ALL.map(Edge::id), ["before", "behind"]);
/// assert_eq!(Edge::from_id("behind"), Some(Edge::Behind));
/// assert_eq!(Edge::from_id("beside"), None);
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$of_enum:meta])*
        $visibility:vis enum $Enum:ident: $name:ident $(, $from_name:ident)? {
            $($(#[$of_value:meta])* $Value:ident = $text:literal,)+
        }
    ) => {
        $(#[$of_enum])*
        $visibility enum $Enum {
            $($(#[$of_value])* $Value,)+
        }

        impl $Enum {
            /// Every value, in the order of their declaration.
            $visibility const ALL: [Self; [$($text),+].len()] = [$(Self::$Value),+];

            /// As files, options and messages spell it.
            $visibility fn $name(self) -> &'static str {
                match self {
                    $(Self::$Value => $text,)+
                }
            }

            $(
                /// The value that is spelled so.
                $visibility fn $from_name(name: &str) -> Option<Self> {
                    Self::ALL.into_iter().find(|value| value.$name() == name)
                }
            )?
        }
    };
}
