//! The learnt weights of the default profile. Written by `packaging/ranking/train.py`, which says on what they were trained:
//! not to be edited by hand.

use super::linear::{AnswerModel, LinearModel};

/// What orders the candidates, over the features of [`super::Evidence`].
pub(super) const ORDER: LinearModel = LinearModel {
    far: [
        0.3469, -0.9039, 0.3712, 6.4063, -2.6858, 0.9147, 0.9879, 3.0403, 2.5000, 1.1142,
    ],
    near: [
        0.0000, 0.0000, 0.7766, 0.0000, 11.0677, 3.4126, 0.0000, 0.0000, 2.5000, -0.2136,
    ],
    far_cosine: 0.5,
    near_cosine: 0.65,
};

/// What tells that the store holds an answer, over the features of [`super::Support`].
pub(super) const ANSWER: AnswerModel = AnswerModel {
    weights: [
        11.4736, 0.0000, 0.8942, 0.0000, 1.7118, 0.0000, 0.4273, 0.1544, 1.2348, 0.3624, 7.3927, 0.8441, 0.5087, 1.9449, 4.8799,
        0.7442, 2.7826,
    ],
    bias: -16.1899,
};
