//! Numbers in sentences: a number and the words for one and for many come in, the words that fit go out.

/// "1 episode is", "2 episodes are", "0 episodes are".
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// "the one entry is", "all 2 entries are".
pub(crate) fn all(number: u64, one: &str, many: &str) -> String {
    if number == 1 {
        format!("the one {one}")
    } else {
        format!("all {number} {many}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        let said = [0, 1, 2].map(|number| counted(number, "check", "checks"));
        assert_eq!(said, ["0 checks", "1 check", "2 checks"]);
        assert_eq!(
            [1, 2].map(|number| all(number, "check", "checks")),
            ["the one check", "all 2 checks"]
        );
    }
}
