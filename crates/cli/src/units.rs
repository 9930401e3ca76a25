//! Time spans, sizes and seeds in the form that people type.

use std::time::Duration;

/// Reads `90s`, `10m`, `1h30m`, `500ms`. A number without a unit is refused, since it could mean seconds,
/// minutes or milliseconds.
pub(crate) fn time_span(text: &str) -> Result<Duration, String> {
    match span(text)? {
        Duration::ZERO => Err("nothing runs in no time; write 90s, or leave the option out".to_owned()),
        span => Ok(span),
    }
}

/// A time span as [`time_span`] reads it, in the largest unit that needs no fraction.
pub(crate) fn written(time: Duration) -> String {
    let all = time.as_millis();
    let units = [(3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let (size, unit) = units.into_iter().find(|(size, _)| all.is_multiple_of(*size)).unwrap_or((1, "ms"));
    format!("{}{unit}", all / size)
}

fn span(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("`{text}` is not a time span; write whole numbers with units, such as 90s, 10m or 1h30m");
    if text.is_empty() {
        return Err(wrong());
    }
    if is_bare(text) {
        let is_zero = text.bytes().all(|byte| byte == b'0');
        let has_no_unit = || format!("`{text}` has no unit; write {text}s or {text}m");
        return if is_zero { Ok(Duration::ZERO) } else { Err(has_no_unit()) };
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|letter: char| letter.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let milliseconds: u64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        if number.is_empty() {
            return Err(wrong());
        }
        let too_long = || format!("`{text}` is too long; the longest time span is about 213,503,982,334d");
        let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(milliseconds));
        let part = part.map(Duration::from_millis).ok_or_else(too_long)?;
        total = total.checked_add(part).ok_or_else(too_long)?;
        rest = tail;
    }
    Ok(total)
}

/// Whether a text is a number without a unit.
fn is_bare(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads `512MiB`, `2GiB`, `64k`, `100B`; units are powers of 1024. A number needs a unit. Zero has its own
/// error message.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "`{text}` is not a size; write a whole number below 2^64 bytes with a unit, such as 512MiB or 2GiB"
        )
    };
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    if is_bare(text) && number.bytes().any(|byte| byte != b'0') {
        return Err(format!("`{text}` has no unit; write {text}MiB or {text}GiB, or {text}B for bytes"));
    }
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(wrong()),
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift)) {
        Some(0) => Err("no case fits in no memory; write 512MiB or 2GiB".to_owned()),
        size => size.ok_or_else(wrong),
    }
}

/// Reads the cases of `--explain`, which may be 0. `_` or `,` may group the digits.
pub(crate) fn cases(text: &str) -> Result<u32, String> {
    let digits: String = text.chars().filter(|letter| !matches!(letter, '_' | ',')).collect();
    let count = digits.parse().ok().filter(|count| *count <= 1_000_000);
    count.ok_or_else(|| {
        format!("`{text}` is not a number of cases; write one from 0 to 1000000, such as 2000")
    })
}

/// Reads a count of at least one. `_` or `,` may group its digits.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let digits: String = text.chars().filter(|letter| !matches!(letter, '_' | ',')).collect();
    match digits.parse() {
        Ok(0) => Err("a run needs a case; write 1 or more, or leave the option out".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err(format!(
            "`{text}` is not a count; write a number from 1 to {}, such as 1000 or 1_000",
            u64::MAX
        )),
    }
}

/// Reads the number of failures or hangs at which a run ends.
pub(crate) fn end(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "write a whole number of 1 or more, or leave the option out".to_owned())
}

/// Reads a seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a seed; write a number from 0 to {}", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans_are_read() {
        for (text, milliseconds) in
            [("90s", 90_000), ("1h30m", 5_400_000), ("500ms", 500), ("7s", 7_000), ("2min", 120_000)]
        {
            let span = Duration::from_millis(milliseconds);
            assert_eq!(time_span(text), Ok(span), "{text}");
            assert_eq!(time_span(&written(span)), Ok(span), "{text}");
        }
        assert_eq!(
            [90_500, 90_000, 600_000].map(|time| written(Duration::from_millis(time))),
            ["90500ms", "90s", "10m"]
        );
        for text in
            ["s", "1x", "1.5h", "-1s", "99999999999999999999s", "1h2", "0", "0s0ms", "18446744073709551615d"]
        {
            assert!(time_span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [("512MiB", 512 << 20), ("2g", 2 << 30), ("64k", 65_536), ("100B", 100)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MiB", "1.5G", "99999999999G", "-1", "0", "0GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_without_a_unit_is_refused_with_units_to_choose_from() {
        assert_eq!(time_span("10"), Err("`10` has no unit; write 10s or 10m".to_owned()));
        assert_eq!(size("1"), Err("`1` has no unit; write 1MiB or 1GiB, or 1B for bytes".to_owned()));
        for zero in ["0", "00"] {
            assert!(time_span(zero).is_err_and(|said| said.starts_with("nothing runs in no time")));
            assert!(size(zero).is_err_and(|said| said.starts_with("no case fits in no memory")));
        }
        let long = "99999999999999999999s";
        assert!(time_span(long).is_err_and(|said| said.starts_with(&format!("`{long}` is too long; "))));
        assert!(time_span("").is_err_and(|said| said.contains("is not a time span")));
    }

    #[test]
    fn cases_are_read() {
        assert_eq!([cases("0"), cases("2_000")], [Ok(0), Ok(2_000)]);
        for wrong in ["", "-1", "60s", "1000001"] {
            assert!(cases(wrong).is_err_and(|message| message.contains("from 0 to 1000000")), "{wrong}");
        }
    }

    #[test]
    fn counts_are_read() {
        assert_eq!(count("1_000"), Ok(1000));
        assert_eq!(count("5,000"), Ok(5000));
        assert!(count("many").is_err());
        assert!(count("").is_err());
        assert!(count("0").is_err());
    }
}
