"""The compiled loops: C11 sources, how they are built (`build`), and how they are found and called (`library`)."""
