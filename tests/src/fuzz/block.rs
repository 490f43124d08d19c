//! Editing of a project's files: ours is put in once and taken out again byte for byte, or the file is left alone.

use remembrancer::testing::Ours;

use super::input::text;

const BLOCK: &str = "<remembrancer-recollections>\nnew\n\n```\nof code\n</remembrancer-recollections>";
const EMPTY: &str = "<remembrancer-recollections>\n</remembrancer-recollections>";

pub(super) fn run(data: &[u8]) {
    let text = text(data);
    for (ours, other) in [(Ours::Block(BLOCK), Some(Ours::Block(EMPTY))), (Ours::Line("@./x.md"), None)] {
        check(&text, ours, other);
    }
}

fn check(text: &str, ours: Ours<'_>, other: Option<Ours<'_>>) {
    let there = ours.is_in(text);
    let put = ours.put(text);
    if there.is_err() {
        assert!(put.is_err() && ours.take(text).is_err(), "a damaged text is edited");
        return;
    }
    let Ok(added) = put else { return };
    assert_eq!(ours.is_in(&added), Ok(true));
    assert_eq!(ours.put(&added).as_ref(), Ok(&added), "putting it twice changes the text");
    if let Some(other) = other {
        let exchanged = other.put(&added).expect("what is there can be exchanged");
        assert_eq!(
            ours.put(&exchanged).as_ref(),
            Ok(&added),
            "exchanging there and back changes the text"
        );
    }
    let taken = ours.take(&added).expect("what is there can be taken").expect("it is there");
    assert_eq!(ours.is_in(&taken), Ok(false), "it is left in {taken:?}");
    match there {
        Ok(false) => assert_eq!(taken, text, "other bytes come back"),
        _ => assert_eq!(ours.take(text), Ok(Some(taken)), "another text is left"),
    }
}
