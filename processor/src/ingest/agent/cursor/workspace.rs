//! The folder that Cursor worked in, found again by the name it made of it.

use crate::ingest::conversation::Conversation;
use crate::ingest::tool::Arguments;

/// Tells the conversation its working folder, where a call names a place in it: it is that of all turns from there on.
pub(super) fn note(slug: &str, conversation: &mut Conversation, arguments: &Arguments<'_>) {
    let mut places = arguments
        .working_directory
        .filled()
        .into_iter()
        .chain(arguments.named_files());
    if let Some(folder) = places.find_map(|place| of(slug, place)) {
        conversation.cwd(folder);
    }
}

/// The folder at or above `path` of whose path Cursor made `slug`: all but letters and digits became hyphens. What is not
/// absolute is in none.
fn of<'p>(slug: &str, path: &'p str) -> Option<&'p str> {
    if slug.is_empty() || !path.starts_with('/') && path.as_bytes().get(1) != Some(&b':') {
        return None;
    }
    let ends = path.match_indices(['/', '\\']).map(|(end, _)| end).chain([path.len()]);
    ends.map(|end| &path[..end]).find(|folder| words(slug).eq(words(folder)))
}

fn words(path: &str) -> impl Iterator<Item = String> {
    path.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_file("home-ada-shop", "/home/ada/shop/src/cart.rs", Some("/home/ada/shop"))]
    #[case::itself("home-ada-shop", "/home/ada/shop", Some("/home/ada/shop"))]
    #[case::hyphens("home-ada-my-shop-v2", "/home/ada/my_shop.v2/a.rs", Some("/home/ada/my_shop.v2"))]
    #[case::windows("c-code-shop", "C:\\code\\shop\\a.rs", Some("C:\\code\\shop"))]
    #[case::elsewhere("home-ada-shop", "/home/ada/till/a.rs", None)]
    #[case::relative("home-ada-shop", "home/ada/shop/a.rs", None)]
    #[case::no_slug("", "/home", None)]
    fn a_path_tells_the_folder_that_the_slug_means(#[case] slug: &str, #[case] path: &str, #[case] expected: Option<&str>) {
        assert_eq!(of(slug, path), expected);
    }
}
