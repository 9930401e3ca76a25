//! The options after `directml:` on the command line: an adapter, and how operators are compiled. The timeout
//! of the device has no word there.

use std::{fmt, str::FromStr, time::Duration};

/// The adapter and how to use it. As text: words with commas between them, in any order. The words are
/// `warp`, `no-metacommands`, `half-precision`, `debug`, and `#1` for the second adapter. Any other word is a
/// part of an adapter's name.
///
/// ```
/// use dmlcts_directml::{Adapter, Options};
///
/// let options: Options = "warp,no-metacommands".parse()?;
/// assert_eq!(options.adapter, Adapter::Warp);
/// assert!(options.disable_metacommands && !options.half_precision);
/// # Ok::<(), dmlcts_directml::OptionsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The adapter.
    pub adapter: Adapter,
    /// `DML_EXECUTION_FLAG_DISABLE_META_COMMANDS`: the driver's own implementations are not used.
    pub disable_metacommands: bool,
    /// `DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION`: it must not affect operators that move bits.
    pub half_precision: bool,
    /// Enables the debug layers of Direct3D 12 and DirectML, if they are installed. They detect more, but are
    /// slow.
    pub debug: bool,
    /// The maximum time of a flight, from the moment when the backend waits for it. After that, the device is
    /// given up. A case that takes too long again when it is alone has timed out. The default is a minute; no
    /// word sets it.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            adapter: Adapter::default(),
            disable_metacommands: false,
            half_precision: false,
            debug: false,
            timeout: Duration::from_secs(60),
        }
    }
}

/// The choice of an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Adapter {
    /// The most powerful GPU.
    #[default]
    Hardware,
    /// WARP, the software adapter of Windows.
    Warp,
    /// The first adapter whose name contains this, regardless of case.
    Named(String),
    /// The adapter at this index of [`DirectMl::adapters`](crate::DirectMl::adapters), from 0. Unlike names,
    /// indices are unique.
    Numbered(usize),
}

/// The word that selects it.
impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hardware => Ok(()),
            Self::Warp => f.write_str("warp"),
            Self::Named(part) => f.write_str(part),
            Self::Numbered(number) => write!(f, "#{number}"),
        }
    }
}

/// Why words are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The words select two adapters.
    #[error(
        "`{first}` and `{second}` cannot both be the adapter; other words are no-metacommands, half-precision and debug"
    )]
    TwoAdapters {
        /// The word that came first.
        first: String,
        /// The other one.
        second: String,
    },
    /// No number follows the `#`.
    #[error("`{word}` numbers no adapter; write #0 for the first that `dmlcts backends` lists")]
    NoNumber {
        /// The whole word.
        word: String,
    },
}

impl Options {
    /// The words for how operators are compiled, each after a comma.
    #[cfg(any(windows, test))]
    pub(crate) fn words(&self) -> String {
        let words = [
            (self.disable_metacommands, ", no-metacommands"),
            (self.half_precision, ", half-precision"),
            (self.debug, ", debug"),
        ];
        words.into_iter().filter(|(is_said, _)| *is_said).map(|(_, word)| word).collect()
    }
}

impl FromStr for Options {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let mut adapter: Option<&str> = None;
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "no-metacommands" => options.disable_metacommands = true,
                "half-precision" => options.half_precision = true,
                "debug" => options.debug = true,
                name => {
                    if let Some(first) = adapter.replace(name) {
                        let (first, second) = (first.to_owned(), name.to_owned());
                        return Err(OptionsError::TwoAdapters { first, second });
                    }
                }
            }
        }
        options.adapter = match adapter {
            None => Adapter::Hardware,
            Some("warp") => Adapter::Warp,
            Some(word) => match word.strip_prefix('#').map(str::parse) {
                None => Adapter::Named(word.to_owned()),
                Some(Ok(number)) => Adapter::Numbered(number),
                Some(Err(_)) => return Err(OptionsError::NoNumber { word: word.to_owned() }),
            },
        };
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_in_any_order() {
        assert_eq!("".parse(), Ok(Options::default()));
        let options: Options = "half-precision, RTX 4090,debug".parse().unwrap();
        assert_eq!(options.adapter, Adapter::Named("RTX 4090".to_owned()));
        assert!(options.half_precision && options.debug && !options.disable_metacommands);
        assert_eq!(options.words(), ", half-precision, debug");
        let error = "warp,no-metacommands,Intel".parse::<Options>().unwrap_err();
        assert!(error.to_string().contains("`warp` and `Intel`"));
    }

    #[test]
    fn an_adapter_can_be_asked_for_by_its_number() {
        for adapter in [Adapter::Numbered(0), Adapter::Numbered(12), Adapter::Warp, Adapter::Hardware] {
            assert_eq!(adapter.to_string().parse(), Ok(Options { adapter, ..Options::default() }));
        }
        for word in ["#", "#one", "#-1"] {
            assert!(word.parse::<Options>().unwrap_err().to_string().contains("numbers no adapter"));
        }
    }
}
