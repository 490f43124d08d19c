//! Cursor's transcript lines as it writes them (seen: fixtures of 2026, up to 3.20), and what is read of its editor's store (by
//! published code). Only what is read is named. Every field may be absent or of another type.

use super::store::{Composer, Header};
use crate::ingest::blocks::Blocks;
use crate::ingest::lenient::{Text, wire_struct};

wire_struct! {
    /// One line; or of the store a conversation, which has a `composer`.
    Record {
        /// `turn_ended`; absent in messages.
        "type" => kind: Text<'a>,
        "role" => role: Text<'a>,
        "message" => message: Message<'a>,
        "composer" => composer: Option<Composer<'a>>,
        "header" => header: Header<'a>,
        /// 1 for a subagent's.
        "isSubagent" => is_subagent: Text<'a>,
    }
}

wire_struct! {
    /// What was said and done.
    Message {
        "content" => content: Blocks<'a>,
    }
}

wire_struct! {
    /// The file in which Cursor notes that a folder is trusted.
    Trusted {
        "workspacePath" => folder: Text<'a>,
    }
}
