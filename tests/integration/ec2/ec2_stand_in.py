#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ec2_stand_in - a stand-in for the APIs of EC2 and SQS. It is not AWS; it is for tests.

    ec2_stand_in.py --moto PATH/moto_server [--port N] [--control-port N] [--record FILE]
                    [--config JSON] [--keys JSON] [--hook COMMAND]

moto's server does the work; this is a proxy in front of it that adds what moto lacks and EC2 documents:
client tokens, paging, refusals for want of capacity, quotas, throttling, unknown types refused,
signatures checked, instances that are unknown or pending for a while after their launch, CreateFleet
(type instant) by offer, spot prices that move, on-demand prices (GetProducts), interruptions with
their notices; and what networks do: delays, connections cut before, after or within an answer. Once
ready it prints "ready PORT CONTROL_PORT". Everything listens on 127.0.0.1 and calls nothing else.

Control port, JSON over HTTP:

    GET  /config                  the settings (ec2_faults.py lists them)
    POST /config {..}             change some
    POST /keys {ACCESS: {secret, session_token, expires_ms, denied, account}}   replaces the keys; an account
                                  sees, lists and ends only what was launched with its keys
    POST /next {..}               an order for the next requests (ec2_faults.py, Faults.order)
    GET  /held?count=1&ms=5000    wait until so many answers are held; 504 if not
    POST /release                 let go what is held
    POST /interrupt {instance | any: true, notice_ms, notice: true, copies: 1, late_ms: 0}
    POST /rebalance {instance | any: true}
    POST /terminate {instance}    as from the console
    POST /plant {count, tags, clear}   so many instances that DescribeInstances lists and nothing else;
                                  %d in a tag becomes a number; clear: first take away those there are
    POST /lie {kind, seconds, ..}, GET /lie   wrong answers for a while (ec2_lies.py lists them)
    POST /reset                   forget all that is there; settings and record stay
    GET  /counters  /instances  /record?from=N

