#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slow_bridge - stint-slurm on a slow line: 'slow_bridge.py SECONDS PROGRAM [ARGUMENT...]'.

What the program says is handed on, each line that much later; what it is told reaches it at once."""
import queue
import subprocess
import sys
import threading
import time


def main():
    delay = float(sys.argv[1])
    lines = queue.Queue()
    bridge = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)

    def read():
        for line in bridge.stdout:
            lines.put((time.monotonic() + delay, line))
        lines.put((0, None))

    threading.Thread(target=read, daemon=True).start()
    while True:
        due, line = lines.get()
        if line is None:
            return bridge.wait()
        time.sleep(max(0, due - time.monotonic()))
        try:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            bridge.kill()
            return 1


if __name__ == "__main__":
    sys.exit(main())
