//! Every statement that goes to the shared store, with its parameters in order and what it gives. Uids are 16 bytes, times are
//! milliseconds since 1970, and `bytea` goes as bytes.

/// The columns of a change: [`PULL`] and [`SEARCH`] give them alike.
macro_rules! change {
    () => {
        "seq, kind, uid, turn_uid, member, member_login, machine, machine_name, project_keys, project_name, agent, session, origin, turn, \
         part, importance, importance_rule, created_at, updated_at, git_branch, prompt, answer, facets, content_hash, sealed, embedding, head"
    };
}

/// The server's version. No parameters. Gives one row: `value int4`. SQLSTATE 3F000 or 42P01 where nothing was set up.
pub const READ_VERSION: &str = "SELECT value::int4 AS value FROM remembrancer.meta WHERE key = 'version'";

/// The epoch of the shared store: another one where it was put back from a copy ([`RESTORED`]). No parameters. Gives one row:
/// `value text`. To be read by who is a member.
pub const SHARED_EPOCH: &str = "SELECT value FROM remembrancer.meta WHERE key = 'epoch'";

/// Says who asks, and notes the machine. Parameters: its id `bytea`, its name `text` (at most 200 characters), the team's name `text`,
/// [`CLIENT_VERSION`](super::CLIENT_VERSION) `int4`. Gives one row: `server_version int4`, `oldest_client int4`, `team_id int4`,
/// `member_id int4`, `member_login text`, `sealed bool`, `key_check bytea` or null, `head int8`.
pub const HELLO: &str = "SELECT server_version, oldest_client, team_id, member_id, member_login, sealed, key_check, head \
     FROM remembrancer.hello($1::bytea, $2::text, $3::text, $4::int4)";

/// Brings rows for a [`PUSH`] of the same transaction, in the binary format: `int4`, `bytea`, `bytea`, `text[]`, `text`, `text`, `text`,
/// `int2` (0 the user's, 1 a subagent's), `int4`, `int4`, `int2` (0 to 2), `text`, `int8`, `int8`, `text` or null, `text`, `text`, `text`
/// (JSON), `bytea` (32), `bytea` or null, `text` or null, `float4[]` or null. A value out of bounds is `RM006`; text without U+0000.
pub const COPY_INCOMING: &str = "COPY remembrancer.incoming (team, uid, turn_uid, project_keys, project_name, agent, session, origin, turn, \
     part, importance, importance_rule, created_at, updated_at, git_branch, prompt, answer, facets, content_hash, sealed, model, embedding) \
     FROM STDIN (FORMAT binary)";

/// Takes what [`COPY_INCOMING`] brought: at most 10,000 rows. Parameters: team `int4`, machine `bytea`. Gives one row: `taken`,
/// `unchanged`, `refused`, each `int8`; refused are those that the member wants forgotten, and that others share. Waits up to 10 s for
/// whoever changes the team (SQLSTATE 55P03).
pub const PUSH: &str = "SELECT taken, unchanged, refused FROM remembrancer.push($1::int4, $2::bytea)";

/// Takes back episodes of the member. Parameters: team `int4`, machine `bytea`, uids `bytea[]` (at most 10,000), everywhere `bool`: also
/// those that another machine of the member brought last. Gives one row: `withdrawn int8`, those that were there. Their marks have the
/// machine that brought them; 16 zero bytes where they were taken back everywhere, as by [`WITHDRAW_ALL`]; 16 of all
/// ones by [`WITHDRAW_MEMBER`].
pub const WITHDRAW: &str = "SELECT remembrancer.withdraw($1::int4, $2::bytea, $3::bytea[], $4::bool) AS withdrawn";

/// Takes back what the member shared of some projects, a part at a time: to be sent again until it gives 0. Parameters: team `int4`,
/// machine `bytea`, project keys `text[]`, or null for all, at most `int4` (1 to 10,000). Gives one row: `withdrawn int8`.
pub const WITHDRAW_ALL: &str = "SELECT remembrancer.withdraw_all($1::int4, $2::bytea, $3::text[], $4::int4) AS withdrawn";

/// Has turns of the member never be there again. Parameters: team `int4`, machine `bytea`, turns `bytea[]` (at most 10,000). Gives one
/// row: `forgotten int8`, those that were not yet.
pub const FORGET: &str = "SELECT remembrancer.forget($1::int4, $2::bytea, $3::bytea[]) AS forgotten";

/// The `kind` of a row of [`PULL`] and [`SEARCH`] that is an episode that is there.
pub const KIND_LIVE: i16 = 0;
/// The `kind` of the mark of an episode that was taken back.
pub const KIND_WITHDRAWN: i16 = 1;
/// The `kind` of the mark of a turn that was forgotten.
pub const KIND_FORGOTTEN: i16 = 2;
/// The `kind` of the end of what there is.
pub const KIND_END: i16 = 3;
/// The `kind` of the end of what was looked at: there may be more.
pub const KIND_FURTHER: i16 = 5;