The files beside this one: ec2_api (what each request does), ec2_faults (what goes wrong when), ec2_lies,
ec2_answers (XML and pages), ec2_prices, ec2_world (the record, the hook), sigv4.
"""
import argparse
import http.server
import json
import shlex
import signal
import socket
import struct
import sys
import threading
import time
import urllib.parse
import uuid

import ec2_answers as answers
import ec2_prices
import ec2_world
import sigv4
from ec2_answers import ApiError
from ec2_api import Ec2, Upstream
from ec2_faults import Faults

DEFAULT_KEYS = {"AKIASTANDIN000000000": {"secret": "stand-in/secret+of/no+worth0000000000000"}}
LAUNCHES = ("RunInstances", "CreateFleet")
ROLE_SECONDS = 3600
USER = "arn:aws:iam::123456789012:user/stand-in"
ACCOUNT = ec2_world.ACCOUNT


def asked_offer(action, params):
    """What a launch asks for, for the record; of another request nothing. A fleet finds its zone itself."""
    if action not in LAUNCHES:
        return {}
    if action == "CreateFleet":
        first = "LaunchTemplateConfigs.1.Overrides.1.InstanceType"
        return {"type": params.get(first), "zone": None, "token": params.get("ClientToken", ""),
                "market": params.get("TargetCapacitySpecification.DefaultTargetCapacityType", "on-demand")}
    return {key: params[name] for key, name in
            (("type", "InstanceType"), ("zone", "Placement.AvailabilityZone"),
             ("market", "InstanceMarketOptions.MarketType"), ("token", "ClientToken")) if name in params}


class Cut(Exception):
    """The connection is to be cut here."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "stand-in"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def read_body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status, kind, body, cut_at=None):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-amzn-RequestId", str(uuid.uuid4()))
        self.end_headers()
        self.wfile.write(body if cut_at is None else body[:int(len(body) * cut_at)])
        self.wfile.flush()

    def do_GET(self):
        self.serve(b"")

    def do_POST(self):
        self.serve(self.read_body())

    def cut(self):
        """End the connection with a reset, so that no half answer looks whole."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


class Api(Handler):
    """One connection of a client."""

    def serve(self, body):
        try:
            self.serve_request(body)
        except (Cut, ConnectionError):
            self.cut()

    def serve_request(self, body):
        faults, world = self.server.ec2.faults, self.server.ec2.world
        target = self.headers.get("X-Amz-Target", "")
        query = body.decode(errors="replace") if self.command == "POST" else self.path.partition("?")[2]
        params = {} if target else dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        action = target.rpartition(".")[2] or params.get("Action", "")
        offer = asked_offer(action, params)
        if offer and "SubnetId" in params:
            offer["zone"] = self.zone_of_subnet(params["SubnetId"])
        world.count(f"asked {action}")
        if offer:
            world.note("ask", action=action, **offer)
        if self.server.ec2.lies.hang(action):
            raise Cut
        self.hinder(action, "before", "cut_before", offer)
        faults.delay("delay_ms", action)
        service = "sqs" if target else "ec2"
        try:
            said = self.perform(action, service, params, body, offer)
        except (ApiError, sigv4.Refused) as error:
            world.count(f"said {error.code}")
            status, text = answers.error_json(service, error.code, error.text) if target \
                else answers.error_xml(error.code, error.text)
            said = (status, "application/x-amz-json-1.0" if target else "text/xml;charset=UTF-8", text)
        faults.delay("delay_after_ms", action)
        self.hinder(action, "after", "cut_after", offer)
        cut_at = None
        if faults.take_order("middle", action) or faults.happens("cut_middle", action):
            world.note("cut", action=action, when="middle", **offer)
            cut_at = faults.random("middle", action).random()
        said, short_at = self.server.ec2.lies.answer(action, said)
        self.answer(*said, cut_at=short_at if cut_at is None else cut_at)
        if short_at is not None:
            self.close_connection = True
        if cut_at is not None:
            raise Cut
        if offer:
            world.note("answer", action=action, **offer)

    def zone_of_subnet(self, subnet):
        """None: there is no such subnet, or the request is not even signed. It is refused later."""
        try:
            region = sigv4.parse_authorization(self.headers.get("Authorization", ""))[1][1]
            return self.server.ec2.zone_of_subnet(region, subnet)
        except (ApiError, sigv4.Refused):
            return None

    def hinder(self, action, when, share, offer):
        faults, world = self.server.ec2.faults, self.server.ec2.world
        self.order = order = faults.take_order(when, action)
        if order and order["do"] == "hold":
            faults.hold()
        if (order and order["do"] == "cut") or faults.happens(share, action):
            world.note("cut", action=action, when=when, **offer)
            raise Cut

    def perform(self, action, service, params, body, offer):
        server, faults = self.server, self.server.ec2.faults
        if action == "AssumeRoleWithWebIdentity":
            return 200, "text/xml", server.show_web_identity(params)
        access = sigv4.verify(self.command, self.path, self.headers, body, server.keys)
        region = sigv4.parse_authorization(self.headers["Authorization"])[1][1]
        order = self.order
        if faults.is_throttled(action) or (order and order["do"] == "throttle"):
            server.ec2.world.note("throttle", action=action, **offer)
            raise ApiError("RequestLimitExceeded", "Request limit exceeded.")
        self.check_rights(action, service, params, access)
        if order and order["do"] == "error":
            raise ApiError(order["code"], "As ordered.")
        if faults.happens("error", action):
            raise ApiError("InternalError", "An internal error has occurred.")
        server.ec2.mood.refuses = bool(order and order["do"] == "refuse")
        server.ec2.mood.token = params.get("ClientToken", "")
        server.ec2.mood.account = server.account(access)
        if action == "GetProducts":
            return 200, "application/x-amz-json-1.1", server.ec2.get_products(body)
        if action == "AssumeRole":
            return 200, "text/xml", server.assume_role(params, access)
        if action == "GetCallerIdentity":
            return 200, "text/xml", server.caller(access)
        if service == "ec2" and params.get("Action"):
            return 200, "text/xml;charset=UTF-8", server.ec2.call(region, params)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        return server.ec2.upstream.forward(self.command, self.path, headers, body)


    def check_rights(self, action, service, params, access):
        """As EC2 does: a launch with tags or a role needs the rights to both besides its own."""
        server = self.server
        denied = [*server.ec2.faults["denied"], *server.keys[access].get("denied", [])]
        service = {"GetProducts": "pricing", "GetCallerIdentity": "sts", "AssumeRole": "sts"}.get(action, service)
        needed = [(service, action)]
        if action in LAUNCHES and "TagSpecification.1.ResourceType" in params:
            needed.append(("ec2", "CreateTags"))
        if action in LAUNCHES:
            needed.append(("iam", "PassRole"))
        for of, name in needed:
            if name in denied:
                raise ApiError("UnauthorizedOperation", "You are not authorized to perform this operation. "
                               f"User: {USER} is not authorized to perform: {of}:{name} because no "
                               f"identity-based policy allows the {of}:{name} action.")


class ApiServer(http.server.ThreadingHTTPServer):
    request_queue_size = 256

    def __init__(self, port, ec2, keys):
        super().__init__(("127.0.0.1", port), Api)
        self.ec2 = ec2
        self.keys = keys

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(request, client_address)

    def show_web_identity(self, params):
        """Keys of a role, against the token that is known for its name."""
        token = self.ec2.faults["web_identity"].get(params.get("RoleArn", ""))
        if not token or params.get("WebIdentityToken") != token:
            raise ApiError("InvalidIdentityToken", "The token is not valid.")
        return self.give_role("AssumeRoleWithWebIdentity", params)

    def assume_role(self, params, access):
        """Keys of a role for whom it trusts, by the external id that it wants."""
        role = params.get("RoleArn", "")
        external, *trusted = self.ec2.faults["roles"].get(role, [None])
        if self.principal(access) not in trusted or params.get("ExternalId") != external:
            raise ApiError("AccessDenied", f"User: {self.principal(access)} is not authorized to perform: "
                           f"sts:AssumeRole on resource: {role}")
        return self.give_role("AssumeRole", params)

    def give_role(self, action, params):
        seconds = int(params.get("DurationSeconds", ROLE_SECONDS))
        if not 900 <= seconds <= 43200 or not params.get("RoleSessionName"):
            raise ApiError("ValidationError", "1 validation error detected")
        access, secret, session = "ASIA" + uuid.uuid4().hex[:16].upper(), uuid.uuid4().hex, uuid.uuid4().hex
        ends = time.time() + seconds
        self.keys[access] = {"secret": secret, "session_token": session, "expires_ms": ends * 1000,
                             "role": params["RoleArn"], "session": params["RoleSessionName"]}
        return (f'<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result><Credentials>'
                f"<AccessKeyId>{access}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>"
                f"<SessionToken>{session}</SessionToken><Expiration>{ec2_prices.stamp(ends)}</Expiration>"
                f"</Credentials></{action}Result></{action}Response>")

    def account(self, access):
        return self.keys[access].get("account", ACCOUNT)

    def principal(self, access):
        """Whose keys these are, as a role's trust names them."""
        return self.keys[access].get("role", USER)

    def caller(self, access):
        key, account = self.keys[access], self.ec2.lies.account("GetCallerIdentity", self.account(access))
        arn = f"{key['role'].replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/{key['session']}" \
            if "role" in key else USER.replace(ACCOUNT, account)
        return ('<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
                f"<GetCallerIdentityResult><Arn>{arn}</Arn>"
                f"<UserId>{access}</UserId><Account>{account}</Account></GetCallerIdentityResult>"
                "</GetCallerIdentityResponse>")


