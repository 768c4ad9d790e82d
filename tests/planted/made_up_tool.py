"""A made-up tool for the tests: its score is the share of real rows in the synthetic table."""

import os
import time

NAME = "made up"
PACKAGES = ["pytest", "no-such-package"]
FRAME = "polars"
SECONDS = 0.1
DOCUMENTED = ["made_up_documentation"]
MEASURES = {"copies": "copied rows", "keys": "a measure without words"}


def assess(real, synthetic, holdout, world):
    print("what a tool prints is no answer")
    with open("left behind", "w") as file:  # tools write where they stand
        file.write("nothing")
    if "wait" in world["ignore"]:
        time.sleep(60)
    if "end" in world["ignore"]:
        os._exit(3)
    if "eat" in world["ignore"]:
        eaten = bytearray(400 << 20)
        time.sleep(60)
        del eaten

    def copies():
        rows = real.with_row_index("row").join(synthetic, on=real.columns, how="semi")["row"]
        return {"score": len(rows) / real.height, "flag": len(rows) > 0, "people": rows.to_list()}

    def keys():
        if world["seed"] == 99:
            raise ValueError("no keys")
        return {"score": 0.5, "flag": None, "people": None}

    return {"copies": copies, "keys": keys}
