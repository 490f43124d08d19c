//! Feedback can't run away: a simulated user asks for known episodes over many rounds, what is shown and right counts as a
//! use, and uses change what the `union` profile shows next. The same every time. Prints the recall of each world.

use std::collections::HashSet;

use remembrancer_processor::feedback::use_level;
use remembrancer_processor::recall::{Candidate, Fused, Leg, Rule, UNION, fuse};
use remembrancer_schema::{
    Bm25, CandidateRow, Cosine, EpisodeId, EpisodeUid, Importance, Origin, SessionId, TurnUid, UnixMillis,
};
use rstest::rstest;

const TOPICS: usize = 40;
const EPISODES_OF_A_TOPIC: usize = 8;
const EPISODES: usize = TOPICS * EPISODES_OF_A_TOPIC;
/// Candidates of other topics beside those of the prompt's.
const STRANGERS: usize = 40;
/// Each of as many prompts as there are episodes.
const ROUNDS: usize = 16;
const SHOWN: usize = 3;

/// Which episodes are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum World {
    /// All alike: what was used before says nothing of what is asked next.
    Uniform,
    /// The `n`th about `1/n` as often as the first.
    Skewed,
    /// The same, but from half of the time on others are the favourites.
    Shifting,
}

/// Numbers that look drawn and are the same every time (Knuth's MMIX constants).
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    /// About normal, of deviation `size` / 2.
    fn noise(&mut self, size: f64) -> f64 {
        (self.unit() + self.unit() + self.unit() - 1.5) * size
    }
}

/// Episode `number` with what the legs say of it. Creation times are strewn, so that recency says nothing.
fn candidate(number: usize, access_count: u64, cosine: f64, words: f64) -> Candidate {
    let mut uid = [0; 16];
    uid[..8].copy_from_slice(&(number as u64).to_be_bytes());
    let least_words = 0.2;
    Candidate {
        row: CandidateRow {
            id: EpisodeId(number as i64),
            uid: EpisodeUid(uid),
            turn_uid: TurnUid(uid),
            session: SessionId(1),
            turn: 0,
            part: 0,
            project: None,
            origin: Origin::User,
            importance: Importance::Normal,
            created_at: UnixMillis((number * 7_919 % EPISODES) as i64),
            accessed_at: UnixMillis(0),
            access_count,
            embedding: None,
        },
        bm25: (words > least_words).then_some(Bm25(-words)),
        cosine: Some(Cosine(cosine as f32)),
        expansion: None,
        graph: None,
        timely: None,
        foreign: false,
        remote: None,
        exact: false,
    }
}

fn fused(candidates: Vec<Candidate>) -> Vec<Fused> {
    fuse(candidates, &UNION, UnixMillis(i64::MAX))
}

struct Simulation {
    world: World,
    feedback: bool,
    /// The share of what was shown and isn't right that counts as used all the same.
    imagined: f64,
    uses: Vec<u64>,
    draw: Draw,
    mistakes: Draw,
}

impl Simulation {
    /// The share of the prompts of the second half that were shown what they asked for.
    fn run(world: World, feedback: bool, imagined: f64) -> f64 {
        let mut simulation = Self {
            world,
            feedback,
            imagined,
            uses: vec![0; EPISODES],
            draw: Draw(99),
            mistakes: Draw(5),
        };
        let mut right = 0;
        for round in 0..ROUNDS {
            for _ in 0..EPISODES {
                let found = simulation.prompt(round);
                right += u32::from(found && round >= ROUNDS / 2);
            }
        }
        f64::from(right) / (EPISODES * ROUNDS / 2) as f64
    }

    /// One prompt; says whether it was shown what it asked for.
    fn prompt(&mut self, round: usize) -> bool {
        let target = self.target(round);
        let shown: Vec<usize> = fused(self.pool(target))
            .iter()
            .take(SHOWN)
            .map(|fused| fused.candidate.row.id.0 as usize)
            .collect();
        for &number in &shown {
            let used = number == target || self.mistakes.unit() < self.imagined;
            self.uses[number] += u64::from(used && self.feedback);
        }
        shown.contains(&target)
    }

    fn target(&mut self, round: usize) -> usize {
        let by_chance = self.draw.unit();
        let favour = match self.world {
            World::Uniform => (by_chance * EPISODES as f64) as usize,
            World::Skewed | World::Shifting => (EPISODES as f64).powf(by_chance) as usize - 1,
        };
        let favour = if self.world == World::Shifting && round >= ROUNDS / 2 {
            EPISODES - 1 - favour
        } else {
            favour
        };
        // Thirteen is prime to the number of episodes: favourites lie in all topics.
        favour * 13 % EPISODES
    }