class Control(Handler):
    def serve(self, body):
        path, _, query = self.path.partition("?")
        asked = dict(urllib.parse.parse_qsl(query))
        try:
            said = getattr(self, f"on{path.replace('/', '_')}")(asked, json.loads(body or b"{}"))
            self.answer(200, "application/json", json.dumps(said))
        except TimeoutError as error:
            self.answer(504, "application/json", json.dumps({"error": str(error)}))
        except AttributeError:
            self.answer(404, "application/json", json.dumps({"error": f"no {path}"}))
        except (ValueError, KeyError, TypeError, ApiError) as error:
            self.answer(400, "application/json", json.dumps({"error": str(error)}))

    def ec2(self):
        return self.server.api.ec2

    def on_config(self, _, changes):
        self.ec2().faults.set(changes)
        return self.ec2().faults.settings

    def on_keys(self, _, keys):
        self.server.api.keys = keys
        return {}

    def on_next(self, _, order):
        self.ec2().faults.order(order)
        return {}

    def on_held(self, asked, _):
        count = int(asked.get("count", 1))
        if not self.ec2().faults.wait_held(count, int(asked.get("ms", 5000)) / 1000):
            raise TimeoutError(f"not {count} are held")
        return {"held": self.ec2().faults.held}

    def on_release(self, *_):
        self.ec2().faults.release()
        return {}

    def pick(self, what):
        world = self.ec2().world
        if what.pop("any", False):
            found = sorted((one for one in world.living() if one["market"] == "spot" and
                            one["notice"] is None), key=lambda one: one["since"])
            if not found:
                raise ValueError("no spot instance lives that has no notice yet")
            return self.ec2().faults.random("pick", "any").choice(found)
        instance = world.find(what.pop("instance"))
        if instance is None or instance["ended"] is not None:
            raise ValueError("no such instance lives")
        return instance

    def on_interrupt(self, _, what):
        instance = self.pick(what)
        if instance["market"] != "spot":
            raise ValueError("only a spot instance can be interrupted")
        return self.ec2().interrupt(instance, **what)

    def on_rebalance(self, _, what):
        return self.ec2().rebalance(self.pick(what))

    def on_terminate(self, _, what):
        return self.ec2().end(self.pick(what), "console", "Client.UserInitiatedShutdown")

    def on_lie(self, _, what):
        if what:
            self.ec2().lies.begin(what)
        return self.ec2().lies.listing()

    def on_plant(self, _, what):
        if what.get("clear"):
            self.ec2().planted.clear()
        return self.ec2().plant(what.get("count", 0), what.get("tags", {}))

    def on_reset(self, *_):
        self.ec2().reset()
        return {}

    def on_counters(self, *_):
        world = self.ec2().world
        with world.lock:
            return {**world.counters, "held": self.ec2().faults.held}

    def on_instances(self, *_):
        return self.ec2().world.living()

    def on_record(self, asked, _):
        return self.ec2().world.lines[int(asked.get("from", 0)):]


