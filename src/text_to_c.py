#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Put a text file into a program: text_to_c.py HEADER NAME IN OUT writes a C file with its text."""
import sys


LITERAL_MAX = 4095  # what every C compiler takes for one literal


def write_array(file, header, name, lines):
    """The text as numbers; it must be ASCII."""
    file.write(f'#include "{header}"\n\nconst char {name}[] = {{\n')
    for line in lines:
        numbers = (str(byte) for byte in (line + "\n").encode("ascii"))
        file.write("    " + ", ".join(numbers) + ",\n")
    file.write("    0,\n};\n")


def main():
    header, name, source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(target, "w", encoding="utf-8") as file:
        if sum(len(line) + 1 for line in lines) > LITERAL_MAX:
            write_array(file, header, name, lines)
            return
        file.write(f'#include "{header}"\n\nconst char {name}[] =\n')
        for line in lines:
            escaped = line.replace("\\", "\\\\").replace('"', '\\"')
            file.write(f'    "{escaped}\\n"\n')
        file.write('    "";\n')


if __name__ == "__main__":
    main()
