//! URIs of files, as editors name folders by them.

use std::borrow::Cow;

/// The path that a `file:` URI names; what is none is a path already.
pub(crate) fn path_of(uri: &str) -> Cow<'_, str> {
    let Some(path) = uri.strip_prefix("file://") else {
        return Cow::Borrowed(uri);
    };
    let path = path
        .strip_prefix("localhost")
        .filter(|rest| rest.starts_with('/'))
        .unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("file:///home/ada/shop", "/home/ada/shop")]
    #[case::escaped("file:///home/ada/my%20shop%C3%A9", "/home/ada/my shopé")]
    #[case::odd("file:///home/100%/%zz", "/home/100%/%zz")]
    #[case::this_machine("file://localhost/home/ada", "/home/ada")]
    #[case::path("/home/ada/shop", "/home/ada/shop")]
    #[case::empty("", "")]
    fn a_uri_names_a_path(#[case] uri: &str, #[case] expected: &str) {
        assert_eq!(path_of(uri), expected);
    }
}
