//! What befalls a server and the way to it while two machines share: killed, stopped, full, read-only, out of connections, slow, hanging,
//! cut in the middle of anything. Every prompt is answered or not within its time, and afterwards both have all, and nothing twice.
//! Each fault prints a line of a table.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use postgres::{Client, NoTls};
use remembrancer_tests::cutting_proxy::{Answer, Cut, CutPoints};
use remembrancer_tests::faults::hooks::fire;
use remembrancer_tests::postgres::Postgres;
use remembrancer_tests::{DaemonProcess, Sandbox, Transcript, eventually, sandbox, timed, topic, within};

use super::world::{Machine, Store};
use crate::PATIENCE;

/// Turns that are written during a fault.
const TURNS: u32 = 12;
/// Prompts that each machine is asked during a fault.
const PROMPTS: u32 = 8;
/// Where connections are cut; another seed cuts elsewhere.
const SEED: u64 = 9;
/// How often.
const CUTS: usize = 30;

/// The head of the table.
const HEADER: &str = "| fault | prompts asked | late | lost | doubled | caught up after |\n| --- | --- | --- | --- | --- | --- |";

/// Has some prompts asked of a machine whose server does not serve it. None may be late, or get anything but the host's one object.
pub(super) fn prompts_go_on(machine: &Machine) {
    let mut asked = Asked::default();
    for number in 0..PROMPTS {
        asked.ask(machine, number);
    }
    assert!(asked.broken.is_empty(), "{:?}", asked.broken);
}

/// Prompts so far.
#[derive(Debug, Default)]
struct Asked {
    prompts: u32,
    spoke: u32,
    /// What was wrong with them: late, loud.
    broken: Vec<String>,
}

impl Asked {
    fn ask(&mut self, machine: &Machine, number: u32) {
        let app = machine.sandbox.project("app");
        let fired = fire(&machine.sandbox, &machine.session(), &app, &topic(100 + number).0);
        self.prompts += 1;
        self.spoke += u32::from(fired.spoke);
        self.broken
            .extend(fired.violations.iter().map(|violation| format!("{violation:?}")));
    }
}

/// Two machines that share, both by the same way.
struct Pair<'a> {
    store: &'a Store,
    laptop: &'a Machine,
    desk: &'a Machine,
    transcript: Transcript,
    next: u32,
}

impl<'a> Pair<'a> {
    /// Both have the first turns of each other; their daemons run as long as what is returned with it.
    fn begin(store: &'a Store, laptop: &'a Machine, desk: &'a Machine) -> (Self, [DaemonProcess<'a>; 2]) {
        let mut transcript = laptop.transcript("live");
        transcript.topics(100..100 + PROMPTS);
        desk.transcript("own").topics(200..202);
        let daemons = [laptop.sandbox.start(), desk.sandbox.start()];
        let pair = Self {
            store,
            laptop,
            desk,
            transcript,
            next: 300,
        };
        assert!(pair.catch_up(), "before any fault: {}", desk.share_status());
        (pair, daemons)
    }

    /// Writes turns of their own numbers.
    fn write(&mut self, turns: u32) {
        self.transcript.topics(self.next..self.next + turns);
        self.next += turns;
    }

    /// All turns that were written, on either machine.
    fn written(&self) -> BTreeSet<String> {
        let numbers = (100..100 + PROMPTS).chain(200..202).chain(300..self.next);
        numbers.map(|number| topic(number).0).collect()
    }

    /// Waits until both have all, and the server too. Returns whether they do.
    fn catch_up(&self) -> bool {
        let written = self.written();
        let is_whole = |machine: &Machine| {
            let prompts = machine.sandbox.prompts();
            prompts.len() >= written.len() && prompts.into_iter().collect::<BTreeSet<_>>() == written
        };
        let (laptop, desk, store) = (self.laptop, self.desk, self.store);
        let whole = within(PATIENCE, || {
            let whole = is_whole(laptop) && is_whole(desk) && store.live() == written.len() as i64;
            whole.then_some(())
        });
        whole.is_some()
    }

    /// Lets a fault begin, has turns written and prompts asked while it lasts, lets it end, and waits. Prints its line.
    fn suffer(&mut self, fault: &str, begin: impl FnOnce(), end: impl FnOnce()) {
        begin();
        self.write(TURNS);
        let mut asked = Asked::default();
        for number in 0..PROMPTS {
            asked.ask(self.laptop, number);
            asked.ask(self.desk, number);
        }
        end();
        // What is not there then is counted as lost.
        let (_, took) = timed(|| self.catch_up());
        self.tell(fault, &asked, took);
    }

    /// Prints the line of a fault, and fails where anything was broken.
    fn tell(&self, fault: &str, asked: &Asked, took: Duration) {
        let written = self.written();
        let (mut lost, mut doubled) = (0, 0);
        for machine in [self.laptop, self.desk] {
            let prompts = machine.sandbox.prompts();
            let distinct: BTreeSet<String> = prompts.iter().cloned().collect();
            lost += written.difference(&distinct).count();
            doubled += prompts.len() - distinct.len();
        }
        let live = self.store.live();
        let late = asked.broken.len();
        eprintln!(
            "| {fault} | {} | {late} | {lost} | {doubled} | {:.1} s |",
            asked.prompts,
            took.as_secs_f64()
        );
        assert!(asked.broken.is_empty(), "{fault}: {:?}", asked.broken);
        assert_eq!((lost, doubled), (0, 0), "{fault}: {}", self.desk.share_status());
        assert_eq!(live, written.len() as i64, "{fault}: on the server");
        assert!(asked.spoke > 0, "{fault}: not one prompt was answered");
    }
}

