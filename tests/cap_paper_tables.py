"""The tables of Baillargeon and Charest, A Closer Look at the CAP Risk Measure: rows are targets, columns are keys."""

SMOKING_O = [[20, 5], [30, 45]]  # sick, healthy; smokers, others
SMOKING_S = [[8, 7], [25, 60]]
O1 = [[100, 100, 100], [100, 100, 100], [100, 100, 100]]
O2 = [[400, 0, 0], [0, 250, 0], [0, 0, 350]]  # 1000 records as printed; the text says 900
O3 = [[0, 176, 204], [0, 78, 93], [127, 163, 59]]
O4 = [[0, 0, 62], [197, 136, 134], [74, 99, 198]]
S_A = [[114, 118, 77], [104, 44, 134], [105, 86, 118]]
S_B = [[24, 36, 15], [226, 113, 213], [216, 54, 3]]
S_E = [[67, 97, 153], [37, 114, 101], [169, 14, 148]]
S_G = [[129, 137, 99], [2, 131, 147], [91, 111, 53]]
