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
    fn a_cause_is_told_once() {
        let cause = || std::io::Error::other("the disk is gone");
        assert_eq!(with_causes(&Outer::Named(cause())), "cannot store a batch: the disk is gone");
        assert_eq!(with_causes(&Outer::Passed(cause())), "the disk is gone");
    }
}
