//! What leaves: pages of the outbox in, transactions of the server out. What is in a page was true when it was read; the store is told
//! before a page leaves, and again once the server has committed it, so that every break is repeated and none is lost. A row that the
//! server does not take for what it holds is found by halves and set aside, so that it holds up no other.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use remembrancer_schema::{EpisodeUid, OwnEpisode, ToPush};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::{Client, IsolationLevel};

use super::connection::ANSWER;
use super::error::ShareError;
use super::sharing::Team;
use super::wire_rows::{COLUMNS, Outgoing, get, size};
use super::{Sharing, server};
use crate::counts::Count;
use crate::threads::Panicked;

/// Entries of a page: the store's writer is asked for as many in one transaction at most.
const PAGE: usize = 200;
/// Bytes of texts and vectors in one transaction of the server, but for one episode that has more by itself.
const BYTES: usize = 4 * 1024 * 1024;

/// What the server said of a page.
#[derive(Debug, Default, PartialEq, Eq)]
struct Taken {
    taken: i64,
    refused: i64,
}

impl Sharing {
    /// Sends the next page, with `only_removals` of what leaves there alone. Says whether there may be more.
    ///
    /// # Errors
    /// [`ShareError`]; what was not committed is sent again.
    pub(super) async fn push_page(&self, client: &mut Client, team: &Arc<Team>, only_removals: bool) -> Result<bool, ShareError> {
        let page = self
            .background
            .call(move |reader| reader.next_to_push(PAGE, only_removals))
            .await??;
        let more = page.entries.len() == PAGE;
        let mut waiting = pieces(page, BYTES);
        while let Some(piece) = waiting.pop() {
            let Some((piece, error)) = self.send(client, team, piece).await? else {
                continue;
            };
            if let Some((first, second)) = halves(&piece) {
                waiting.extend([second, first]);
                continue;
            }
            let Some(own) = piece.live.first() else { return Err(error) };
            let uid = own.episode.uid;
            tracing::warn!(episode = %uid, %error, "the shared store does not take an episode for what it holds; it is set aside");
            self.progress.count(Count::ShareSetAside, 1);
            self.shared.count(|counts| counts.set_aside += 1);
            // What the server may have of it is of a time before.
            waiting.push(ToPush {
                live: Vec::new(),
                withdraw: vec![uid],
                ..piece
            });
        }
        Ok(more)
    }

    /// Sends a piece; gives it back where the server does not take it for what it holds.
    async fn send(
        &self,
        client: &mut Client,
        team: &Arc<Team>,
        piece: ToPush,
    ) -> Result<Option<(ToPush, ShareError)>, ShareError> {
        let noted = self.writer.call(move |writer| {
            let mut piece = piece;
            writer.pushing(&mut piece).map(|sent| (piece, sent))
        });
        let (piece, sent) = noted.await??;
        if !piece.is_empty() {
            let for_team = Arc::clone(team);
            // Redaction and seals take their time.
            let made = tokio::task::spawn_blocking(move || for_team.rows(&piece).map(|rows| (piece, rows)));
            let (piece, rows) = made.await.map_err(|_| Panicked)??;
            let sending = tokio::time::timeout(ANSWER, transact(client, team, &piece, &rows)).await;
            match sending.map_err(|_| ShareError::Late(ANSWER))? {
                Err(error) if error.is_of_content() => return Ok(Some((piece, error))),
                Err(error) => return Err(error),
                Ok(told) => self.shared.count(|counts| {
                    counts.sent += u64::try_from(told.taken).unwrap_or_default();
                    counts.refused += u64::try_from(told.refused).unwrap_or_default();
                }),
            }
        }
        let gone = self.writer.call(move |writer| writer.pushed(&sent)).await??;
        if !gone.is_empty() {
            self.left(gone).await?;
        }
        Ok(None)
    }
}

