//! The learnt weights of the default profile. Written by `packaging/ranking/train.py`, which says on what they were trained:
//! not to be edited by hand.

use super::linear::{AnswerModel, LinearModel};

/// What orders the candidates, over the features of [`super::Evidence`].
pub(super) const ORDER: LinearModel = LinearModel {
    far: [
        -0.0488, -0.4015, 0.3031, 7.4739, -1.8139, 0.0000, 1.1765, 1.2393, 4.5000, 1.9299, 4.1822,
    ],
    near: [
        0.0000, 0.0000, 0.7302, 0.0000, 12.0630, 0.0000, 0.0000, 0.0000, 4.5000, -0.2517, 4.1287,
    ],
    far_cosine: 0.5,
    near_cosine: 0.65,
};

/// What tells that the store holds an answer, over the features of [`super::Support`].
pub(super) const ANSWER: AnswerModel = AnswerModel {
    weights: [
        10.5221, 0.0000, 0.6759, 0.0000, 1.0298, 0.0000, 0.8154, 0.3267, 0.5722, 0.8817, 6.4968, 2.2336, 0.4108, 1.2426, 6.2469,
        0.1164, 14.5154, 0.6807, 0.3612, 0.0000, 0.8101, 1.1673,
    ],
    bias: -16.9106,
};
