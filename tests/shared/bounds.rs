//! Values that are not taken, each refused by its name before anything is stored; and what a sealed team takes.

use remembrancer_schema::shared::{FORGET, HELLO, SEARCH};

use crate::store::{DIMENSION, Episode, MODEL, Store, bring, id, push, pushed, refused};

type Spoil = fn(&mut Episode);

/// What is wrong with a row, and the word by which it is refused.
const SPOILT: [(&str, Spoil); 26] = [
    ("team", |row| row.team = -1),
    ("uid", |row| row.uid = vec![1; 15]),
    ("uid", |row| row.uid = vec![1; 100_000]),
    ("turn_uid", |row| row.turn_uid.clear()),
    ("project_keys", |row| row.project_keys = None),
    ("project_keys", |row| row.project_keys = Some(vec!["url:x".to_owned(); 17])),
    ("project_keys", |row| row.project_keys = Some(vec!["x".repeat(9000)])),
    ("a path", |row| row.project_keys = Some(vec!["/home/ann/app".to_owned()])),
    ("project_name", |row| row.project_name = "x".repeat(2000)),
    ("agent", |row| row.agent = "x".repeat(200)),
    ("session", |row| row.session = None),
    ("session", |row| row.session = Some("x".repeat(2000))),
    ("origin", |row| row.origin = 2),
    ("turn", |row| row.turn = -1),
    ("part", |row| row.part = -1),
    ("importance", |row| row.importance = 3),
    ("importance_rule", |row| row.importance_rule = "x".repeat(300)),
    ("created_at", |row| row.created_at = None),
    ("git_branch", |row| row.git_branch = Some("x".repeat(2000))),
    ("prompt", |row| row.prompt = "x".repeat(1_048_577)),
    ("answer", |row| row.answer = None),
    ("facets", |row| row.facets = "x".repeat(2_000_000)),
    ("content_hash", |row| row.content_hash = vec![0; 20]),
    ("sealed", |row| row.sealed = Some(vec![1; 40])),
    ("model and embedding", |row| row.model = Some(MODEL.to_owned())),
    ("embedding", |row| {
        (row.model, row.embedding) = (Some(MODEL.to_owned()), Some(Vec::new()));
    }),
];

#[test]
fn a_value_out_of_bounds_is_refused_by_its_name() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    for (name, spoil) in SPOILT {
        let mut row = Episode::of(team, "spoilt");
        spoil(&mut row);
        let said = refused(ann.push(&[Episode::of(team, "good"), row]), "RM006");
        assert!(said.contains(name), "{name}: {said}");
    }
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes"), 0);
}

#[test]
fn a_vector_that_the_model_can_t_have_is_refused() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    let vectors = [
        vec![1.0; DIMENSION - 1],
        vec![1.0; DIMENSION + 1],
        vec![f32::NAN; DIMENSION],
        vec![f32::INFINITY; DIMENSION],
        vec![1e30; DIMENSION],
        vec![1.0; 5000],
    ];
    for vector in vectors {
        let row = Episode::of(team, "a").with_vector(MODEL, vector.clone());
        refused(ann.push(&[row]), "RM006");
        let asked = ann
            .client
            .query(SEARCH, &[&team, &None::<Vec<&str>>, &Some(vector), &MODEL, &5_i32]);
        refused(asked, "RM006");
    }
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes"), 0);
}

#[test]
fn the_largest_texts_are_taken_whatever_stands_in_them() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    let makers: [fn(u32) -> String; 6] = [
        |number| format!("{number:x} "),
        |number| format!("{} ", char::from_u32(0x4e00 + number % 20_000).unwrap()),
        |number| {
            let letter = |from: u32, of: u32| char::from_u32(from + of).unwrap();
            format!("{}-{} ", letter(0x1_0000, number % 200), letter(0x2_0000, number % 40_000))
        },
        |number| format!("x{number:x}.com/{number:x}/{number:x} "),
        |number| format!("/a{number:x}/b{number:x} -{number}.5e3 y@z{number:x}.de "),
        |_| "x".repeat(1000),
    ];
    for (which, make) in makers.into_iter().enumerate() {
        let mut text: String = (0..80_000)
            .map(make)
            .scan(0, |size, piece| {
                *size += piece.len();
                (*size <= 1_048_576).then_some(piece)
            })
            .collect();
        text.truncate(text.floor_char_boundary(1_048_576));
        let mut row = Episode::of(team, &format!("e{which}")).saying(&text);
        (row.answer, row.facets) = (Some(text.clone()), text);
        assert_eq!(ann.push(&[row]).unwrap(), pushed(1, 0, 0), "{which}");
    }
}