impl Team {
    /// The rows of a piece, as they leave.
    fn rows(&self, piece: &ToPush) -> Result<Vec<Outgoing>, ShareError> {
        let is_known = |model: &str| self.models.contains(model);
        let rows = piece.live.iter();
        let rows = rows.map(|own| Outgoing::of(own, self.id, self.sealing.as_ref(), &is_known));
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// All of a piece, in one transaction of the server.
async fn transact(client: &mut Client, team: &Team, piece: &ToPush, rows: &[Outgoing]) -> Result<Taken, ShareError> {
    let machine: &[u8] = &team.machine;
    let begun = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let transaction = begun.start().await?;
    let mut told = Taken::default();
    if !rows.is_empty() {
        let sink = transaction.copy_in(server::COPY_INCOMING).await?;
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &COLUMNS));
        for row in rows {
            let bytes = row.bytes();
            writer.as_mut().write(&row.values(&bytes)).await?;
        }
        writer.as_mut().finish().await?;
        let row = transaction.query_one(server::PUSH, &[&team.id, &machine]).await?;
        told = Taken {
            taken: get(&row, "taken")?,
            refused: get(&row, "refused")?,
        };
    }
    // What an exclusion hides here, and what was shared under a former name, is taken back from wherever the member shared it; the rest, from
    // this machine.
    for (uids, everywhere) in [(&piece.withdraw, false), (&piece.withdraw_everywhere, true)] {
        if !uids.is_empty() {
            let uids: Vec<&[u8]> = uids.iter().map(|uid| &uid.0[..]).collect();
            transaction
                .execute(server::WITHDRAW, &[&team.id, &machine, &uids, &everywhere])
                .await?;
        }
    }
    if !piece.forget.is_empty() {
        let turns: Vec<&[u8]> = piece.forget.iter().map(|turn| &turn.0[..]).collect();
        transaction.execute(server::FORGET, &[&team.id, &machine, &turns]).await?;
    }
    transaction.commit().await?;
    Ok(told)
}

/// A page in pieces of about `most` bytes, the last first: what leaves the shared store, and what it has nothing to know of, goes with the
/// first of them.
fn pieces(page: ToPush, most: usize) -> Vec<ToPush> {
    if page.entries.is_empty() {
        return Vec::new();
    }
    let mut changes: BTreeMap<EpisodeUid, i64> = page.entries.iter().map(|(change, uid)| (*uid, *change)).collect();
    let (mut pieces, mut current, mut bytes) = (Vec::new(), ToPush::default(), 0);
    for own in page.live {
        let more = size(&own.episode);
        if bytes + more > most && !current.live.is_empty() {
            pieces.push(std::mem::take(&mut current));
            bytes = 0;
        }
        bytes += more;
        let uid = own.episode.uid;
        current.entries.extend(changes.remove(&uid).map(|change| (change, uid)));
        current.live.push(own);
    }
    pieces.push(current);
    let first = &mut pieces[0];
    first.entries.extend(changes.into_iter().map(|(uid, change)| (change, uid)));
    (first.withdraw, first.withdraw_everywhere, first.forget) = (page.withdraw, page.withdraw_everywhere, page.forget);
    pieces.reverse();
    pieces
}