/// A page of changes after a number, by theirs. Parameters: team `int4`, machine `bytea` (whose own are left out), after `int8`, at most
/// `int4` (1 to 1,000), model `text` whose vectors are wanted, or null, contents `bool` (false: what was withdrawn and forgotten alone).
/// Gives `seq int8`, `kind int2` ([`KIND_LIVE`] and those after it), `uid bytea`,
/// `turn_uid bytea`, `member int4`, `member_login text`, `machine bytea`, `machine_name text`,
/// `project_keys text[]`, `project_name`, `agent`, `session`, `origin int2`, `turn int4`, `part int4`, `importance int2`,
/// `importance_rule`, `created_at int8`, `updated_at int8`, `git_branch`, `prompt`, `answer`, `facets`, `content_hash bytea`,
/// `sealed bytea`, `embedding float4[]`, `head int8`; null where a kind has none. A page without a row of [`KIND_END`] has more after
/// it, or may have: ask from its last `seq` on. That row has the `seq` that the team has come to, from which the next page goes on.
pub const PULL: &str = concat!(
    "SELECT ",
    change!(),
    " FROM remembrancer.pull($1::int4, $2::bytea, $3::int8, $4::int4, $5::text, $6::bool)"
);

/// The best of all that the team shares. Parameters: team `int4`, terms `text[]` (at most 64) or null, vector `float4[]` or null, its
/// model `text` or null, at most `int4` (1 to 200) of each of the two. Gives the columns of [`PULL`], all of [`KIND_LIVE`], then
/// `words_rank int4` and `meaning_rank int4`, from 1, null where that search did not find it.
pub const SEARCH: &str = concat!(
    "SELECT ",
    change!(),
    ", words_rank, meaning_rank FROM remembrancer.search($1::int4, $2::text[], $3::float4[], $4::text, $5::int4)"
);

/// Makes a session one that searches for whoever waits: nothing takes long in it.
pub const BE_READY_TO_SEARCH: &str = "SET statement_timeout = '5s'; SET jit = off";

/// Has the session told of changes: notifications of this channel carry the team's number as text. Whoever is logged in may send one,
/// so it is a reason to look, and no more.
pub const LISTEN: &str = "LISTEN remembrancer";

/// The models whose vectors are taken. No parameters. Gives `name text`, `dimension int4`.
pub const MODELS: &str = "SELECT name, dimension FROM remembrancer.models ORDER BY id";

/// Makes a team, by the store's owner. Parameters: name `text` (1 to 64 letters, digits, `.`, `_` and `-`, of which the first is a letter
/// or a digit), sealed `bool`, the key's check `bytea` (16) if and only if it is. Gives one row: `team_id int4`.
pub const ADD_TEAM: &str = "SELECT remembrancer.add_team($1::text, $2::bool, $3::bytea) AS team_id";

/// Takes a team away with all that is shared there, by the store's owner. Parameter: its name `text`; `RM002` where there is none. Gives one
/// row: `removed int8`, the episodes that were shared.
pub const REMOVE_TEAM: &str = "SELECT remembrancer.remove_team($1::text) AS removed";

/// Notes that the shared store was put back from a copy, by its owner, so that every machine tells all again. No parameters. Gives one row
/// without a value.
pub const RESTORED: &str = "SELECT remembrancer.restored()";

/// How large a team is, to the owner or who is in it. Parameters: its name `text`. Gives one row, or none where there is no such team:
/// `members int8`, `episodes int8` that are shared.
pub const TEAM_SIZE: &str = "SELECT (SELECT count(*) FROM remembrancer.team_members tm WHERE tm.team = t.id AND tm.left_at IS NULL) AS members, \
     (SELECT count(*) FROM remembrancer.episodes e WHERE e.team = t.id AND e.kind = 0) AS episodes \
     FROM remembrancer.teams t WHERE t.name = $1::text";

/// Whether the login of the session looks after a team itself, and not as the store's owner. Parameter: the team's name `text`. Gives one
/// row: `looks_after bool`.
pub const LOOKS_AFTER: &str = "SELECT EXISTS (SELECT FROM remembrancer.teams t \
     WHERE t.name = $1::text AND t.id = ANY (remembrancer.my_admin_teams())) AS looks_after";

/// Takes a login into a team, or changes whether it looks after it; by the owner, or who looks after the team. Parameters: the team's
/// name `text`, login `text`, looks after it `bool`. Gives one row: `member_id int4`. `RM006` where the server has no such login.
pub const ADD_MEMBER: &str = "SELECT remembrancer.add_member($1::text, $2::text::name, $3::bool) AS member_id";

/// Takes a login out of a team, by the same. Parameters: the team's name `text`, login `text`, keep what it shared `bool`, which is noted:
/// where it is not kept, [`WITHDRAW_MEMBER`] follows. Gives one row: `withdrawn int8`, 0. `RM002` where the login is not in the team.
pub const REMOVE_MEMBER: &str = "SELECT remembrancer.remove_member($1::text, $2::text::name, $3::bool) AS withdrawn";

/// Takes back what one shared who left a team, a part at a time, by the same, or by the login itself: to be sent again until it gives 0.
/// `RM006` where the login has not left it; `RM007` for anybody else, also where there is no such team. Parameters: the team's
/// name `text`, login `text`, at most `int4` (1 to 10,000). Gives one row: `withdrawn int8`.
pub const WITHDRAW_MEMBER: &str = "SELECT remembrancer.withdraw_member($1::text, $2::text::name, $3::int4) AS withdrawn";

/// Registers a model, or finds it; by the owner, or who looks after a team. Parameters: name `text`, dimension `int4` (1 to 4,000). Gives
/// one row: `model_id int4`.
pub const REGISTER_MODEL: &str = "SELECT remembrancer.register_model($1::text, $2::int4) AS model_id";
