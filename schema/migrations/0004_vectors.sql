-- One sign bit a dimension: the coarse vector search. Made anew when a model has another dimension.
CREATE VIRTUAL TABLE IF NOT EXISTS episodes_vec USING vec0 (code bit[384]);