/// What leaves the shared store and the rest, or the two halves of its episodes; `None` where there is one of them alone, or none.
fn halves(piece: &ToPush) -> Option<(ToPush, ToPush)> {
    let is_of = |live: &[OwnEpisode], uid: &EpisodeUid| live.iter().any(|own| own.episode.uid == *uid);
    let part = |live: &[OwnEpisode]| ToPush {
        live: live.to_vec(),
        entries: piece.entries.iter().filter(|(_, uid)| is_of(live, uid)).copied().collect(),
        ..ToPush::default()
    };
    if piece.live.is_empty() {
        return None;
    }
    let others = piece.entries.iter().filter(|(_, uid)| !is_of(&piece.live, uid));
    let others = ToPush {
        withdraw: piece.withdraw.clone(),
        withdraw_everywhere: piece.withdraw_everywhere.clone(),
        forget: piece.forget.clone(),
        entries: others.copied().collect(),
        ..ToPush::default()
    };
    if !others.entries.is_empty() || !others.is_empty() {
        return Some((others, part(&piece.live)));
    }
    let (first, second) = piece.live.split_at(piece.live.len() / 2);
    (!first.is_empty()).then(|| (part(first), part(second)))
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::TurnUid;

    use super::*;
    use crate::share::wire_rows::tests::own;

    fn uid(number: u8) -> EpisodeUid {
        EpisodeUid([number; 16])
    }

    fn episode(number: u8) -> OwnEpisode {
        let mut own = own();
        own.episode.uid = uid(number);
        own
    }

    /// Three episodes, one to withdraw, a turn to forget, one that is hidden, and one of which there is nothing to know.
    fn page() -> ToPush {
        ToPush {
            live: [1, 2, 3].map(episode).into(),
            withdraw: vec![uid(4)],
            forget: vec![TurnUid([5; 16])],
            withdraw_everywhere: vec![uid(7)],
            entries: (1..=7).map(|number| (i64::from(number), uid(number))).collect(),
        }
    }

    fn numbers(piece: &ToPush) -> (Vec<u8>, Vec<i64>) {
        let live = piece.live.iter().map(|own| own.episode.uid.0[0]).collect();
        let mut changes: Vec<i64> = piece.entries.iter().map(|(change, _)| *change).collect();
        changes.sort_unstable();
        (live, changes)
    }

    #[test]
    fn a_page_is_cut_where_it_is_large_and_each_entry_goes_with_its_episode() {
        let whole = pieces(page(), BYTES);
        assert_eq!(
            whole.iter().map(numbers).collect::<Vec<_>>(),
            [(vec![1, 2, 3], vec![1, 2, 3, 4, 5, 6, 7])]
        );
        let mut cut = pieces(page(), 1);
        let first = cut.pop().unwrap();
        assert_eq!(numbers(&first), (vec![1], vec![1, 4, 5, 6, 7]), "what leaves goes at once");
        assert_eq!(
            (first.withdraw.len(), first.withdraw_everywhere.len(), first.forget.len()),
            (1, 1, 1)
        );
        let rest: Vec<_> = cut.iter().rev().map(numbers).collect();
        assert_eq!(rest, [(vec![2], vec![2]), (vec![3], vec![3])]);
        let tells_of_live_alone =
            |piece: &ToPush| piece.withdraw.is_empty() && piece.withdraw_everywhere.is_empty() && piece.forget.is_empty();
        assert!(cut.iter().all(tells_of_live_alone));
    }

    #[test]
    fn nothing_is_no_piece_and_what_is_not_told_is_one() {
        assert!(pieces(ToPush::default(), BYTES).is_empty());
        let nothing_to_know = ToPush {
            entries: vec![(1, uid(1))],
            ..ToPush::default()
        };
        let pieces = pieces(nothing_to_know, BYTES);
        assert_eq!(pieces.iter().map(numbers).collect::<Vec<_>>(), [(vec![], vec![1])]);
        assert!(pieces[0].is_empty(), "the server is not asked");
    }

    #[test]
    fn halves_come_down_to_one_episode() {
        let (others, episodes) = halves(&page()).unwrap();
        assert_eq!(
            (
                numbers(&others),
                others.withdraw.len(),
                others.withdraw_everywhere.len(),
                others.forget.len()
            ),
            ((vec![], vec![4, 5, 6, 7]), 1, 1, 1)
        );
        assert_eq!(numbers(&episodes), (vec![1, 2, 3], vec![1, 2, 3]));
        assert_eq!(halves(&others), None);
        let (first, second) = halves(&episodes).unwrap();
        assert_eq!(
            (numbers(&first), numbers(&second)),
            ((vec![1], vec![1]), (vec![2, 3], vec![2, 3]))
        );
        assert_eq!(halves(&first), None);
    }
}
