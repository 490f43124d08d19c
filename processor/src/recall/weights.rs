//! The learnt weights of the default profile. Written by `packaging/ranking/train.py`, which says on what they were trained:
//! not to be edited by hand.

use super::linear::{AnswerModel, LinearModel};

/// What orders the candidates, over the features of [`super::Evidence`].
pub(super) const ORDER: LinearModel = LinearModel {
    far: [
        -0.0927, -0.5258, 0.2814, 7.6214, -1.1994, 0.0000, 1.2652, 0.7480, 4.5000, 5.2039, 4.5836,
    ],
    near: [
        0.0000, 2.9738, 0.5812, 0.0000, 11.2931, 0.0000, 0.0000, 0.0000, 4.5000, 5.2039, 4.1709,
    ],
    far_cosine: 0.5,
    near_cosine: 0.65,
};

/// What tells that the store holds an answer, over the features of [`super::Support`].
pub(super) const ANSWER: AnswerModel = AnswerModel {
    weights: [
        8.8793, 1.0914, 0.8510, 0.2798, 0.3415, 0.9767, 12.3203, 1.4411, 0.2933, 0.5324, 15.9432, 1.0695, 0.2844, 0.6816, 1.5502,
        0.5788,
    ],
    bias: -12.9659,
};
