#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write examples/usage.csv: the machines that a made-up cluster used in each hour of 65 weeks.

    examples/usage.py > examples/usage.csv

Three things run on it. Services follow the day and the week and grow by a third over the year.
A batch queue keeps up to a dozen machines busy at night and at weekends. Campaigns come every few
weeks, last for days and need up to seventy more. All of it is whole-number arithmetic, so that it
is the same everywhere.
"""

HOURS = 65 * 168

# Of a working day and of a day at the weekend, in percent of the peak, hour by hour.
WORKDAY = [48, 45, 43, 42, 43, 47, 55, 68, 82, 92, 97, 99, 98, 97, 99, 100, 98, 94, 88, 82, 75, 67, 59, 53]
WEEKEND = [46, 44, 42, 41, 41, 42, 44, 47, 51, 55, 58, 60, 61, 61, 60, 60, 60, 61, 61, 60, 58, 55, 51, 48]

# First hour, length and machines of each campaign.
CAMPAIGNS = [
    (900, 70, 35), (1750, 120, 50), (2600, 48, 60), (3700, 100, 40), (4300, 60, 70), (5200, 150, 45),
    (6300, 90, 55), (7000, 40, 65), (7900, 130, 50), (8800, 75, 70), (9600, 110, 45), (10300, 60, 60),
]


def noise(state):
    """The next state of a linear congruential generator, and a number from 0 to 99."""
    state = (state * 1103515245 + 12345) % (1 << 31)
    return state, (state >> 16) % 100


def main():
    state = 2025
    print("hour,instances")
    for hour in range(HOURS):
        day = hour // 24 % 7
        shape = (WEEKEND if day >= 5 else WORKDAY)[hour % 24]
        services = shape * (66 * HOURS + 22 * hour) // (100 * HOURS)
        batch = 18 - 14 * shape // 100
        campaign = sum(
            count * min(hour - first + 1, first + length - hour, 12) // 12
            for first, length, count in CAMPAIGNS
            if first <= hour < first + length
        )
        state, draw = noise(state)
        print(f"{hour},{services + batch + campaign + draw // 20}")


if __name__ == "__main__":
    main()
