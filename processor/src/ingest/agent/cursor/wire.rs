//! Cursor's transcript lines as it writes them (seen: fixtures of 2026, up to 3.20). Only what is read is named. Every field may
//! be absent or of another type.

use crate::ingest::blocks::Blocks;
use crate::ingest::lenient::{Text, wire_struct};

wire_struct! {
    /// One line.
    Record {
        /// `turn_ended`; absent in messages.
        "type" => kind: Text<'a>,
        "role" => role: Text<'a>,
        "message" => message: Message<'a>,
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
