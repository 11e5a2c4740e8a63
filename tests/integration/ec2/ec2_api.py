# SPDX-License-Identifier: Apache-2.0
"""ec2_api - the stand-in of the EC2 API: from the parameters of a request to the text of its answer.

Part of ec2_stand_in.py, which see. Upstream is moto's server, Ec2 what EC2 does and moto does not.
"""
import hashlib
import http.client
import json
import os
import socket
import subprocess
import threading
import time
import urllib.parse
import uuid

import ec2_answers as answers
import ec2_lies
import ec2_prices
import ec2_world
from ec2_answers import ApiError, listed, parse, put, without

WITH_TOKEN = ("RunInstances", "CreateFleet", "CreateLaunchTemplate")
DRY = ("RunInstances", "CreateFleet", "TerminateInstances", "DescribeInstances", "DescribeInstanceTypes",
       "DescribeInstanceTypeOfferings", "DescribeSpotPriceHistory")
SPOT_END = "Server.SpotInstanceTermination"
NOTICE = "EC2 Spot Instance Interruption Warning"
REBALANCE = "EC2 Instance Rebalance Recommendation"
STATES = {"pending": "0", "running": "16", "shutting-down": "32", "terminated": "48"}


class Upstream:
    """moto's server."""

    def __init__(self, program):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", program, "-H", "127.0.0.1", "-p", str(self.port)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "MOTO_EC2_LOAD_DEFAULT_AMIS": "false"})
        self.ec2_lock = threading.Lock()
        self.wait()

    def wait(self):
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("ec2 stand-in: moto's server ended") from None
                time.sleep(0.1)
        raise SystemExit("ec2 stand-in: moto's server does not answer")

    def forward(self, method, target, headers, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, target, body, headers)
            got = connection.getresponse()
            return got.status, got.getheader("Content-Type", "text/xml"), got.read()
        finally:
            connection.close()

    @staticmethod
    def scope(region, service):
        return (f"AWS4-HMAC-SHA256 Credential=standin/20200101/{region}/{service}/aws4_request, "
                "SignedHeaders=host, Signature=0")

    def ec2(self, region, params):
        """Call EC2 of moto; the tree of its answer. moto is not made for threads: one at a time."""
        body = urllib.parse.urlencode({"Version": "2016-11-15", **params})
        with self.ec2_lock:
            status, _, said = self.forward("POST", "/", {
                "Authorization": self.scope(region, "ec2"),
                "Content-Type": "application/x-www-form-urlencoded"}, body)
        tree = parse(said)
        if status >= 400:
            raise ApiError(tree.findtext(".//Code", "InternalError"), tree.findtext(".//Message", ""))
        return tree

    def sqs(self, region, call, document):
        self.forward("POST", "/", {
            "Authorization": self.scope(region, "sqs"), "X-Amz-Target": f"AmazonSQS.{call}",
            "Content-Type": "application/x-amz-json-1.0"}, json.dumps(document))


class Offer:
    """What a launch asks for: type, zone or None, market."""

    def __init__(self, kind, zone, market, region):
        self.kind = kind
        self.zone = zone
        self.market = market
        self.region = region


class Tokens:
    """Client tokens: the first answer of each, and what was asked."""

    def __init__(self):
        self.lock = threading.Lock()
        self.known = {}

    def entry(self, key):
        with self.lock:
            return self.known.setdefault(key, {"lock": threading.Lock(), "asked": None, "said": None})