    /// The topic of the target, which lies a little above its siblings in both legs, and strangers far below.
    fn pool(&mut self, target: usize) -> Vec<Candidate> {
        let topic = target / EPISODES_OF_A_TOPIC;
        let mut numbers: Vec<usize> = (0..EPISODES_OF_A_TOPIC).map(|n| topic * EPISODES_OF_A_TOPIC + n).collect();
        let mut known: HashSet<usize> = numbers.iter().copied().collect();
        for _ in 0..STRANGERS {
            let stranger = self.draw.below(EPISODES);
            if known.insert(stranger) {
                numbers.push(stranger);
            }
        }
        let mut pool = Vec::with_capacity(numbers.len());
        for number in numbers {
            let likeness = match number {
                _ if number == target => 0.65,
                _ if number / EPISODES_OF_A_TOPIC == topic => 0.45,
                _ => 0.15,
            };
            let (cosine, words) = (likeness + self.draw.noise(0.3), likeness + self.draw.noise(0.3));
            pool.push(candidate(number, self.uses[number], cosine, words));
        }
        pool
    }
}

#[expect(clippy::print_stderr, reason = "a test says what it measured")]
fn report(text: &str) {
    eprintln!("{text}");
}

/// At most what `loss` says may be lost against no feedback; less than nothing is a gain that must be there.
#[rstest]
#[case::uniform(World::Uniform, 0.0, 0.02)]
#[case::uniform_with_imagined_uses(World::Uniform, 0.05, 0.025)]
#[case::skewed(World::Skewed, 0.0, -0.02)]
#[case::skewed_with_imagined_uses(World::Skewed, 0.05, -0.01)]
#[case::shifting(World::Shifting, 0.0, 0.0)]
#[case::shifting_with_imagined_uses(World::Shifting, 0.05, 0.01)]
fn feedback_costs_little_where_it_says_nothing_and_pays_where_it_does(
    #[case] world: World,
    #[case] imagined: f64,
    #[case] loss: f64,
) {
    let [without, with] = [false, true].map(|feedback| Simulation::run(world, feedback, imagined));
    report(&format!(
        "{world:?}, {imagined} imagined: {without:.3} without feedback, {with:.3} with it"
    ));
    assert!(with >= without - loss);
}

/// A decoy that is always shown and never right: as near as the right one, and the newest of all.
#[test]
fn what_is_shown_and_never_used_gains_nothing() {
    let mut uses = vec![0_u64; EPISODES];
    let mut scores = Vec::new();
    for target in 0..EPISODES {
        let mut decoy = candidate(EPISODES, 0, 0.69, 0.69);
        decoy.row.created_at = UnixMillis(EPISODES as i64);
        let others = (1..20).map(|step| (target + step) % EPISODES);
        let mut pool = vec![decoy, candidate(target, 0, 0.7, 0.7)];
        pool.extend(others.map(|number| candidate(number, uses[number], 0.3, 0.3)));
        let fused = fused(pool);
        let place = place_of(EPISODES, &fused);
        assert!(place < SHOWN, "shown for {target}");
        scores.push(fused[place].score);
        uses[target] += 1;
    }
    assert!(scores.windows(2).all(|two| two[1] <= two[0]), "{scores:?}");
}

fn place_of(number: usize, fused: &[Fused]) -> usize {
    let place = fused.iter().position(|fused| fused.candidate.row.id.0 as usize == number);
    place.expect("is a candidate")
}

/// The weight of the access leg of `union`, and its K.
fn access_leg() -> (f64, f64) {
    let Rule::Ranks(fusion) = UNION.rule else {
        panic!("union fuses ranks")
    };
    let weight = fusion
        .weights
        .iter()
        .find(|(leg, _)| *leg == Leg::Access)
        .expect("has the leg")
        .1;
    (weight, fusion.k)
}

/// Twenty candidates, each a little less alike than the one before. `favourite` was used most, and all levels of use below
/// its own are there, too.
fn pool_with_favourite(favourite: usize, uses: u64) -> Vec<Candidate> {
    let levels = use_level(uses);
    let candidates = (0..20).map(|number| {
        let below = number as u32 % levels.max(1);
        let uses = if number == favourite { uses } else { (1 << below) >> 1 };
        let likeness = 0.9 - number as f64 * 0.03;
        candidate(number, uses, likeness, likeness)
    });
    candidates.collect()
}

#[rstest]
#[case::used_once(1)]
#[case::used_often(1_000)]
#[case::used_all_the_time(100_000)]
fn the_most_used_gains_no_more_than_the_bound(#[case] uses: u64) {
    let favourite = 10;
    let with_uses = pool_with_favourite(favourite, uses);
    let mut without_uses = with_uses.clone();
    without_uses[favourite].row.access_count = 0;
    let [with_uses, without_uses] = [with_uses, without_uses].map(|pool| {
        let fused = fused(pool);
        fused[place_of(favourite, &fused)].score
    });
    let (weight, k) = access_leg();
    let ranks = f64::from(use_level(uses)) + 1.0;
    let bound = weight * (1.0 / (k + 1.0) - 1.0 / (k + ranks));
    let gain = with_uses - without_uses;
    assert!((0.0..=bound).contains(&gain), "{gain} of {bound}");
}

/// However often an episode was used: what is clearly better by words and by meaning stays above it.
#[test]
fn a_clearly_better_candidate_is_never_displaced() {
    for favourite in 12..20 {
        let fused = fused(pool_with_favourite(favourite, 1_000_000));
        let place = place_of(favourite, &fused);
        assert!(
            place_of(0, &fused) < place && place_of(1, &fused) < place && place >= SHOWN,
            "{favourite} at {place}"
        );
    }
}
