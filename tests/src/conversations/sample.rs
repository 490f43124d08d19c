//! A part of a set, the same for the same seed: for a look that takes minutes instead of an hour.

use std::collections::HashSet;

use super::history::{History, Question};
use crate::corpus::Numbers;

impl History {
    /// Questions in an order that follows from `seed`, each with all the sessions it needs, until these have `turns` turns.
    ///
    /// Where every project is a conversation of its own, a question needs its whole project; in a set of one project, it
    /// needs its evidence alone, so that a part of such a set is easier than the whole.
    #[must_use]
    pub fn limited(mut self, turns: usize, seed: u64) -> Self {
        let mut kept: HashSet<String> = HashSet::new();
        for question in shuffled(&self.questions, seed) {
            let so_far = self.sessions.iter().filter(|session| kept.contains(&session.id));
            if so_far.map(|session| session.turns.len()).sum::<usize>() >= turns {
                break;
            }
            kept.extend(self.needs(question));
        }
        let questions: Vec<Question> = self
            .questions
            .iter()
            .filter(|question| self.needs(question).iter().all(|session| kept.contains(session)))
            .cloned()
            .collect();
        self.questions = questions;
        self.sessions.retain(|session| kept.contains(&session.id));
        self
    }

    /// Questions that belong elsewhere, each with the project in which it is asked: in a set of several projects, each
    /// answerable question in the next project; in a set of one, as many questions of `others`.
    pub fn strangers<'a>(&'a self, others: Option<&'a History>, seed: u64) -> Vec<(&'a Question, &'a str)> {
        let projects = self.projects();
        if let [project] = projects.as_slice() {
            let others = others.map_or(&[][..], |others| &others.questions);
            let asked = shuffled(others, seed).into_iter().filter(|question| question.is_answerable());
            return asked
                .take(self.questions.len())
                .map(|question| (question, *project))
                .collect();
        }
        let next = |own: &str| {
            let at = projects.iter().position(|project| *project == own)?;
            Some(projects[(at + 1) % projects.len()])
        };
        let answerable = self.questions.iter().filter(|question| question.is_answerable());
        answerable
            .filter_map(|question| Some((question, next(&question.project)?)))
            .collect()
    }

    fn needs(&self, question: &Question) -> Vec<String> {
        let own_projects = self.projects().len() > 1;
        let needed = self.sessions.iter().filter(|session| {
            if own_projects {
                session.project == question.project
            } else {
                question.sessions.contains(&session.id)
            }
        });
        needed.map(|session| session.id.clone()).collect()
    }
}

/// Fisher and Yates' shuffle.
fn shuffled(questions: &[Question], seed: u64) -> Vec<&Question> {
    let mut numbers = Numbers::new(seed);
    let mut order: Vec<&Question> = questions.iter().collect();
    for last in (1..order.len()).rev() {
        order.swap(last, numbers.below(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use remembrancer_schema::UnixMillis;

    use super::super::history::{Session, Turn};
    use super::*;

    /// Ten sessions of two turns over `projects` projects, and a question about each.
    fn history(projects: usize) -> History {
        let turn = |minute| Turn {
            begun: UnixMillis(minute),
            prompt: "asked".to_owned(),
            answer: "answered".to_owned(),
            documents: vec![],
        };
        let project = |number: usize| format!("p{}", number % projects);
        History {
            name: "set".to_owned(),
            sessions: (0..10)
                .map(|number| Session {
                    id: format!("s{number}"),
                    project: project(number),
                    turns: vec![turn(0), turn(1)],
                })
                .collect(),
            questions: (0..10)
                .map(|number| Question {
                    id: format!("q{number}"),
                    project: project(number),
                    sessions: BTreeSet::from([format!("s{number}")]),
                    ..Question::default()
                })
                .collect(),
        }
    }

    #[test]
    fn a_part_of_one_project_has_the_evidence_of_its_questions() {
        let part = history(1).limited(5, 1);
        assert_eq!((part.sessions.len(), part.questions.len(), part.turns()), (3, 3, 6));
        for question in &part.questions {
            assert!(part.sessions.iter().any(|session| question.sessions.contains(&session.id)));
        }
        assert_eq!(part, history(1).limited(5, 1), "the same seed, the same part");
        assert_eq!(
            history(1).limited(1_000, 1),
            history(1),
            "a limit beyond the set changes nothing"
        );
    }

    #[test]
    fn a_part_of_several_projects_has_whole_projects() {
        let part = history(5).limited(5, 1);
        assert_eq!((part.projects().len(), part.sessions.len(), part.questions.len()), (2, 4, 4));
    }

    #[test]
    fn strangers_are_asked_in_another_project_than_their_own() {
        let several = history(5);
        let asked = several.strangers(None, 1);
        assert_eq!(asked.len(), 10);
        assert!(asked.iter().all(|(question, project)| question.project != *project));
        assert_eq!(history(1).strangers(None, 1), []);
        assert_eq!(history(1).strangers(Some(&several), 1).len(), 10);
    }
}
