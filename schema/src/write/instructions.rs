//! Which files of projects hold something of ours, at the user's word. The files themselves are not touched here.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::Writer;
use crate::error::QueryError;
use crate::journal::Choice;
use crate::rows::InstructionFile;
use crate::units::UnixMillis;

impl Writer {
    /// Notes what stands in a file now. Of one that is known already, what was made for it stays noted.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn add_instruction_file(&mut self, file: &InstructionFile, now: UnixMillis) -> Result<(), QueryError> {
        const ACT: &str = "note an instruction file";
        let made_before = made_for(&self.db, file).map_err(QueryError::at(ACT))?;
        let choice = Choice::Instruct {
            path: file.path.clone(),
            line: file.line.clone(),
            folder: file.folder.clone(),
            // Of several lines about one file only the last lasts.
            made: made_before.or_else(|| file.made.clone()),
            tracked: file.tracked,
            at: now.0,
        };
        self.decide(ACT, choice, |db| add(db, file, now))
    }

    /// Takes back an [`Writer::add_instruction_file`]: the block, or the line, is no longer ours to write.
    ///
    /// # Errors
    /// What SQLite reports; one that is not known is none.
    pub fn remove_instruction_file(&mut self, path: &str, line: Option<&str>) -> Result<(), QueryError> {
        let choice = Choice::Uninstruct {
            path: path.to_owned(),
            line: line.map(str::to_owned),
        };
        self.decide("drop an instruction file", choice, |db| remove(db, path, line))
    }
}

/// What was made for a file that is known.
fn made_for(db: &Connection, file: &InstructionFile) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT made FROM instruction_files WHERE path = :path AND line = :line")?
        .query_row(
            named_params! {":path": file.path, ":line": file.line.as_deref().unwrap_or_default()},
            |row| row.get(0),
        )
        .optional()
        .map(Option::flatten)
}

pub(super) fn add(db: &Connection, file: &InstructionFile, now: UnixMillis) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO instruction_files (path, line, folder, made, tracked, created_at)
         VALUES (:path, :line, :folder, :made, :tracked, :now)
         ON CONFLICT (path, line) DO UPDATE SET made = coalesce(made, excluded.made), tracked = excluded.tracked",
    )?
    .execute(named_params! {
        ":path": file.path,
        ":line": file.line.as_deref().unwrap_or_default(),
        ":folder": file.folder,
        ":made": file.made,
        ":tracked": file.tracked,
        ":now": now,
    })?;
    Ok(())
}

pub(super) fn remove(db: &Connection, path: &str, line: Option<&str>) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM instruction_files WHERE path = :path AND line = :line")?
        .execute(named_params! {":path": path, ":line": line.unwrap_or_default()})?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Store;

    #[test]
    fn a_file_is_noted_once_a_line_and_keeps_what_was_made_for_it() {
        let mut store = Store::new();
        let block = InstructionFile {
            path: "/p/.cursor/rules/remembrancer.mdc".to_owned(),
            line: None,
            folder: "/p".to_owned(),
            made: Some("/p/.cursor".to_owned()),
            tracked: false,
        };
        let import = InstructionFile {
            path: "/p/GEMINI.md".to_owned(),
            line: Some("@./x.md".to_owned()),
            made: None,
            ..block.clone()
        };
        let again = InstructionFile {
            made: None,
            tracked: true,
            ..block.clone()
        };
        for file in [&block, &import, &again] {
            store.writer.add_instruction_file(file, UnixMillis(1)).expect("notes");
        }
        let noted = InstructionFile {
            tracked: true,
            ..block.clone()
        };
        assert_eq!(store.reader().instruction_files().expect("reads"), [noted, import.clone()]);
        store.writer.remove_instruction_file(&block.path, None).expect("drops");
        store.writer.remove_instruction_file(&import.path, None).expect("is none");
        assert_eq!(store.reader().instruction_files().expect("reads"), [import]);
    }
}
