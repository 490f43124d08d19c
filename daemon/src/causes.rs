//! An error together with what caused it, on one line: for the log, for `status`, and for whoever asked.

use std::error::Error;

/// `error` and its causes, each after a colon.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// What the first cause of `error` says: of an error of the file system the system's own words, without the path.
pub(crate) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let text = cause.to_string();
    // fs-err keeps its cause to itself, and writes it after what it tried and the path in backticks.
    match text.rsplit_once("`: ") {
        Some((_, cause)) => cause.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Outer {
        #[error("cannot store a batch")]
        Named(#[source] std::io::Error),
        #[error(transparent)]
        Passed(#[from] std::io::Error),
    }

    #[test]
    fn of_an_error_of_the_file_system_the_system_s_words_are_left() {
        let error = fs_err::read("/nowhere/at/all").unwrap_err();
        assert!(root_cause(&error).starts_with("No such file or directory"), "{error}");
    }

    #[test]
    fn a_cause_is_told_once() {
        let cause = || std::io::Error::other("the disk is gone");
        assert_eq!(with_causes(&Outer::Named(cause())), "cannot store a batch: the disk is gone");
        assert_eq!(with_causes(&Outer::Passed(cause())), "the disk is gone");
    }
}
