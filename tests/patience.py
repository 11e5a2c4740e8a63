# SPDX-License-Identifier: Apache-2.0
"""patience - how the labs wait: until() for a condition, deadline() for what has a loop of its own.

STINT_PATIENCE makes each wait so many times as long, for a machine that is busy with other work. It stretches limits
only. A condition that holds sooner ends the wait sooner, and what is measured stays what it is.
"""
import os
import time

FACTOR = float(os.environ.get("STINT_PATIENCE", "1"))


def deadline(seconds):
    """The moment, on the monotonic clock, at which a wait of so many seconds has lasted too long."""
    return time.monotonic() + seconds * FACTOR


def until(condition, seconds, what, pause=0.05):
    """Wait until 'condition' gives something true, and return that."""
    end = deadline(seconds)
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds * FACTOR:g} s for {what}")
        time.sleep(pause)
