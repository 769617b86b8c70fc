"""The panel: four roles of a language model that refine one repair for one promoted pattern."""
