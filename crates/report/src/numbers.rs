//! Numbers as people read them.

use std::time::Duration;

pub use dmlcts_model::{counted, grouped};

/// The prefixes of bytes in hexadecimal.
const HEXADECIMAL: [&str; 2] = ["explicit:", "0x"];
/// The maximum number of digits that are shown of them.
const DIGITS: usize = 32;
/// The number of digits that begin a longer one.
const START: usize = 8;

/// A text in which long hexadecimal is folded: `fill=explicit:0000803f... (64 bytes)`. It is for prose: a
/// case or a command to copy stays whole.
pub(crate) fn folded(text: &str) -> String {
    let (mut folded, mut rest) = (String::new(), text);
    while let Some(start) =
        HEXADECIMAL.iter().filter_map(|prefix| Some(rest.find(prefix)? + prefix.len())).min()
    {
        let digits = rest[start..].find(|letter: char| !letter.is_ascii_hexdigit());
        let end = digits.map_or(rest.len(), |digits| start + digits);
        if end - start > DIGITS {
            let count = bytes((end - start).div_ceil(2) as u64);
            folded.extend([&rest[..start + START], "... (", &count, ")"]);
        } else {
            folded += &rest[..end];
        }
        rest = &rest[end..];
    }
    folded + rest
}

/// A rate in three digits: `2.13 million`, `950 thousand`, `12`.
pub fn rate(count: u64, time: Duration) -> String {
    let each_second = count as f64 / time.as_secs_f64().max(1e-9);
    match each_second {
        rate if rate >= 1e6 => format!("{:.2} million", rate / 1e6),
        rate if rate >= 1e4 => format!("{:.0} thousand", rate / 1e3),
        rate => grouped(rate.round() as u64),
    }
}

/// A time span: `0.23 s`, `12.4 s`, `3 min 20 s`, `2 h 5 min`.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        _ if time.subsec_nanos() == 0 && seconds < 60 => format!("{seconds} s"),
        0..10 => format!("{:.2} s", time.as_secs_f64()),
        10..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A number of bytes: `17 bytes`, `1.5 MiB`.
pub fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = count as f64 / 1024.0;
    for unit in units {
        if value < 1024.0 {
            return if value < 1.0 { counted(count, "byte") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} ZiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_hexadecimal_is_folded() {
        let digits = "00112233445566778899aabbccddeeff";
        let case = |fill: &str| format!("SLICE INT8 in=4 fill=explicit:{fill} and PaddingValue=0x{fill}.");
        assert_eq!(folded(&case(digits)), case(digits));
        assert_eq!(folded(&case(&format!("{digits}0"))), case("00112233... (17 bytes)"));
        assert_eq!(folded(&case(&digits.repeat(256))), case("00112233... (4.0 KiB)"));
        let others = format!("0x, explicit: and {} of commit {digits}{digits}", "7".repeat(40));
        assert_eq!(folded(&others), others);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "case"), counted(2, "case")], ["1 case", "2 cases"]);
        assert_eq!(
            [17, 1024, 1_572_864, u64::MAX].map(bytes),
            ["17 bytes", "1.0 KiB", "1.5 MiB", "16.0 EiB"]
        );
        assert_eq!(rate(4_260_000, Duration::from_secs(2)), "2.13 million");
        assert_eq!(rate(100_000, Duration::from_secs(4)), "25 thousand");
        assert_eq!(rate(7, Duration::from_secs(1)), "7");
        let spans = [230, 12_400, 200_000, 7_500_000].map(|millis| span(Duration::from_millis(millis)));
        assert_eq!(spans, ["0.23 s", "12.4 s", "3 min 20 s", "2 h 5 min"]);
    }
}