/// Settings of both, by a port where it is given.
fn machines(store: &Store, port: Option<u16>) -> [Machine; 2] {
    store.team("core", &["ada", "bob"]);
    [("ada", "laptop"), ("bob", "desk")].map(|(member, machine)| {
        let settings = store.settings(member, "core", machine);
        store.machine(&match port {
            Some(port) => settings.by_port(port),
            None => settings,
        })
    })
}

/// A store on a server of the test's own, which may be stopped; `None` where there is none.
fn own_server(admin: Sandbox) -> Option<Store> {
    let server = Postgres::start().unwrap()?;
    Some(Store::on(Arc::new(server), admin))
}

/// Has whatever pushes wait, or fail, before its first row is taken.
fn trigger(client: &mut Client, body: &str) {
    let made = format!(
        "CREATE FUNCTION public.meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN NULL; END $$;
         CREATE TRIGGER meddle BEFORE INSERT ON remembrancer.incoming FOR EACH STATEMENT EXECUTE FUNCTION public.meddle()"
    );
    client.batch_execute(&made).unwrap();
}

fn no_trigger(client: &mut Client) {
    let removed = "DROP TRIGGER meddle ON remembrancer.incoming; DROP FUNCTION public.meddle()";
    client.batch_execute(removed).unwrap();
}

#[test]
fn a_server_that_is_killed_in_a_push_or_stopped_for_a_while_is_caught_up_with() {
    let Some(store) = own_server(sandbox!()) else { return };
    let [laptop, desk] = machines(&store, None);
    let (mut pair, daemons) = Pair::begin(&store, &laptop, &desk);
    eprintln!("{HEADER}");

    trigger(&mut store.client(), "PERFORM pg_sleep(2)");
    pair.write(TURNS);
    let pushes = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep'";
    eventually("a push to be under way", PATIENCE, || {
        (store.number(pushes, &[&store.database()]) > 0).then_some(())
    });
    pair.suffer(
        "server killed in a push, and started again",
        || store.server().kill().unwrap(),
        || {
            store.server().start_again().unwrap();
            no_trigger(&mut store.client());
        },
    );
    pair.suffer(
        "server stopped for a while",
        || store.server().stop().unwrap(),
        || store.server().start_again().unwrap(),
    );
    drop(daemons);
}

#[test]
fn a_server_that_is_out_of_connections_is_waited_for() {
    let Some(store) = own_server(sandbox!()) else { return };
    let [laptop, desk] = machines(&store, None);
    let (mut pair, daemons) = Pair::begin(&store, &laptop, &desk);
    eprintln!("{HEADER}");
    let taken: RefCell<Vec<Client>> = RefCell::default();
    let mut admin = store.client();
    let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1 AND usename <> current_user";
    let url = store.server().admin_url();
    pair.suffer(
        "server out of connections",
        || {
            eventually("all connections to be taken", PATIENCE, || {
                taken
                    .borrow_mut()
                    .extend(std::iter::from_fn(|| Client::connect(&url, NoTls).ok()));
                let row = admin.query_one(others, &[&store.database()]).unwrap();
                (row.get::<_, i64>(0) == 0).then_some(())
            });
        },
        || {
            taken.borrow_mut().clear();
            eventually("a free connection", PATIENCE, || Client::connect(&url, NoTls).ok());
        },
    );
    drop(daemons);
}

