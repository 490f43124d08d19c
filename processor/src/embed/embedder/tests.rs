use std::thread;

use candle_core::Device;

use super::super::Lane;
use super::super::padded::PaddedLayers;
use super::*;

/// The built-in model with the layers that graphics devices use, on the processor.
fn padded() -> BertEmbedder {
    let path = Path::new("weights.safetensors");
    let config = parse_config(path, CONFIG).unwrap();
    let weights = Weights::parse(path, WEIGHTS).unwrap();
    let layers = Layers::Padded(PaddedLayers::load(&weights, &config, Device::Cpu).unwrap());
    BertEmbedder { layers, ..in_f32() }
}

fn in_f32() -> BertEmbedder {
    BertEmbedder::embedded_with(DeviceChoice::Cpu, Precision::F32).unwrap()
}

/// Both kinds of products, or the same twice where this machine has one.
fn both() -> [BertEmbedder; 2] {
    [in_f32(), BertEmbedder::embedded().unwrap()]
}

#[test]
fn both_kinds_of_layers_agree() {
    let texts = [
        "",
        "A lock.",
        "Why does the build wait for a lock on the target folder?",
        &"long ".repeat(300),
    ];
    let packed = in_f32().embed_passages(&texts).unwrap();
    let padded = padded().embed_passages(&texts).unwrap();
    for (left, right) in packed.iter().zip(&padded) {
        assert!(left.cosine(right) > 0.999_99, "{}", left.cosine(right));
    }
}

#[test]
fn lanes_share_one_model() {
    let embedder = BertEmbedder::embedded().unwrap();
    let alone = embedder.embed_query("Who holds the lock?").unwrap();
    let (front, back) = (Lane::new("front", 2, || ()).unwrap(), Lane::new("back", 1, || ()).unwrap());
    let passages = ["a background text that is being remembered"; 20];
    thread::scope(|scope| {
        let work = scope.spawn(|| back.run(|| embedder.embed_passages(&passages)).unwrap());
        for _ in 0..5 {
            let again = front.run(|| embedder.embed_query("Who holds the lock?")).unwrap();
            assert!(alone.cosine(&again) > 0.999_99);
        }
        assert_eq!(work.join().unwrap().len(), 20);
    });
}

#[test]
fn neither_company_nor_threads_change_a_vector() {
    let long = "Why does the build wait for a lock on the target folder? ".repeat(30);
    let texts: Vec<&str> = (1..40).map(|part| &long[..long.len() * part / 40]).collect();
    for embedder in both() {
        let alone: Vec<Embedding> = texts
            .iter()
            .map(|text| embedder.embed_passages(&[text]).unwrap().remove(0))
            .collect();
        for threads in [1, 2, 3] {
            let lane = Lane::new("trial", threads, || ()).unwrap();
            assert_eq!(lane.run(|| embedder.embed_passages(&texts)).unwrap(), alone);
        }
    }
}

#[test]
fn a_kind_of_vectors_has_a_name_of_its_own() {
    let [in_f32, best] = both();
    let expected = match ByteSet::found().next() {
        Some(_) => EMBEDDED_INT8_MODEL_ID,
        None => EMBEDDED_MODEL_ID,
    };
    assert_eq!((in_f32.model_id(), best.model_id()), (EMBEDDED_MODEL_ID, expected));
    let text = ["Why does the build wait for a lock on the target folder?"];
    let [in_f32, best] = [in_f32, best].map(|embedder| embedder.embed_passages(&text).unwrap());
    assert_eq!(in_f32 == best, expected == EMBEDDED_MODEL_ID);
    assert!(in_f32[0].cosine(&best[0]) > 0.999, "{}", in_f32[0].cosine(&best[0]));
}