class ControlServer(http.server.ThreadingHTTPServer):
    def __init__(self, port, api):
        super().__init__(("127.0.0.1", port), Control)
        self.api = api


def main():
    parser = argparse.ArgumentParser(description="a stand-in for the APIs of EC2 and SQS, for tests")
    parser.add_argument("--moto", required=True, help="moto's server program")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--control-port", type=int, default=0)
    parser.add_argument("--record", help="file that the record is added to")
    parser.add_argument("--config", default="{}", help="settings, JSON")
    parser.add_argument("--keys", help="keys, JSON")
    parser.add_argument("--hook", help="command for each launch, notice and terminate")
    options = parser.parse_args()

    upstream = Upstream(options.moto)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        faults = Faults()
        faults.set(json.loads(options.config))
        world = ec2_world.World(options.record, shlex.split(options.hook) if options.hook else None)
        ec2 = Ec2(upstream, faults, world)
        ec2.kinds("us-east-1")  # the first call is slow; not on a client's time
        api = ApiServer(options.port, ec2, json.loads(options.keys) if options.keys else dict(DEFAULT_KEYS))
        control = ControlServer(options.control_port, api)
        threading.Thread(target=control.serve_forever, daemon=True).start()
        print("ready", api.server_address[1], control.server_address[1], flush=True)
        api.serve_forever()
    finally:
        upstream.process.kill()
        upstream.process.wait()


if __name__ == "__main__":
    main()
