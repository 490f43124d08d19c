//! Secrets out of the names of folders. What is stored of a folder is compared with others by whole names: whether it is, or lies
//! below, one that is excluded, forgotten, or a project's. So the same folder always gets the same name, and a folder below another
//! a name below the other's.

use std::borrow::Cow;

use super::redact;

/// `path` with every secret in it replaced by `[redacted:kind]`; borrowed if there is none.
///
/// It is gone through from its start, a name more at each step: what stands further down then changes nothing of what a folder above
/// it is called, but where one secret reaches over several names. Redacting twice changes nothing.
pub fn redact_folder(path: &str) -> Cow<'_, str> {
    let mut redacted = Cow::Borrowed("");
    let mut from = 0;
    let borders = path.match_indices(['/', '\\']).map(|(at, _)| at).chain([path.len()]);
    for end in borders {
        let name = &path[from..end];
        from = end;
        let grown = match redacted {
            Cow::Borrowed(_) => Cow::Borrowed(&path[..end]),
            Cow::Owned(before) => Cow::Owned(before + name),
        };
        redacted = match redact(&grown) {
            Cow::Borrowed(_) => grown,
            Cow::Owned(changed) => Cow::Owned(changed),
        };
    }
    redacted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// A token of GitHub's shape, so that none stands in this file.
    fn token() -> String {
        format!("gh{}_{}", 'p', "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    }

    #[rstest]
    #[case::nothing("/home/ada/engine", "/home/ada/engine")]
    #[case::root("/", "/")]
    #[case::none("", "")]
    #[case::last("/home/ada/{}", "/home/ada/[redacted:github-token]")]
    #[case::in_the_middle("/home/{}/src/lib", "/home/[redacted:github-token]/src/lib")]
    #[case::windows("C:\\work\\{}\\src", "C:\\work\\[redacted:github-token]\\src")]
    #[case::url(
        "/srv/https://ada:s3cr3tpw9@git.example.org/x",
        "/srv/https://ada:[redacted:url-password]@git.example.org/x"
    )]
    #[case::assignment("/srv/DB_PASSWORD=tr0ub4dor9x", "/srv/DB_PASSWORD=[redacted:assignment]")]
    #[case::private("/srv/<private>mine/src", "/srv/[redacted:private]/src")]
    fn a_secret_in_a_folder_goes(#[case] path: &str, #[case] expected: &str) {
        let path = path.replace("{}", &token());
        assert_eq!(redact_folder(&path), expected);
        assert_eq!(redact_folder(expected), expected, "redacting twice changes nothing");
    }

    proptest! {
        #[test]
        fn a_folder_below_another_stays_below_it(
            above in "(/[a-zA-Z0-9._-]{1,12}){0,3}(/(TOKEN|DB_PASSWORD=tr0ub4dor9x|<private>x))?",
            below in "(/[a-zA-Z0-9._=-]{1,12}){1,3}",
        ) {
            let above = above.replace("TOKEN", &token());
            let whole = format!("{above}{below}");
            let (above, whole) = (redact_folder(&above), redact_folder(&whole));
            // What stands behind a value may be taken for a part of it.
            let rest = whole.strip_prefix(&*above);
            prop_assert!(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')), "{above} {whole}");
            prop_assert_eq!(redact_folder(&whole), &*whole);
        }

        #[test]
        fn nothing_is_left_that_the_rules_find(path in "(/[!-~]{0,20}){0,4}") {
            let once = redact_folder(&path).into_owned();
            prop_assert_eq!(redact(&once), &*once);
        }
    }
}
