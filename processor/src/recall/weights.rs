//! The learnt weights of the default profile. Written by `packaging/ranking/train.py`, which says on what they were trained:
//! not to be edited by hand.

use super::linear::{AnswerModel, LinearModel};

/// What orders the candidates, over the features of [`super::Evidence`].
pub(super) const ORDER: LinearModel = LinearModel {
    far: [
        -0.0488, -0.4014, 0.3030, 7.4739, -1.8136, 0.0000, 1.1765, 1.2393, 4.5000, 1.9299, 4.1821,
    ],
    near: [
        0.0000, 0.0000, 0.7303, 0.0000, 12.0619, 0.0000, 0.0000, 0.0000, 4.5000, -0.2516, 4.1291,
    ],
    far_cosine: 0.5,
    near_cosine: 0.65,
};

/// What tells that the store holds an answer, over the features of [`super::Support`].
pub(super) const ANSWER: AnswerModel = AnswerModel {
    weights: [
        10.3995, 0.0000, 0.6434, 0.0000, 1.0126, 0.0000, 0.8601, 0.3576, 0.5530, 0.9212, 6.2167, 2.1830, 0.4056, 1.1948, 6.2114,
        0.0742, 14.4486, 0.5380, 0.3398, 0.0000, 0.8364, 2.3051,
    ],
    bias: -16.6841,
};