#[test]
fn a_server_that_is_full_or_read_only_is_waited_for() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let [laptop, desk] = machines(&store, None);
    let (mut pair, daemons) = Pair::begin(&store, &laptop, &desk);
    eprintln!("{HEADER}");
    let mut client = store.client();
    trigger(
        &mut client,
        "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'",
    );
    drop(client);
    pair.suffer("server's disk full", || {}, || no_trigger(&mut store.client()));

    // As a server that became the copy of another: it has to be said elsewhere that it is none any more.
    let alter = |what: &str| {
        let mut elsewhere = Client::connect(&store.server().admin_url(), NoTls).unwrap();
        elsewhere
            .batch_execute(&format!("ALTER DATABASE {} {what}", store.database()))
            .unwrap();
        store.disconnect_all();
    };
    pair.suffer(
        "server read-only",
        || alter("SET default_transaction_read_only = on"),
        || alter("RESET default_transaction_read_only"),
    );
    drop(daemons);
}

#[test]
fn a_server_that_takes_connections_and_never_answers_is_given_up() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let proxy = store.proxy();
    let [laptop, desk] = machines(&store, Some(proxy.address().port()));
    let (mut pair, daemons) = Pair::begin(&store, &laptop, &desk);
    eprintln!("{HEADER}");
    let before = proxy.counts().connections;
    pair.suffer(
        "server that takes connections and never answers",
        || {
            proxy.answer(Answer::Hang);
            proxy.cut_now();
            // They are never answered, later neither: who waits for them has to give up.
            eventually("both to call again", PATIENCE, || {
                (proxy.counts().connections >= before + 2).then_some(())
            });
        },
        || proxy.answer(Answer::Carry),
    );
    drop(daemons);
}

#[test]
fn a_slow_way_and_one_without_an_answer_cost_no_prompt() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let proxy = store.proxy();
    let [laptop, desk] = machines(&store, Some(proxy.address().port()));
    let (mut pair, daemons) = Pair::begin(&store, &laptop, &desk);
    eprintln!("{HEADER}");
    let second = Duration::from_secs(1);
    pair.suffer(
        "two seconds there and back",
        || proxy.delay(second, second),
        || proxy.delay(Duration::ZERO, Duration::ZERO),
    );
    pair.suffer(
        "server unreachable: connections cut, and refused",
        || {
            proxy.answer(Answer::Refuse);
            proxy.cut_now();
        },
        || proxy.answer(Answer::Carry),
    );
    pair.suffer(
        "server that stops answering",
        || proxy.answer(Answer::Hang),
        || proxy.answer(Answer::Carry),
    );
    assert!(proxy.counts().connections > 2, "{:?}", proxy.counts());
    drop(daemons);
}

#[test]
fn a_connection_that_is_cut_anywhere_loses_and_doubles_nothing() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let proxy = store.proxy();
    let [laptop, desk] = machines(&store, Some(proxy.address().port()));
    let (mut pair, daemons) = Pair::begin(&store, &laptop, &desk);
    eprintln!("{HEADER}");
    let mut asked = Asked::default();
    for (number, (direction, after)) in CutPoints::new(SEED, 3_000, 1_500).take(CUTS).enumerate() {
        let before = proxy.counts().cuts;
        proxy.cut(Some(Cut::Once(direction, after)));
        pair.write(1);
        asked.ask(&laptop, number as u32 % PROMPTS);
        asked.ask(&desk, number as u32 % PROMPTS);
        eventually(&format!("cut {number}, {direction:?} after {after} bytes"), PATIENCE, || {
            // Its patience with the network would grow with every cut.
            laptop.nudge();
            desk.nudge();
            (proxy.counts().cuts > before).then_some(())
        });
    }
    proxy.cut(None);
    for machine in [&laptop, &desk] {
        machine.nudge();
    }
    let (_, took) = timed(|| pair.catch_up());
    pair.tell(&format!("cut at {CUTS} places (seed {SEED})"), &asked, took);
    drop(daemons);
}
