//! Why a candidate was not shown, in words with the values that decided. In goes a candidate with the gates, out comes a sentence; where
//! a value is not known, as of a prompt that an older version logged, what the name of the reason means.

use crate::explanation::{Candidate, Gate, about_drop};

/// Why `candidate` was not shown; none where it was, or it was not judged.
pub(super) fn because(candidate: &Candidate, gates: &[Gate]) -> Option<String> {
    let dropped = candidate.dropped.as_deref()?;
    let floor = Floor(gates);
    let told = match dropped {
        "below-floor" => match candidate.cosine {
            None => floor.by_words(candidate),
            Some(cosine) => floor.unanswered().or_else(|| floor.beside_the_best(candidate, cosine)),
        },
        "other-project" => floor.of_another_project(candidate),
        _ => None,
    };
    Some(told.unwrap_or_else(|| about_drop(dropped).to_owned()))
}

struct Floor<'a>(&'a [Gate]);

impl Floor<'_> {
    fn gate(&self, name: &str) -> Option<&Gate> {
        self.0.iter().find(|gate| gate.name == name)
    }

    fn threshold(&self, name: &str) -> Option<f64> {
        self.gate(name).map(|gate| gate.threshold)
    }

    /// Without a vector.
    fn by_words(&self, candidate: &Candidate) -> Option<String> {
        Some(format!(
            "it has no vector to compare, and by words alone it takes {} terms and {} of the query: it holds {} and {}",
            self.threshold("lexical-terms")?,
            percent(self.threshold("lexical-coverage")?),
            candidate.matched?,
            percent(candidate.coverage?),
        ))
    }

    /// Where the memory as a whole holds no answer.
    fn unanswered(&self) -> Option<String> {
        let (probability, cosine) = (self.gate("answer-probability")?, self.gate("ample-cosine")?);
        if probability.passed == Some(true) || cosine.passed == Some(true) {
            return None;
        }
        let names = self.gate("ample-names").filter(|names| names.passed == Some(false));
        let but = match names.and_then(|names| names.value) {
            Some(share) if cosine.value >= Some(cosine.threshold) => {
                format!(", but only {} of the query's names stand in any candidate", percent(share))
            }
            _ => String::new(),
        };
        Some(format!(
            "the memory as a whole holds no answer: probability {:.2} (it takes {:.2}), best cosine {:.2} (or {:.2}){but}",
            probability.value?, probability.threshold, cosine.value?, cosine.threshold
        ))
    }

    /// Beside a candidate that fits better.
    fn beside_the_best(&self, candidate: &Candidate, cosine: f64) -> Option<String> {
        let best = self.gate("relative-cosine")?;
        let words = self.gate("relative-coverage")?;
        let share = |value: f64, of: f64| if of > 0.0 { value / of } else { 0.0 };
        Some(format!(
            "its cosine {cosine:.2} is {} of the best, {} are needed, or {} with {} of the best coverage, of which it has {}",
            percent(share(cosine, best.value?)),
            percent(best.threshold),
            percent(self.threshold("worded-cosine")?),
            percent(words.threshold),
            percent(share(candidate.coverage?, words.value?)),
        ))
    }

    fn of_another_project(&self, candidate: &Candidate) -> Option<String> {
        let cosine = candidate
            .cosine
            .map_or_else(|| "none".to_owned(), |cosine| format!("{cosine:.2}"));
        Some(format!(
            "of another project it takes a cosine of {:.2} and {} of the query: it has {cosine} and {}",
            self.threshold("foreign-cosine")?,
            percent(self.threshold("foreign-coverage")?),
            percent(candidate.coverage?),
        ))
    }
}

/// A share in whole percent.
fn percent(share: f64) -> String {
    // Half a percent below nothing is nothing, and not "-0".
    let percent = (share * 100.0).round() + 0.0;
    format!("{percent:.0} %")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn gate(name: &str, value: Option<f64>, threshold: f64, passed: Option<bool>) -> Gate {
        Gate {
            name: name.to_owned(),
            value,
            threshold,
            passed,
            about: String::new(),
        }
    }

    fn gates(answered: bool) -> Vec<Gate> {
        vec![
            gate("answer-probability", Some(0.21), 0.4, Some(answered)),
            gate("ample-cosine", Some(0.4), 0.5, Some(false)),
            gate("relative-cosine", Some(0.4), 0.55, None),
            gate("relative-coverage", Some(0.8), 0.8, None),
            gate("worded-cosine", Some(0.4), 0.3, None),
            gate("lexical-coverage", None, 0.5, None),
            gate("lexical-terms", None, 2.0, None),
            gate("foreign-cosine", None, 0.6, None),
            gate("foreign-coverage", None, 0.5, None),
        ]
    }

    fn dropped(name: &str, cosine: Option<f64>) -> Candidate {
        Candidate {
            dropped: Some(name.to_owned()),
            cosine,
            coverage: Some(0.2),
            matched: Some(1),
            ..Candidate::default()
        }
    }

    #[rstest]
    #[case::no_answer(
        dropped("below-floor", Some(0.3)),
        false,
        "the memory as a whole holds no answer: probability 0.21 (it takes 0.40), best cosine 0.40 (or 0.50)"
    )]
    #[case::half_as_near(
        dropped("below-floor", Some(0.2)),
        true,
        "its cosine 0.20 is 50 % of the best, 55 % are needed, or 30 % with 80 % of the best coverage, of which it has 25 %"
    )]
    #[case::no_vector(
        dropped("below-floor", None),
        true,
        "it has no vector to compare, and by words alone it takes 2 terms and 50 % of the query: it holds 1 and 20 %"
    )]
    #[case::elsewhere(
        dropped("other-project", Some(0.5)),
        true,
        "of another project it takes a cosine of 0.60 and 50 % of the query: it has 0.50 and 20 %"
    )]
    #[case::behind_others(
        dropped("beyond-top", Some(0.5)),
        true,
        "it is near enough, but as many as may be are shown before it"
    )]
    fn a_reason_names_the_values_that_decided(#[case] candidate: Candidate, #[case] answered: bool, #[case] expected: &str) {
        assert_eq!(because(&candidate, &gates(answered)).as_deref(), Some(expected));
    }

    #[test]
    fn a_near_memory_of_other_names_is_told_so() {
        let mut gates = gates(false);
        gates[1].value = Some(0.53);
        gates.push(gate("ample-names", Some(0.5), 0.5, Some(false)));
        let expected = "the memory as a whole holds no answer: probability 0.21 (it takes 0.40), best cosine 0.53 (or 0.50), but only \
                        50 % of the query's names stand in any candidate";
        assert_eq!(because(&dropped("below-floor", Some(0.3)), &gates).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_not_known_is_told_by_its_name() {
        let told = because(&dropped("below-floor", Some(0.2)), &[]);
        assert_eq!(told.as_deref(), Some("neither words nor meaning support it enough"));
        assert_eq!(because(&Candidate::default(), &gates(true)), None, "it was shown");
    }
}
