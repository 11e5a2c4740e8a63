# SPDX-License-Identifier: Apache-2.0
"""sigv4 - check the signature (AWS Signature Version 4) of a request.

The stand-ins check every request as AWS does, so that a client that signs wrongly, or with keys that
have ended, finds out in a test. Written from the published algorithm; test_stand_ins.py holds it
against botocore's signer.
"""
import calendar
import hashlib
import hmac
import time
import urllib.parse

SKEW_S = 15 * 60


class Refused(Exception):
    """The request is not let in; 'code' is one of the API's error codes."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code
        self.text = text


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signing_key(secret, scope):
    key = ("AWS4" + secret).encode()
    for part in scope:
        key = digest(key, part)
    return key


def quote(text):
    return urllib.parse.quote(text, safe="-_.~")


def canonical_query(query):
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    return "&".join(f"{key}={value}" for key, value in
                    sorted((quote(key), quote(value)) for key, value in pairs))


def parse_authorization(text):
    """The parts of an Authorization header: (access key, scope, signed headers, signature)."""
    name, _, rest = (text or "").partition(" ")
    if name != "AWS4-HMAC-SHA256":
        raise Refused("MissingAuthenticationToken", "Request is missing Authentication Token")
    fields = dict(part.strip().partition("=")[::2] for part in rest.split(","))
    scope = fields.get("Credential", "").split("/")
    if len(scope) != 5 or "SignedHeaders" not in fields or "Signature" not in fields:
        raise Refused("IncompleteSignature", "Authorization header is incomplete")
    return scope[0], scope[1:], fields["SignedHeaders"].split(";"), fields["Signature"]


def verify(method, target, headers, body, keys, now=None):
    """Return the access key that signed, or raise Refused. 'keys' maps an access key to a dict with
    secret, and maybe session_token and expires_ms."""
    now = time.time() if now is None else now
    access, scope, names, signature = parse_authorization(headers.get("Authorization"))
    key = keys.get(access)
    if key is None:
        raise Refused("AuthFailure", "AWS was not able to validate the provided access credentials")
    if "expires_ms" in key and now * 1000 >= key["expires_ms"]:
        raise Refused("RequestExpired", "Request has expired.")
    if key.get("session_token", "") != headers.get("X-Amz-Security-Token", ""):
        raise Refused("AuthFailure", "The security token included in the request is invalid")
    if "host" not in names:
        raise Refused("SignatureDoesNotMatch", "'Host' must be a signed header")
    date = headers.get("X-Amz-Date", "")
    check_date(date, scope, now)
    path, _, query = target.partition("?")
    lines = [method, urllib.parse.quote(path, safe="/-_.~%"), canonical_query(query)]
    lines += [f"{name}:{' '.join((headers.get(name) or '').split())}" for name in names]
    lines += ["", ";".join(names), hashlib.sha256(body).hexdigest()]
    hashed = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", date, "/".join(scope), hashed])
    expected = digest(signing_key(key["secret"], scope), to_sign).hex()
    if not hmac.compare_digest(expected, signature):
        raise Refused("SignatureDoesNotMatch", "The request signature we calculated does not match "
                      "the signature you provided.")
    return access


def check_date(date, scope, now):
    try:
        signed_at = calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        raise Refused("IncompleteSignature", "X-Amz-Date is missing or malformed") from None
    if abs(signed_at - now) > SKEW_S:
        raise Refused("RequestExpired", "Request has expired.")
    if scope[0] != date[:8] or scope[3] != "aws4_request":
        raise Refused("SignatureDoesNotMatch", "Credential should be scoped to a valid date.")
