//! The built-in model against stored vectors of the model it was made from, and its files against their sums.
//!
//! `embed_reference/vectors.f32` was written by `packaging/model/check.py SOURCE vectors texts.json vectors.f32`.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use remembrancer_processor::embed::{BertEmbedder, DeviceChoice, EMBEDDED_MODEL_ID, Embed, Embedding, Precision};
use rstest::rstest;
use sha2::{Digest, Sha256};

static EMBEDDER: LazyLock<BertEmbedder> = LazyLock::new(|| BertEmbedder::embedded().unwrap());
static TEXTS: LazyLock<Vec<String>> =
    LazyLock::new(|| serde_json::from_slice(&fs_err::read(reference("texts.json")).unwrap()).unwrap());

fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/embed_reference").join(name)
}

fn model_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("model").join(name)
}

fn texts() -> Vec<&'static str> {
    TEXTS.iter().map(String::as_str).collect()
}

fn reference_vectors() -> Vec<Vec<f32>> {
    let bytes = fs_err::read(reference("vectors.f32")).unwrap();
    let (numbers, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    let values: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    values.chunks(384).map(<[f32]>::to_vec).collect()
}

#[rstest]
#[case::as_shipped(Precision::Auto)]
#[case::f32(Precision::F32)]
fn vectors_are_those_of_the_source_model(#[case] precision: Precision) {
    let embedder = BertEmbedder::embedded_with(DeviceChoice::Cpu, precision).unwrap();
    let embeddings = embedder.embed_passages(&texts()).unwrap();
    let reference = reference_vectors();
    assert_eq!(embeddings.len(), reference.len());
    let cosines: Vec<f32> = embeddings
        .iter()
        .zip(&reference)
        .map(|(own, exact)| own.cosine_with(exact))
        .collect();
    for (text, cosine) in TEXTS.iter().zip(&cosines) {
        assert!(*cosine >= 0.995, "{cosine}: {text}");
    }
    let mean = cosines.iter().sum::<f32>() / cosines.len() as f32;
    assert!(mean >= 0.999, "{mean}");
}

#[test]
fn a_short_prompt_has_the_vector_of_the_same_passage() {
    let text = "Why does the login test hang on CI?";
    let query = EMBEDDER.embed_query(text).unwrap();
    let passages = EMBEDDER.embed_passages(&[text]).unwrap();
    assert!(query.cosine(&passages[0]) > 0.99999);
}

#[test]
fn nothing_to_embed_gives_nothing() {
    assert!(EMBEDDER.embed_passages(&[]).unwrap().is_empty());
}

#[test]
fn a_long_prompt_is_its_head_and_its_tail() {
    let head = "The deployment of the payment service fails in staging. ".repeat(20);
    let tail = "So how do I roll back the database migration?";
    let prompt = |middle: &str| format!("{head}{}{tail}", middle.repeat(400));
    let one = EMBEDDER.embed_query(&prompt("apples and pears ")).unwrap();
    let other = EMBEDDER.embed_query(&prompt("planets and moons ")).unwrap();
    let tail = EMBEDDER.embed_query(tail).unwrap();
    let head = EMBEDDER.embed_query(&head).unwrap();
    assert!(one.cosine(&other) > 0.9, "the middle is not read");
    assert!(one.cosine(&tail) > head.cosine(&tail) + 0.05, "the question at the end is");
}

#[test]
fn a_huge_prompt_is_a_prompt() {
    let text = "0123456789abcdef\n".repeat(1 << 16);
    assert_eq!(EMBEDDER.embed_query(&text).unwrap().dims(), 384);
    assert_eq!(EMBEDDER.embed_query(&" ".repeat(1 << 20)).unwrap().dims(), 384);
}

#[test]
fn the_files_are_those_of_the_manifest() {
    let manifest = fs_err::read_to_string(model_file("manifest.toml")).unwrap();
    assert!(manifest.contains(&format!("id = \"{EMBEDDED_MODEL_ID}\"")));
    for line in fs_err::read_to_string(model_file("SHA256SUMS")).unwrap().lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let bytes = fs_err::read(model_file(name)).unwrap();
        let found = hex(&Sha256::digest(&bytes));
        assert_eq!(found, sum, "{name}");
        assert!(
            name == "manifest.toml" || manifest.contains(&found),
            "{name} is not in manifest.toml"
        );
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Equal but for the order of additions in a product.
fn same(left: &Embedding, right: &Embedding) -> bool {
    left.as_slice()
        .iter()
        .zip(right.as_slice())
        .all(|(left, right)| (left - right).abs() < 2e-6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_text_s_vector_does_not_depend_on_its_company(
        picks in prop::collection::vec(0usize..39, 1..12),
        extra in "\\PC{0,60}",
    ) {
        let mut company: Vec<&str> = picks.iter().map(|pick| TEXTS[*pick].as_str()).collect();
        company.push(&extra);
        let together = EMBEDDER.embed_passages(&company).unwrap();
        for (text, embedding) in company.iter().zip(&together) {
            let alone = EMBEDDER.embed_passages(&[text]).unwrap();
            prop_assert!(same(embedding, &alone[0]), "{}", text);
        }
    }
}

#[test]
fn the_order_of_texts_is_that_of_the_vectors() {
    let forward = EMBEDDER.embed_passages(&texts()).unwrap();
    let turned: Vec<&str> = texts().into_iter().rev().collect();
    let backward = EMBEDDER.embed_passages(&turned).unwrap();
    assert!(
        forward
            .iter()
            .zip(backward.iter().rev())
            .all(|(left, right)| same(left, right))
    );
}
