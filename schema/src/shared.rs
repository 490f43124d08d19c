//! The shared store's side of the schema: the migrations of its PostgreSQL, the statements that a daemon sends there, and what its
//! refusals mean. Plain text and numbers: whoever connects brings the driver.
//!
//! The server decides nothing by a machine's clock or word: a member is the login of the session, and changes are numbered in the
//! order in which they are committed (ADR 55).

mod refusal;
mod statements;

pub use refusal::Refusal;
pub use statements::{
    ADD_MEMBER, ADD_TEAM, BE_READY_TO_SEARCH, COPY_INCOMING, FORGET, HELLO, KIND_END, KIND_FORGOTTEN, KIND_FURTHER, KIND_LIVE,
    KIND_WITHDRAWN, LISTEN, LOOKS_AFTER, MODELS, PULL, PUSH, READ_VERSION, REGISTER_MODEL, REMOVE_MEMBER, REMOVE_TEAM, RESTORED,
    SEARCH, SHARED_EPOCH, TEAM_SIZE, WITHDRAW, WITHDRAW_ALL, WITHDRAW_MEMBER,
};

/// One numbered step of the server's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMigration {
    /// Its number, from 1: the version of a server that has had it.
    pub number: i32,
    /// What it makes, in one word.
    pub name: &'static str,
    /// Its statements: one transaction, with `BEGIN` and `COMMIT`, which notes its number. It may be run twice; it raises where a newer
    /// one was run, or the one before it was not.
    pub sql: &'static str,
}

macro_rules! migrations {
    ($(($number:literal, $name:literal, $file:literal)),+ $(,)?) => {
        &[$(SharedMigration {
            number: $number,
            name: $name,
            sql: include_str!(concat!("../migrations/shared/", $file, ".sql")),
        }),+]
    };
}

/// All steps, in their order; those after the server's version are due. A released file is never edited.
pub const SHARED_MIGRATIONS: &[SharedMigration] = migrations![
    (1, "teams", "0001_teams"),
    (2, "episodes", "0002_episodes"),
    (3, "vectors", "0003_vectors"),
    (4, "push", "0004_push"),
    (5, "pull", "0005_pull"),
    (6, "teams", "0006_teams"),
];

/// The version of a server that has had all of [`SHARED_MIGRATIONS`].
pub const SHARED_VERSION: i32 = SHARED_MIGRATIONS.len() as i32;

/// The oldest server that this version works with.
pub const OLDEST_SERVER: i32 = 6;

/// How this version is called towards a server, which may ask for a newer one. It rises when what is sent changes its meaning.
pub const CLIENT_VERSION: i32 = 1;

#[cfg(test)]
mod tests;