class Ec2:
    """The API: from parameters to the text of an answer."""

    def __init__(self, upstream, faults, world):
        self.upstream = upstream
        self.faults = faults
        self.world = world
        self.lies = ec2_lies.Lies(world)
        self.prices = ec2_prices.Prices(faults)
        self.pager = answers.Pager()
        self.tokens = Tokens()
        self.launching = threading.RLock()
        self.lists = {}
        self.kinds_of = {}
        self.zones_of = {}
        self.subnet_zones = {}
        self.planted = []
        self.pattern = None
        self.hidden = set()  # instances of moto that only served as a pattern
        self.mood = threading.local()  # of the request that is served: its token, whether to refuse it

    def reset(self):
        """Forget what is there. moto looks at all that it ever launched with every request."""
        with self.launching:
            self.upstream.forward("POST", "/moto-api/reset", {}, b"")
            self.tokens = Tokens()
            self.planted = []
            self.pattern = None
            self.hidden = set()
            self.world.forget()

    # -- what there is

    def kinds(self, region):
        """All types of a region, by name."""
        with self.launching:
            if region not in self.kinds_of:
                found = {}
                for item in self.types(region, {"Action": "DescribeInstanceTypes"})[0]:
                    name = item.findtext("instanceType")
                    found[name] = {
                        "name": name, "vcpus": int(item.findtext("vCpuInfo/defaultVCpus", "1")),
                        "mib": int(item.findtext("memoryInfo/sizeInMiB", "1024")),
                        "gpus": sum(int(count.text) for count in item.iterfind("gpuInfo/gpus/item/count"))}
                self.kinds_of[region] = found
            return self.kinds_of[region]

    def static(self, region, params):
        """(items, their texts) of a list that never changes."""
        key = (region, tuple(sorted(params.items())))
        with self.launching:
            if key not in self.lists:
                items = list(self.upstream.ec2(region, params)[0])
                self.lists[key] = (items, [answers.text_of(item) for item in items])
            return self.lists[key]

    def offerings(self, region):
        """(type, zone) of all that the region has."""
        return [(item.findtext("instanceType"), item.findtext("location")) for item in
                self.static(region, {"Action": "DescribeInstanceTypeOfferings",
                                     "LocationType": "availability-zone"})[0]]

    def types(self, region, params):
        """Like static(): the types that the region offers. moto lists all that it knows in every region,
        and takes seconds for it."""
        offered = {name for name, _ in self.offerings(region)}
        items, texts = self.static("us-east-1", params)
        found = [pair for pair in zip(items, texts) if pair[0].findtext("instanceType") in offered]
        return [item for item, _ in found], [text for _, text in found]

    def zones(self, region):
        if region not in self.zones_of:
            tree = self.upstream.ec2(region, {"Action": "DescribeAvailabilityZones"})
            self.zones_of[region] = [node.text for node in tree.iter("zoneName")]
        return self.zones_of[region]

    def zone_of_subnet(self, region, subnet):
        if subnet not in self.subnet_zones:
            tree = self.upstream.ec2(region, {"Action": "DescribeSubnets", "SubnetId.1": subnet})
            self.subnet_zones[subnet] = tree.findtext(".//availabilityZone")
        return self.subnet_zones[subnet]

    # -- launching

    def template(self, region, params, prefix="LaunchTemplate"):
        """The data of the launch template that is named, or None."""
        name, number = params.get(f"{prefix}.LaunchTemplateName"), params.get(f"{prefix}.LaunchTemplateId")
        if not name and not number:
            return None
        ask = {"Action": "DescribeLaunchTemplateVersions",
               "LaunchTemplateVersion.1": params.get(f"{prefix}.Version", "$Default")}
        ask["LaunchTemplateName" if name else "LaunchTemplateId"] = name or number
        return self.upstream.ec2(region, ask).find(".//launchTemplateData")

    def offer(self, region, params):
        template = self.template(region, params)

        def value(name, path):
            inherited = template.findtext(path) if template is not None else None
            return params.get(name) or inherited

        name = value("InstanceType", "instanceType") or "m1.small"
        kind = self.kinds(region).get(name)
        if kind is None:
            raise ApiError("InvalidParameterValue", f"Invalid value '{name}' for InstanceType.")
        zone = value("Placement.AvailabilityZone", "placement/availabilityZone")
        subnet = params.get("SubnetId") or params.get("NetworkInterface.1.SubnetId")
        if subnet:
            zone = self.zone_of_subnet(region, subnet)
        if zone and zone not in self.zones(region):
            raise ApiError("InvalidParameterValue", f"Invalid availability zone: [{zone}]")
        market = value("InstanceMarketOptions.MarketType", "instanceMarketOptions/marketType")
        return Offer(kind, zone, "spot" if market == "spot" else "on-demand", region)

    def room(self, offer, zone):
        """How many more there are of this offer; quotas not looked at."""
        most = 1 << 30
        living = self.world.living()
        mine = (offer.kind["name"], zone, offer.market)
        for pattern, limit in self.faults["capacity"].items():
            parts = pattern.split("/")
            if all(part in ("*", own) for part, own in zip(parts, mine)):
                used = sum(all(part in ("*", one[key]) for part, key in
                               zip(parts, ("type", "zone", "market"))) for one in living)
                most = min(most, limit - used)
        return max(0, most)

    def within_quota(self, offer, least, most):
        """How many of least..most the quotas leave. Raises what EC2 answers if not even the least."""
        living = self.world.living()
        limit = self.faults["quota_instances"]
        if limit and len(living) + least > limit:
            raise ApiError("InstanceLimitExceeded", f"You have requested more instances ({len(living) + least})"
                           f" than your current instance limit of {limit} allows.")
        most = min(most, limit - len(living)) if limit else most
        limit = self.faults["quota_vcpus"].get(offer.market)
        if limit is None:
            return most
        left = limit - sum(one["vcpus"] for one in living if one["market"] == offer.market)
        if least * offer.kind["vcpus"] <= left:
            return min(most, left // offer.kind["vcpus"])
        if offer.market == "spot":
            raise ApiError("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
        raise ApiError("VcpuLimitExceeded", "You have requested more vCPU capacity than your current "
                       f"vCPU limit of {limit} allows for the instance bucket that the specified "
                       "instance type belongs to.")

    def note_refusal(self, action, offer, code):
        self.world.note("refuse", action=action, type=offer.kind["name"], zone=offer.zone,
                        market=offer.market, code=code, token=getattr(self.mood, "token", ""))

    @staticmethod
    def no_capacity(offer, zone):
        if offer.market == "spot":
            text = "There is no Spot capacity available that matches your request."
        else:
            text = (f"We currently do not have sufficient {offer.kind['name']} capacity in the Availability "
                    f"Zone you requested ({zone}). Our system will be working on provisioning additional "
                    "capacity.")
        return ApiError("InsufficientInstanceCapacity", text)

    def is_to_be_refused(self, action):
        """Whether chance or an order refuses this request, however many machines it asks for."""
        return getattr(self.mood, "refuses", False) or self.faults.chance("refuse", action)

    def launch(self, offer, params, least, most, asked_zone):
        """Start least..most of an offer; the tree of moto's answer. Raises what EC2 answers."""
        zones = [offer.zone] if offer.zone else self.zones(offer.region)
        with self.launching:
            most = self.within_quota(offer, least, most)
            zone = max(zones, key=lambda one: min(self.room(offer, one), most))
            count = min(most, self.room(offer, zone))
            if count < least:
                raise self.no_capacity(offer, zone)
            price = self.price(offer, zone, params)
            asked = {**without(params, "ClientToken", "DryRun"), "Action": "RunInstances",
                     "MinCount": str(count), "MaxCount": str(count),
                     "Placement.AvailabilityZone": zone}
            if offer.market == "spot":
                asked["InstanceMarketOptions.MarketType"] = "spot"
            tree = self.upstream.ec2(offer.region, asked)
            for index, item in enumerate(tree.iterfind("instancesSet/item")):
                self.register(offer, params, price, item, index, asked_zone)
            return tree

    def price(self, offer, zone, params):
        if offer.market != "spot":
            return self.prices.on_demand(offer.kind)
        price = self.prices.spot(offer.kind, zone)
        most = params.get("InstanceMarketOptions.SpotOptions.MaxPrice")
        if most and float(most) < price:
            raise ApiError("SpotMaxPriceTooLow", f"Your Spot request price of {most} is lower than the "
                           f"minimum required Spot request fulfillment price of {price}.")
        return price

    def register(self, offer, params, price, item, index, asked_zone):
        put(item, "clientToken", params.get("ClientToken", ""))
        put(item, "amiLaunchIndex", str(index))
        put(item, "placement/availabilityZone", item.findtext("placement/availabilityZone"))
        instance = {
            "id": item.findtext("instanceId"), "type": offer.kind["name"],
            "zone": item.findtext("placement/availabilityZone"), "asked_zone": asked_zone,
            "market": offer.market, "region": offer.region, "token": params.get("ClientToken", ""),
            "index": index, "account": self.account(),
            "tags": answers.tags_of(item), "vcpus": offer.kind["vcpus"], "price": price,
            "launch_time": item.findtext("launchTime")}
        data = params.get("UserData")
        if data is None:
            template = self.template(offer.region, params)
            data = template.findtext("userData") if template is not None else ""
        self.world.launched(instance, {"user_data": answers.user_data(data),
                                       "private_ip": item.findtext("privateIpAddress")})
        self.tell(instance, "EC2 Instance State-change Notification", state="pending")

    def run_instances(self, region, params):
        least, most = (params.get(name, "") for name in ("MinCount", "MaxCount"))
        if not (least.isdigit() and most.isdigit() and 1 <= int(least) <= int(most)):
            raise ApiError("InvalidParameterValue", "MinCount and MaxCount must be 1 <= MinCount <= MaxCount")
        offer = self.offer(region, params)
        try:
            if self.is_to_be_refused("RunInstances"):
                raise self.no_capacity(offer, offer.zone or self.zones(region)[0])
            tree = self.launch(offer, params, int(least), int(most), offer.zone)
        except ApiError as error:
            if error.code == "InsufficientInstanceCapacity":
                self.note_refusal("RunInstances", offer, error.code)
            raise
        return answers.answer_xml("RunInstances", answers.inner_of(tree))

    def create_fleet(self, region, params):
        """Type instant: the offers in the order of their price or priority, until all is had."""
        if params.get("Type") != "instant":
            raise ApiError("Unsupported", "The stand-in knows fleets of type instant only.")
        target = "TargetCapacitySpecification."
        market = params.get(f"{target}DefaultTargetCapacityType", "on-demand")
        left = float(params.get(f"{target}TotalTargetCapacity", 0))
        if left < 1:
            raise ApiError("InvalidParameterValue", "TotalTargetCapacity must be at least 1")
        wishes = self.wishes(region, params, market)
        tags = self.instance_tags(params)
        refuses = self.is_to_be_refused("CreateFleet")  # the request: no override is looked at
        got, errors = [], []
        for wish in wishes:
            if left <= 0:
                break
            weight = float(wish["override"].get("WeightedCapacity", 1))
            asked = {**tags, **wish["params"], "ClientToken": params.get("ClientToken", "")}
            try:
                if refuses:
                    raise self.no_capacity(wish["offer"], wish["offer"].zone)
                tree = self.launch(wish["offer"], asked, 1, max(1, -int(-left // weight)), None)
                ids = [node.text for node in tree.iterfind("instancesSet/item/instanceId")]
                left -= weight * len(ids)
                got.append((wish, "<instanceIds>" + "".join(f"<item>{one}</item>" for one in ids) +
                            f"</instanceIds><instanceType>{wish['offer'].kind['name']}</instanceType>"))
            except ApiError as error:
                errors.append((wish, f"<errorCode>{error.code}</errorCode>"
                               f"<errorMessage>{answers.escape(error.text)}</errorMessage>"))
                code = error.code
        if wishes and not got:
            first = wishes[0]["offer"]
            self.note_refusal("CreateFleet", Offer(first.kind, None, market, region), code)
        return answers.answer_xml("CreateFleet", f"<fleetId>fleet-{uuid.uuid4()}</fleetId>" +
                                  self.fleet_set("errorSet", errors) +
                                  self.fleet_set("fleetInstanceSet", got))

    @staticmethod
    def instance_tags(params):
        """The tags of a fleet's instances; those of the fleet itself are not theirs."""
        mine = [group for group in answers.grouped(params, "TagSpecification")
                if group.get("ResourceType") == "instance"]
        return {f"TagSpecification.{number}.{name}": value for number, group in enumerate(mine, 1)
                for name, value in group.items()}

    def wishes(self, region, params, market):
        found = []
        for config in answers.grouped(params, "LaunchTemplateConfigs"):
            spec = {f"LaunchTemplate.{name}": config[f"LaunchTemplateSpecification.{name}"]
                    for name in ("LaunchTemplateId", "LaunchTemplateName", "Version")
                    if f"LaunchTemplateSpecification.{name}" in config}
            for override in answers.grouped(config, "Overrides") or [{}]:
                asked = dict(spec)
                for name, own in (("InstanceType", "InstanceType"), ("SubnetId", "SubnetId"),
                                  ("AvailabilityZone", "Placement.AvailabilityZone"),
                                  ("Placement.AvailabilityZone", "Placement.AvailabilityZone"),
                                  ("MaxPrice", "InstanceMarketOptions.SpotOptions.MaxPrice")):
                    if name in override:
                        asked[own] = override[name]
                offer = self.offer(region, asked)
                offer.market = market
                found.append({"params": asked, "offer": offer, "override": override, "spec": spec})
        options = "SpotOptions" if market == "spot" else "OnDemandOptions"
        if "prioritized" in params.get(f"{options}.AllocationStrategy", ""):
            return sorted(found, key=lambda wish: float(wish["override"].get("Priority", 1e9)))
        return sorted(found, key=lambda wish: self.wish_price(wish["offer"]))

    def wish_price(self, offer):
        if offer.market != "spot":
            return self.prices.on_demand(offer.kind)
        zones = [offer.zone] if offer.zone else self.zones(offer.region)
        return min(self.prices.spot(offer.kind, zone) for zone in zones)

    @staticmethod
    def fleet_set(name, rows):
        text = ""
        for wish, inner in rows:
            spec = "".join(f"<{key[15].lower()}{key[16:]}>{value}</{key[15].lower()}{key[16:]}>"
                           for key, value in wish["spec"].items())
            own = "".join(f"<{key[0].lower()}{key[1:]}>{value}</{key[0].lower()}{key[1:]}>"
                          for key, value in wish["override"].items() if "." not in key)
            text += ("<item><launchTemplateAndOverrides><launchTemplateSpecification>" + spec +
                     f"</launchTemplateSpecification><overrides>{own}</overrides>"
                     f"</launchTemplateAndOverrides><lifecycle>{wish['offer'].market}</lifecycle>" +
                     inner + "</item>")
        return f"<{name}>{text}</{name}>"

    # -- giving back

    def account(self):
        """Whose keys signed the request that is served."""
        return getattr(self.mood, "account", ec2_world.ACCOUNT)

    def is_visible(self, name, now=None):
        if name in self.hidden:
            return False
        instance = self.world.find(name)
        if instance is None:
            return self.account() == ec2_world.ACCOUNT
        if instance["account"] != self.account():
            return False
        now, forget = now or ec2_world.now_ms(), self.faults["forget_after_ms"]
        if forget and instance["ended"] is not None and now - instance["ended"] >= forget:
            return False
        return now - instance["since"] >= self.faults["visible_after_ms"]

    def check_visible(self, names):
        hidden = [name for name in names if not self.is_visible(name)]
        if hidden:
            raise ApiError("InvalidInstanceID.NotFound", f"The instance ID '{hidden[0]}' does not exist")

    def terminate_instances(self, region, params):
        names = listed(params, "InstanceId")
        self.check_visible(names)
        tree = self.upstream.ec2(region, params)
        for name in names:
            instance = self.world.find(name)
            if self.world.terminated(name, "client", reason="Client.UserInitiatedShutdown"):
                self.tell(instance, "EC2 Instance State-change Notification", state="terminated")
        return answers.answer_xml("TerminateInstances", answers.inner_of(tree))

    # -- describing

    def describe_instances(self, region, params):
        if listed(params, "InstanceId") and "MaxResults" in params:
            raise ApiError("InvalidParameterCombination", "The parameter instancesSet cannot be used with "
                           "the parameter maxResults")
        asked = self.lies.asked_page("DescribeInstances", params)
        rows, token = self.pager.page(asked, "DescribeInstances", self.faults["page_most"],
                                      lambda: self.lies.rows("DescribeInstances", self.instance_rows(region, asked)))
        token = self.lies.page_token("DescribeInstances", params.get("NextToken"), token)
        text, last = "", None
        for head, item in rows:
            if head != last:
                text += ("</instancesSet></item>" if last else "") + f"<item>{head}<instancesSet>"
            last = head
            text += item
        text += "</instancesSet></item>" if last else ""
        return answers.answer_xml("DescribeInstances", f"<reservationSet>{text}</reservationSet>" +
                                  answers.token_xml(token))

    def instance_rows(self, region, params):
        """[(reservation, instance)], as text. Filters on what the proxy changes are its own."""
        self.check_visible(listed(params, "InstanceId"))
        filters = answers.filters_of(params)
        own = {name: values for name, values in filters if name in ("client-token", "instance-state-name")}
        asked = without(params, "Filter", "MaxResults", "NextToken")
        rest = [one for one in filters if one[0] not in own]
        then = self.lies.as_of_ms("DescribeInstances", ec2_world.now_ms())
        if own.get("instance-state-name") and not self.lies.find("DescribeInstances", "stale"):
            rest.append(("instance-state-name", self.states_in_moto(own["instance-state-name"])))
        answers.put_filters(asked, rest)
        if not listed(params, "InstanceId"):
            asked["MaxResults"] = "1000000"  # else moto shows a hundred
        rows = []
        for reservation in self.upstream.ec2(region, asked).iterfind("reservationSet/item"):
            instances = reservation.find("instancesSet")
            reservation.remove(instances)
            put(reservation, "ownerId", self.account())
            head = answers.inner_of(reservation)
            for item in instances:
                self.correct(item, then)
                if self.is_visible(item.findtext("instanceId"), then) and self.passes(item, own):
                    rows.append((head, answers.text_of(item)))
        if not listed(params, "InstanceId") and self.account() == ec2_world.ACCOUNT:
            rows += [row for row, tags in self.planted
                     if all(self.planted_passes(tags, name, values) for name, values in filters)]
        return rows

    @staticmethod
    def states_in_moto(patterns):
        """The states that what is asked for may have in moto, which knows none in between."""
        if any(answers.fits(state, patterns) for state in ("pending", "running")):
            if any(answers.fits(state, patterns) for state in ("shutting-down", "terminated")):
                return list(STATES)
            return ["pending", "running"]
        return ["shutting-down", "terminated"]

    @staticmethod
    def passes(item, own):
        return (answers.fits(item.findtext("clientToken"), own.get("client-token", "*")) and
                answers.fits(item.findtext("instanceState/name"), own.get("instance-state-name", "*")))

    @staticmethod
    def planted_passes(tags, name, values):
        if name == "instance-state-name":
            return answers.fits("running", values)
        if name.startswith("tag:"):
            return name[4:] in tags and answers.fits(tags[name[4:]], values)
        return name == "tag-key" and any(answers.fits(key, values) for key in tags)

    def correct(self, item, now):
        """Write into an instance of moto what moto does not know, as of 'now', which may be a while ago."""
        known = self.world.find(item.findtext("instanceId"))
        if known is None:
            return
        put(item, "clientToken", known["token"])
        put(item, "amiLaunchIndex", str(known["index"]))
        state = item.findtext("instanceState/name")
        has_ended = known["ended"] is not None and known["ended"] <= now
        if known["ended"] is not None and not has_ended:
            state = "running"
            for name in ("reason", "stateReason"):
                for old in item.findall(name):
                    item.remove(old)
        if state == "running" and now - known["since"] < self.faults["pending_ms"]:
            state = "pending"
        if has_ended:
            state = "shutting-down" if now - known["ended"] < self.faults["shutting_down_ms"] else "terminated"
        put(item, "instanceState/name", state)
        put(item, "instanceState/code", STATES.get(state, "80"))
        if has_ended and not known["code"]:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(known["ended"] // 1000))
            put(item, "reason", f"User initiated ({stamp} GMT)")
        if has_ended and known["code"]:
            put(item, "reason", known["code"])
            put(item, "stateReason/code", known["code"])
            put(item, "stateReason/message", f"{known['code']}: Spot instance termination")

    def describe_static(self, region, params):
        action = params["Action"]
        asked = without(params, "MaxResults", "NextToken")
        lists = self.types if action == "DescribeInstanceTypes" else self.static
        rows, token = self.pager.page(params, action, self.faults["page_most"],
                                      lambda: lists(region, asked)[1])
        name = {"DescribeInstanceTypes": "instanceTypeSet",
                "DescribeInstanceTypeOfferings": "instanceTypeOfferingSet"}[action]
        return answers.answer_xml(action, f"<{name}>{''.join(rows)}</{name}>" + answers.token_xml(token))

    def describe_prices(self, region, params):
        rows, token = self.pager.page(params, "DescribeSpotPriceHistory", self.faults["page_most"],
                                      lambda: self.price_rows(region, params))
        return answers.answer_xml("DescribeSpotPriceHistory",
                                  f"<spotPriceHistorySet>{''.join(rows)}</spotPriceHistorySet>" +
                                  answers.token_xml(token))

    def price_rows(self, region, params):
        filters = dict(answers.filters_of(params))
        names = listed(params, "InstanceType") or filters.get("instance-type") or ["*"]
        zones = [params["AvailabilityZone"]] if "AvailabilityZone" in params else \
            filters.get("availability-zone") or ["*"]
        product = (listed(params, "ProductDescription") or filters.get("product-description") or
                   ec2_prices.LINUX)[0]
        if product not in ec2_prices.LINUX:
            return []
        kinds = self.kinds(region)
        wanted = []
        for name, zone in self.offerings(region):
            if name in kinds and answers.fits(name, names) and answers.fits(zone, zones):
                wanted.append((kinds[name], zone))
        now = time.time()
        begin = ec2_prices.seconds_of(params["StartTime"]) if "StartTime" in params else now
        end = min(now, ec2_prices.seconds_of(params["EndTime"])) if "EndTime" in params else now
        return [f"<item><instanceType>{kind['name']}</instanceType><productDescription>{product}"
                f"</productDescription><spotPrice>{price:.6f}</spotPrice><timestamp>"
                f"{ec2_prices.stamp(at)}</timestamp><availabilityZone>{zone}</availabilityZone></item>"
                for kind, zone, at, price in self.prices.history(wanted, min(begin, end), end)]

    def get_products(self, body):
        """The Pricing API: on-demand prices of Linux."""
        asked = json.loads(body or "{}")
        if not asked.get("ServiceCode"):
            raise ApiError("InvalidParameterException", "ServiceCode is required.")
        terms = {one["Field"]: one["Value"] for one in asked.get("Filters", [])}
        region = terms.get("regionCode", "us-east-1")
        fixed = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA",
                 "capacitystatus": "Used"}
        names = sorted(self.kinds(region))
        if any(terms.get(key, value) != value for key, value in fixed.items()):
            names = []
        if "instanceType" in terms:
            names = [name for name in names if name == terms["instanceType"]]
        first = int(asked.get("NextToken") or 0)
        last = first + min(100, int(asked.get("MaxResults", 100)))
        said = {"FormatVersion": "aws_v1", "PriceList": [
            self.prices.product(self.kinds(region)[name], region) for name in names[first:last]]}
        if last < len(names):
            said["NextToken"] = str(last)
        return json.dumps(said)

    # -- all of it

    def call(self, region, params):
        """The text of the answer to one request."""
        action = params["Action"]
        if action in DRY and params.get("DryRun", "").lower() == "true":
            if action == "RunInstances":
                self.offer(region, params)  # what it names must be there
            elif action == "CreateFleet":
                self.wishes(region, params, "on-demand")
            raise ApiError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
        if action not in WITH_TOKEN or not params.get("ClientToken") or not self.faults["tokens"]:
            return self.act(region, params)
        token = params["ClientToken"]
        if len(token) > 64 or not token.isascii():
            raise ApiError("InvalidParameterValue", "ClientToken: at most 64 ASCII characters")
        same = sorted((name, value) for name, value in params.items() if name != "DryRun")
        asked = hashlib.sha256(json.dumps(same).encode()).hexdigest()
        entry = self.tokens.entry((region, action, token))
        with entry["lock"]:
            if entry["said"] is None:
                said = self.act(region, params)  # one that failed may be tried again
                entry.update(asked=asked, said=said)
                return said
        if entry["asked"] != asked:
            self.world.note("mismatch", action=action, token=token)
            raise ApiError("IdempotentParameterMismatch", "The request uses the same client token as a "
                           "previous, but non-identical request. Do not reuse a client token with "
                           "different requests, unless the requests are identical.")
        self.world.note("replay", action=action, token=token)
        return answers.with_request_id(entry["said"])

    def act(self, region, params):
        special = {"RunInstances": self.run_instances, "CreateFleet": self.create_fleet,
                   "TerminateInstances": self.terminate_instances,
                   "DescribeInstances": self.describe_instances,
                   "DescribeInstanceTypes": self.describe_static,
                   "DescribeInstanceTypeOfferings": self.describe_static,
                   "DescribeSpotPriceHistory": self.describe_prices}
        action = params["Action"]
        if action in special:
            return special[action](region, params)
        return answers.answer_xml(action, answers.inner_of(self.upstream.ec2(region, params)))

    # -- what the cloud does of its own accord

    def tell(self, instance, kind, copies=1, late_ms=0, **detail):
        """Put a message into the queue."""
        url = self.faults["queue_url"]
        if not url or (kind.endswith("Notification") and not self.faults["state_changes"]):
            return

        def send():
            time.sleep(late_ms / 1000)
            text = ec2_world.event_json(instance, kind, **detail)
            for _ in range(copies):
                self.upstream.sqs(instance["region"], "SendMessage", {"QueueUrl": url, "MessageBody": text})

        threading.Thread(target=send, daemon=True).start()

    def interrupt(self, instance, notice_ms=120000, notice=True, copies=1, late_ms=0):
        until = ec2_world.now_ms() + (notice_ms if notice else 0)
        self.world.mark(instance["id"], notice=until)
        if notice:
            self.world.note("notice", id=instance["id"], until=until, kind="interruption")
            self.tell(instance, NOTICE, copies, late_ms, **{"instance-action": "terminate"})
        timer = threading.Timer(max(0, until - ec2_world.now_ms()) / 1000, self.end, (instance, "spot", SPOT_END))
        timer.daemon = True
        timer.start()
        return {"instance": instance["id"], "until": until}

    def rebalance(self, instance):
        self.world.note("notice", id=instance["id"], until=None, kind="rebalance")
        self.tell(instance, REBALANCE)
        return {"instance": instance["id"]}

    def end(self, instance, by, code):
        """Terminate it in moto, if it lives."""
        found = self.world.find(instance["id"])
        if found["ended"] is None:
            self.upstream.ec2(instance["region"], {"Action": "TerminateInstances",
                                                   "InstanceId.1": instance["id"]})
            if self.world.terminated(instance["id"], by, code if by == "spot" else "", code):
                self.tell(instance, "EC2 Instance State-change Notification", state="terminated")
        return {"instance": instance["id"]}

    def plant(self, count, tags, name="m5.large", region="us-east-1"):
        """Instances of moto's form that are only listed: moto takes minutes for ten thousand."""
        if self.pattern is None:
            tree = self.upstream.ec2(region, {"Action": "RunInstances", "ImageId": "ami-12345678",
                                              "MinCount": "1", "MaxCount": "1", "InstanceType": name})
            item = tree.find("instancesSet/item")
            found = item.findtext("instanceId")
            self.upstream.ec2(region, {"Action": "TerminateInstances", "InstanceId.1": found})
            put(item, "instanceState/name", "running")
            put(item, "instanceState/code", STATES["running"])
            put(item, "clientToken", "")
            for tag_set in item.findall("tagSet"):
                item.remove(tag_set)
            self.pattern = (found, answers.text_of(item)[:-len("</item>")])
            self.hidden.add(found)
        found, text = self.pattern
        first = len(self.planted)
        for index in range(first, first + count):
            own = {key: value.replace("%d", str(index)) for key, value in tags.items()}
            inner = "".join(f"<item><key>{key}</key><value>{answers.escape(value)}</value></item>"
                            for key, value in own.items())
            one = text.replace(found, f"i-0{index:016x}") + f"<tagSet>{inner}</tagSet></item>"
            head = (f"<reservationId>r-0{index // 7:016x}</reservationId>"
                    "<ownerId>123456789012</ownerId><groupSet/>")
            self.planted.append(((head, one), own))
        return {"planted": len(self.planted)}
