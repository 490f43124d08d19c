//! The opening line of a recollection file: any line is read or refused, and what is read is what the line says.

use remembrancer_hooks::recollection_file::{Opening, prompt_hash, prompt_hash_hex};

use super::input::text;

pub(super) fn run(data: &[u8]) {
    let text = text(data);
    let line = text.lines().next().unwrap_or_default();
    if let Some(opening) = Opening::parse(line) {
        assert_eq!(opening.prompt.len(), 16);
        assert!(line.contains(&opening.prompt));
        // The last day of year 9999 is beyond what can be written.
        if let Ok(written) = jiff::Timestamp::from_millisecond(opening.written_ms) {
            let again = format!(
                "<remembrancer-recollections prompt=\"{}\" written=\"{written:.3}\">",
                opening.prompt
            );
            assert_eq!(Opening::parse(&again), Some(opening), "{again}");
        }
    }
    let (session, prompt) = text.split_at(text.floor_char_boundary(text.len() / 2));
    let hash = prompt_hash(session, prompt);
    assert_eq!(prompt_hash_hex(&hash).len(), 16);
    if text.len() > 1 && text.is_char_boundary(1) && !text.contains('\0') {
        let other = text.split_at(1);
        assert!(
            other == (session, prompt) || prompt_hash(other.0, other.1) != hash,
            "two prompts share a hash"
        );
    }
}
