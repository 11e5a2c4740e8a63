# SPDX-License-Identifier: Apache-2.0
"""ec2_answers - requests and answers of the EC2 Query API, for the stand-in.

Parameters come as a flat dict ("Filter.1.Value.2"), answers go out as XML text. Lists are cut into
pages here: an answer of moto is taken apart once, and what is left stays behind a token.
"""
import base64
import fnmatch
import json
import re
import uuid
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape

NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"

# What EC2 documents: status of an error code, and the least and most of MaxResults.
STATUS = {"RequestLimitExceeded": 503, "InternalError": 500, "Unavailable": 503,
          "InsufficientInstanceCapacity": 500, "UnauthorizedOperation": 403, "AuthFailure": 401,
          "SignatureDoesNotMatch": 403, "DryRunOperation": 412, "AccessDenied": 403}
PAGES = {"DescribeInstances": (5, 1000), "DescribeInstanceTypes": (5, 100),
         "DescribeInstanceTypeOfferings": (5, 1000), "DescribeSpotPriceHistory": (1, 1000)}


class ApiError(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code
        self.text = text


def error_xml(code, text):
    return STATUS.get(code, 400), (
        '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error>'
        f"<Code>{escape(code)}</Code><Message>{escape(text)}</Message></Error></Errors>"
        f"<RequestID>{uuid.uuid4()}</RequestID></Response>")


def error_json(service, code, text):
    names = {"RequestLimitExceeded": "RequestThrottled", "RequestExpired": "ExpiredToken",
             "AuthFailure": "InvalidClientTokenId", "UnauthorizedOperation": "AccessDenied"}
    name = names.get(code, code)
    status = {"InternalError": 500, "AccessDenied": 403, "InvalidClientTokenId": 403,
              "ExpiredToken": 403, "SignatureDoesNotMatch": 403}.get(name, 400)
    return status, json.dumps({"__type": f"com.amazonaws.{service}#{name}", "message": text})


def answer_xml(action, inner):
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<{action}Response xmlns="{NAMESPACE}">'
            f"<requestId>{uuid.uuid4()}</requestId>{inner}</{action}Response>")


def with_request_id(text):
    """The same answer, under a request id of its own."""
    return re.sub(r"<requestId>[^<]*</requestId>", f"<requestId>{uuid.uuid4()}</requestId>", text, 1)


def parse(body):
    """The tree of an answer of moto, without name spaces."""
    return ElementTree.fromstring(re.sub(rb' xmlns="[^"]*"', b"", body, count=1))


def text_of(node):
    return ElementTree.tostring(node, encoding="unicode")


def inner_of(node):
    return "".join(text_of(child) for child in node if child.tag != "requestId")


def put(node, path, value):
    """Write a text below 'node', making what lacks."""
    for name in path.split("/"):
        child = node.find(name)
        node = child if child is not None else ElementTree.SubElement(node, name)
    node.text = value


def listed(params, prefix):
    """The values of prefix.1, prefix.2, ..."""
    pattern = re.compile(re.escape(prefix) + r"\.(\d+)$")
    found = {int(match[1]): value for name, value in params.items() if (match := pattern.match(name))}
    return [found[index] for index in sorted(found)]


def grouped(params, prefix):
    """The groups prefix.1.*, prefix.2.*, ... as dicts without the prefix."""
    groups = {}
    pattern = re.compile(re.escape(prefix) + r"\.(\d+)\.(.*)$")
    for name, value in params.items():
        if match := pattern.match(name):
            groups.setdefault(int(match[1]), {})[match[2]] = value
    return [groups[index] for index in sorted(groups)]


def filters_of(params):
    return [(group.get("Name", ""), listed(group, "Value")) for group in grouped(params, "Filter")]


def without(params, *prefixes):
    """The parameters without those that begin so (whole words of the name)."""
    return {name: value for name, value in params.items()
            if not any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)}


def put_filters(params, filters):
    for index, (name, values) in enumerate(filters, 1):
        params[f"Filter.{index}.Name"] = name
        for place, value in enumerate(values, 1):
            params[f"Filter.{index}.Value.{place}"] = value


def fits(value, patterns):
    return any(fnmatch.fnmatchcase(value or "", pattern) for pattern in patterns)


def tags_of(node, path="tagSet"):
    found = node.find(path)
    return {} if found is None else {item.findtext("key"): item.findtext("value") or ""
                                     for item in found}


def user_data(text):
    try:
        return base64.b64decode(text or "").decode(errors="replace")
    except ValueError:
        return text


class Pager:
    """Lists that were begun and not read to their end."""

    def __init__(self):
        self.rest = {}

    def page(self, params, action, most, rows):
        """The rows of this page, and the token of the next or None. 'rows' makes the list, and is
        called for a first page only."""
        least, limit = PAGES[action]
        size = min(limit, most)
        if "MaxResults" in params:
            asked = params["MaxResults"]
            if not asked.isdigit() or not least <= int(asked) <= limit:
                raise ApiError("InvalidParameterValue", f"Value ( {asked} ) for parameter maxResults "
                               f"is invalid. Expecting a value between {least} and {limit}.")
            size = min(size, int(asked))
        if params.get("NextToken"):
            begun = self.rest.get(params["NextToken"])
            if begun is None or begun[0] != action:
                raise ApiError("InvalidNextToken", "The token is not valid.")
            left = begun[1]
        else:
            left = rows()
        if len(left) <= size:
            return left, None
        token = base64.b64encode(uuid.uuid4().bytes + b"+/stand-in").decode()
        self.rest[token] = (action, left[size:])
        return left[:size], token


def token_xml(token):
    return f"<nextToken>{token}</nextToken>" if token else ""
