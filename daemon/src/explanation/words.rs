//! What the names mean that an explanation uses, in words for a person. In goes a name of the log, out come words; a name of a version
//! to come is its own words. Tests hold the tables against the names that there are.

/// Why nothing was shown.
pub(crate) fn about_reason(name: &str) -> &str {
    match name {
        "empty-prompt" => "there is no text in the prompt",
        "slash-command" => "the prompt is nothing but a slash command",
        "chatter" => "the prompt only goes on (\"yes\", \"continue\")",
        "same-topic" => "the prompt before it was answered on the same topic",
        "nothing-found" => "the memory holds nothing that shares a word or a meaning with it",
        "already-in-context" => "all that was found is in the session's context, or was shown in it before",
        "nothing-relevant" => "what was found is not near enough",
        "out-of-time" => "time ran out before the answer was ready",
        "store-failed" => "the memory could not be read",
        "second-firing" => "the host ran the hook twice for one message; the first was answered",
        "paused" => "remembering and recalling were paused",
        "excluded" => "the session, or the folder in which it asks, is kept out",
        "busy" => "too many prompts waited already",
        "stopping" => "the daemon was stopping",
        "failed" => "the program failed on it; its log tells how",
        "too-long" => "the answer was longer than a line of the protocol",
        other => other,
    }
}

/// What a recall went without.
pub(crate) fn about_degradation(name: &str) -> &str {
    match name {
        "embedding-late" => "the prompt's vector came too late: words alone",
        "embedding-failed" => "the prompt could not be embedded: words alone",
        "no-model" => "there was no model: words alone",
        "bm25-absent" => "the search by words failed or was interrupted: meaning alone",
        "recent-absent" => "the episodes used last were left out of the pool",
        "expansion-absent" => "the conversation so far was not searched for",
        "graph-absent" => "linked episodes were left out",
        "time-absent" => "nothing was looked for by the time that the prompt names",
        "share-remote-late" => "the shared store answered too late: what is here alone",
        "share-remote-absent" => "the shared store could not be asked: what is here alone",
        "pool-absent" => "the candidates could not be read in time",
        "reranker-absent" => "the reranker failed, or there was no time for it",
        other => other,
    }
}

/// Why a candidate was not shown, where its values add nothing.
pub(crate) fn about_drop(name: &str) -> &str {
    match name {
        "below-floor" => "neither words nor meaning support it enough",
        "other-project" => "it is of another project, and the evidence is not strong",
        "no-answer" => "nothing came of it then: there is no answer to be reminded of",
        "same-turn" => "another part of the same turn is shown",
        "same-text" => "what is shown says the same already",
        "duplicate-of" => "a later episode says nearly the same, and stands in its place",
        "superseded-by" => "a later episode takes back what it says, and as many as may be are shown before it",
        "beyond-top" => "it is near enough, but as many as may be are shown before it",
        "no-room" => "the text had no room left for it",
        "out-of-time" => "it was chosen, but the answer came too late to be shown",
        other => other,
    }
}

/// What a gate is.
pub(crate) fn about_gate(name: &str) -> &str {
    match name {
        "same-topic" => "at most this cosine with the prompt answered last: else the topic is the same",
        "answer-probability" => "the memory holds an answer with at least this probability",
        "ample-cosine" => "or its best cosine is at least this",
        "ample-names" => "and more than this share of its proper names stands in some candidate",
        "relative-cosine" => "a candidate has this share of the best cosine",
        "relative-coverage" => "or this share of the best coverage by words",
        "worded-cosine" => "together with this share of the best cosine",
        "lexical-coverage" => "without a vector: it holds this share of the query",
        "lexical-terms" => "without a vector: it holds so many of the terms",
        "foreign-cosine" => "of another project: it has this cosine",
        "foreign-coverage" => "of another project: it holds this share of the query",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use remembrancer_processor::recall::{Degradation, Dropped, Silence};

    use super::*;
    use crate::reason::Reason;

    #[test]
    fn every_name_has_words() {
        let reasons = Silence::ALL.iter().map(|silence| silence.as_str());
        for name in reasons.chain(Reason::BEFORE_A_RECALL.iter().map(|reason| reason.as_str())) {
            assert_ne!(about_reason(name), name);
        }
        for degradation in Degradation::ALL {
            assert_ne!(about_degradation(degradation.as_str()), degradation.as_str());
        }
        for dropped in Dropped::ALL {
            assert_ne!(about_drop(dropped.as_str()), dropped.as_str());
        }
        assert_eq!(about_drop("of-a-version-to-come"), "of-a-version-to-come");
    }
}
