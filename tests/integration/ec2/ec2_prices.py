# SPDX-License-Identifier: Apache-2.0
"""ec2_prices - prices for the stand-in of the EC2 API.

moto has no Pricing API, and one spot price for everything. These are made up: from the size of a type,
and for spot from a hash of type, zone and a span of four hours. They move, they differ by zone, and
they are the same in every run.
"""
import calendar
import hashlib
import json
import time

STEP_S = 4 * 3600
LINUX = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


def seconds_of(text):
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def share(*parts):
    """A number in [0, 1) that depends on the parts only."""
    found = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(found[:6], "big") / 2**48


class Prices:
    def __init__(self, faults):
        self.faults = faults

    def on_demand(self, kind):
        """'kind': a dict with name, vcpus, mib, gpus."""
        own = self.faults["prices"].get(kind["name"])
        if own is not None:
            return own
        size = kind["vcpus"] * 0.031 + kind["mib"] / 1024 * 0.0042 + kind["gpus"] * 0.71
        return round(size * (0.9 + 0.2 * share("type", kind["name"].split(".")[0])), 4)

    def spot(self, kind, zone, at=None):
        own = self.faults["spot_prices"].get(f"{kind['name']}/{zone}")
        if own is not None:
            return own
        step = int(time.time() if at is None else at) // STEP_S
        level = 0.25 + 0.4 * share("zone", kind["name"], zone)
        return round(self.on_demand(kind) * level * (0.9 + 0.2 * share(kind["name"], zone, step)), 4)

    def history(self, kinds, begin, end):
        """Rows (kind, zone, at, price), newest first; the first of each is the one in force at
        'begin' or before."""
        rows = []
        for kind, zone in kinds:
            for step in range(int(end) // STEP_S, int(begin) // STEP_S - 1, -1):
                rows.append((kind, zone, step * STEP_S, self.spot(kind, zone, step * STEP_S)))
        return rows

    def product(self, kind, region):
        """One entry of the Pricing API's list."""
        sku = hashlib.sha256(f"{kind['name']}/{region}".encode()).hexdigest()[:16].upper()
        return json.dumps({
            "product": {"productFamily": "Compute Instance", "sku": sku, "attributes": {
                "instanceType": kind["name"], "regionCode": region, "operatingSystem": "Linux",
                "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA",
                "licenseModel": "No License required", "vcpu": str(kind["vcpus"]),
                "memory": f"{kind['mib'] / 1024:g} GiB", "servicecode": "AmazonEC2"}},
            "serviceCode": "AmazonEC2",
            "terms": {"OnDemand": {f"{sku}.JRTCKXETXF": {"sku": sku, "priceDimensions": {
                f"{sku}.JRTCKXETXF.6YS6EN2CT7": {
                    "unit": "Hrs", "beginRange": "0", "endRange": "Inf",
                    "pricePerUnit": {"USD": f"{self.on_demand(kind):.10f}"}}}}}},
            "version": "20260101000000", "publicationDate": "2026-01-01T00:00:00Z"})
