#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Put a text file into a program: text_to_c.py HEADER NAME IN OUT writes a C file with its text."""
import sys


def main():
    header, name, source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(target, "w", encoding="utf-8") as file:
        file.write(f'#include "{header}"\n\nconst char {name}[] =\n')
        for line in lines:
            escaped = line.replace("\\", "\\\\").replace('"', '\\"')
            file.write(f'    "{escaped}\\n"\n')
        file.write('    "";\n')


if __name__ == "__main__":
    main()