#[test]
fn lists_have_a_bound_and_ids_a_length() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    let many: Vec<Vec<u8>> = (0..10_001).map(|number| id(&format!("{number}"))).collect();
    let machine = ann.machine.clone();
    let withdraw = "SELECT remembrancer.withdraw($1, $2, $3, false)";
    for statement in [withdraw, FORGET] {
        for list in [Some(many.clone()), Some(vec![vec![1; 15]]), None] {
            refused(ann.client.query(statement, &[&team, &machine, &list]), "RM006");
        }
        ann.client
            .query(statement, &[&team, &machine, &many[..10_000].to_vec()])
            .unwrap();
    }
    let terms = vec!["word"; 65];
    refused(
        ann.client
            .query(SEARCH, &[&team, &terms, &None::<Vec<f32>>, &None::<&str>, &5_i32]),
        "RM006",
    );
    let nobody = (vec![0; 16], "x".to_owned());
    for (machine, name) in [(vec![1; 15], "x".to_owned()), nobody, (id("laptop"), "x".repeat(201))] {
        refused(ann.client.query(HELLO, &[&machine, &name, &"one", &1_i32]), "RM006");
    }
    let mut transaction = ann.client.transaction().unwrap();
    let rows: Vec<Episode> = (0..10_001).map(|number| Episode::of(team, &format!("{number}"))).collect();
    bring(&mut transaction, &rows).unwrap();
    refused(push(&mut transaction, team, &machine), "RM006");
}

#[test]
fn a_sealed_team_takes_nothing_in_the_clear_and_another_nothing_sealed() {
    let Some(mut store) = Store::new() else { return };
    let (sealed, clear) = (store.sealed_team("sealed"), store.team("clear"));
    let mut ann = store.member("sealed", "ann", "laptop");
    let told = ann.hello("sealed").unwrap();
    assert_eq!(
        (told.get::<_, bool>("sealed"), told.get::<_, Option<Vec<u8>>>("key_check")),
        (true, Some(vec![7_u8; 16]))
    );
    let good = Episode::of(sealed, "a").sealed(&[1; 60]);
    assert_eq!(ann.push(std::slice::from_ref(&good)).unwrap(), pushed(1, 0, 0));
    // Sealed anew the same text is other bytes of the same length.
    let again = Episode::of(sealed, "a").sealed(&[2; 60]);
    assert_eq!(ann.push(&[again]).unwrap(), pushed(0, 1, 0));
    let in_the_clear: [Spoil; 8] = [
        |row| row.sealed = None,
        |row| "text".clone_into(&mut row.prompt),
        |row| row.answer = Some("text".to_owned()),
        |row| r#"{"files":["a"]}"#.clone_into(&mut row.facets),
        |row| row.git_branch = Some("main".to_owned()),
        |row| "app".clone_into(&mut row.project_name),
        |row| row.session = Some("a session".to_owned()),
        |row| row.project_keys = Some(vec!["url:github.com/acme/app".to_owned()]),
    ];
    for (which, spoil) in in_the_clear.into_iter().enumerate() {
        let mut row = good.clone();
        row.uid = id("b");
        spoil(&mut row);
        let said = refused(ann.push(&[row]), "RM005");
        assert!(said.contains("sealed"), "{which}: {said}");
    }
    let mut bob = store.member("clear", "bob", "desk");
    let mut row = Episode::of(clear, "a");
    row.sealed = Some(vec![1; 60]);
    refused(bob.push(&[row]), "RM005");
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes"), 1);
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes WHERE words <> ''"), 0);
}
