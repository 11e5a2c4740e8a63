#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# catalogue_verb.sh STINT   what `stint catalogue` writes down of a stand-in of EC2, and shows of files; in
#                           TAP
set -u
if [ $# -ne 1 ]; then
    sed -n '4,5s/^# //p' "$0"
    exit 2
fi
stint=$(realpath "$1")
shipped=$(realpath "$(dirname "$0")/../share/catalogue")
room=$(mktemp -d) || exit 1
server_pid=
trap 'kill $server_pid 2>/dev/null; rm -rf "$room"' EXIT
cd "$room" || exit 1

number=0
failed=0
code=0

# catalogue ARGUMENT...: leaves code, out and err.
catalogue() {
    "$stint" catalogue "$@" >out 2>err </dev/null
    code=$?
}

# judge SENTENCE CONDITION...
judge() {
    local sentence=$1
    shift
    number=$((number + 1))
    if "$@" >why 2>&1; then
        echo "ok $number - $sentence"
        return
    fi
    failed=1
    echo "not ok $number - $sentence"
    echo "# exit code $code"
    head -n 20 why out err | sed 's/^/# /'
}

# says TEXT: it is done, and the text is all of standard output.
says() {
    [ "$code" -eq 0 ] && diff -u - out <<<"$1"
}

# has TEXT: it is done, and the text is among standard output.
has() {
    [ "$code" -eq 0 ] && grep -qF -- "$1" out
}

# fails_with CODE TEXT: and says so on standard error only.
fails_with() {
    [ "$code" -eq "$1" ] && grep -qF -- "$2" err && [ ! -s out ]
}

# dated_with FILE TYPE: it is read, says when its prices were asked, and has the type.
dated_with() {
    catalogue show "$shipped/$1"
    [ "$code" -eq 0 ] && grep -q '^date: 20[0-9-]*$' out && grep -q "^$2 .* on-demand " out
}

count=0
for row in aws-us-east-1:m8a.large aws-us-east-1:p5.48xlarge aws-us-east-1-arm64:m8g.large gcp-us-central1:a3-highgpu-8g \
    azure-swedencentral:Standard_ND96isr_H200_v5; do
    judge "a catalogue of ours is read: ${row%:*} has ${row#*:}" dated_with "${row%:*}.yaml" "${row#*:}"
done
for file in "$shipped"/*.yaml; do
    catalogue show "$file"
    [ "$code" -ne 0 ] || count=$((count + 1))
done
judge 'each catalogue of ours is read' [ "$count" -eq "$(find "$shipped" -name '*.yaml' | wc -l)" ]

cat >old.yaml <<'YAML'
date: 2024-05-01
types:
  - name: c1.large
    cpu: 2
    mem_gib: 4
    offers:
      - { zone: a, price: 0.1 }
      - { zone: a, market: spot, price: 0.03, interruption: [5, 10] }
      - { zone: b, market: spot, price: 0.04, interruption: [5, 10] }
      - { zone: c, market: spot, price: 0.05 }
YAML
sed -e 's/0.04, interruption: \[5, 10\]/0.05, interruption: [20, 100]/' \
    -e 's/0.03, interruption: \[5, 10\]/0.03, interruption: [10, 15]/' old.yaml >new.yaml

catalogue show old.yaml
judge "a table says how often spot machines are interrupted, and '-' where nobody knows" says \
    "date: 2024-05-01
type      CPUs  GiB  acc.  market     zone  \$ per hour  lost % a month  lasts h  known by
--------  ----  ---  ----  ---------  ----  ----------  --------------  -------  ---------
c1.large     2  4.0     0  on-demand  a         0.1000               -        -  -
c1.large     2  4.0     0  spot       a         0.0300            5-10  9,733.3  catalogue
c1.large     2  4.0     0  spot       b         0.0400            5-10  9,733.3  catalogue
c1.large     2  4.0     0  spot       c         0.0500               -        -  -"
catalogue show old.yaml -o csv
judge "a CSV has the percentages" has "c1.large,2,4.0,0,spot,a,0.030000,5-10,9733.3,catalogue"
judge "in a CSV what is not known is empty" has "c1.large,2,4.0,0,spot,c,0.050000,,,"
catalogue show old.yaml -o json
judge "in JSON what is not known is null" has '"interruption": null'
judge "JSON has the percentages" has '"interruption": "5-10"'

catalogue diff old.yaml new.yaml
judge "a diff tells changes of prices and of interruptions" says \
    "change        type      market  zone   old \$   new \$  old %   new %
------------  --------  ------  ----  ------  ------  -----  ------
interruption  c1.large  spot    a     0.0300  0.0300   5-10   10-15
dearer        c1.large  spot    b     0.0400  0.0500   5-10  20-100"
catalogue diff old.yaml old.yaml -o csv
judge "a catalogue does not differ from itself" says \
    "change,type,market,zone,old_price,new_price,old_interruption,new_interruption"

sed 's/price: 0.1 /price: 0.1, interruption: [5, 10] /' old.yaml >on-demand.yaml
catalogue show on-demand.yaml
judge "what is rented on demand is not interrupted" fails_with 1 "goes with 'market: spot'"

# An EC2 with two types in a zone.
cat >ec2.py <<'PYTHON'
import calendar, http.server, os, time, urllib.parse

def rows(name, texts):
    root = {"instanceTypeSet": "DescribeInstanceTypes", "instanceTypeOfferingSet": "DescribeInstanceTypeOfferings",
            "spotPriceHistorySet": "DescribeSpotPriceHistory"}[name] + "Response"
    return f"<{root}><{name}>" + "".join(f"<item>{text}</item>" for text in texts) + f"</{name}></{root}>"

TYPES = ("c5.large", "m5.large")
ANSWERS = {
    "DescribeInstanceTypes": rows("instanceTypeSet", [
        f"<instanceType>{name}</instanceType><currentGeneration>true</currentGeneration>"
        "<supportedUsageClasses><item>on-demand</item><item>spot</item></supportedUsageClasses>"
        "<processorInfo><supportedArchitectures><item>x86_64</item></supportedArchitectures>"
        "</processorInfo><vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo>"
        "<memoryInfo><sizeInMiB>4096</sizeInMiB></memoryInfo>" for name in TYPES]),
    "DescribeInstanceTypeOfferings": rows("instanceTypeOfferingSet", [
        f"<instanceType>{name}</instanceType><location>us-east-1a</location>" for name in TYPES]),
    "DescribeSpotPriceHistory": rows("spotPriceHistorySet", [
        f"<instanceType>{name}</instanceType><productDescription>Linux/UNIX</productDescription>"
        "<spotPrice>0.03</spotPrice><timestamp>2024-05-01T00:00:00Z</timestamp>"
        "<availabilityZone>us-east-1a</availabilityZone>" for name in TYPES]),
}

# What a span that is asked for has: the price at its begin is older; newest first, a page at a time.
def history(form):
    begin = calendar.timegm(time.strptime(form["StartTime"][0], "%Y-%m-%dT%H:%M:%SZ"))
    changes = [(7200, "0.031"), (3600, "0.032"), (1800, "0.03"), (-86400, "0.03")]
    page = int(form.get("NextToken", ["0"])[0])
    after, price = changes[page]
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(begin + after))
    return rows("spotPriceHistorySet", [
        f"<instanceType>c5.large</instanceType><productDescription>Linux/UNIX</productDescription>"
        f"<spotPrice>{price}</spotPrice><timestamp>{at}</timestamp>"
        "<availabilityZone>us-east-1a</availabilityZone>"]).replace(
            "</DescribeS", f"<nextToken>{page + 1 if page < 3 else ''}</nextToken></DescribeS")

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        body = ANSWERS[form["Action"][0]].encode()
        if "StartTime" in form and form["StartTime"] != form["EndTime"]:
            body = history(form).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open("port.new", "w") as out:
    out.write(str(server.server_port))
os.rename("port.new", "port")
server.serve_forever()
PYTHON
cat >advisor.json <<'JSON'
{"ranges": [{"index": 0, "label": "<5%", "max": 5}, {"index": 1, "label": "5-10%", "max": 11}],
 "spot_advisor": {"us-east-1": {"Linux": {"c5.large": {"s": 60, "r": 1}, "x9.large": {"s": 1, "r": 0}}}}}
JSON
echo "{ c5.large: 0.085, m5.large: 0.096 }" >prices.yaml
python3 ec2.py &
server_pid=$!
for _ in $(seq 100); do
    [ -f port ] && break
    sleep 0.05
done
export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=secret AWS_EC2_METADATA_DISABLED=true
unset AWS_PROFILE AWS_SESSION_TOKEN

# refresh ARGUMENT...: of the stand-in.
refresh() {
    catalogue refresh --endpoint "http://127.0.0.1:$(cat port)" --prices prices.yaml "$@"
}

# offers: the lines of the spot market.
spot_offers() {
    [ "$code" -eq 0 ] && diff -u - <(grep spot, out) <<<"$1"
}

refresh --region us-east-1
judge "without a file of bands nothing is said about interruptions" spot_offers \
    "      - { zone: us-east-1a, market: spot, price: 0.03 }
      - { zone: us-east-1a, market: spot, price: 0.03 }"
refresh --region us-east-1 --bands advisor.json
cp out banded.yaml
judge "a type that the file knows has its band, another has none" spot_offers \
    "      - { zone: us-east-1a, market: spot, price: 0.03, interruption: [5, 10] }
      - { zone: us-east-1a, market: spot, price: 0.03 }"
judge "the catalogue says where the bands are from" has \
    "source: EC2, and a file of prices, Spot Instance Advisor"
catalogue show banded.yaml -o csv
judge "what was written is shown" has "c5.large,2,4.0,0,spot,us-east-1a,0.030000,5-10"
gzip advisor.json
refresh --region us-east-1 --bands advisor.json.gz
judge "the file may be compressed" has "interruption: [5, 10]"
refresh --region us-west-9 --bands advisor.json.gz -f never.yaml
judge "a region that the file does not know is an error" fails_with 1 \
    "advisor.json.gz: line 2: 'spot_advisor' has nothing about 'us-west-9'"
judge "and no catalogue is written" [ ! -e never.yaml ]

refresh --region us-east-1 --history 7
cp out history.yaml
judge "a history is the changes of the price since its begin" spot_offers \
    "      - { zone: us-east-1a, market: spot, price: [[0, 0.03], [3600, 0.032], [7200, 0.031]] }"
judge "the catalogue says when it begins" grep -qE \
    "^source: EC2, and a file of prices, spot prices since $(date -u -d '-7 days' +%Y-%m)-..T.*Z$" history.yaml
catalogue show history.yaml -o csv
judge "of a history the latest price is shown" has "c5.large,2,4.0,0,spot,us-east-1a,0.031000,"
for days in 0 91 1.5 -1; do
    refresh --region us-east-1 --history "$days"
    judge "a history of $days days is refused" fails_with 2 "from 1 to 90"
done
refresh --region us-east-1 --history 7 --no-spot
judge "a history goes with the spot market" fails_with 2 "remove --no-spot"

cat >words.yaml <<'END'
types:
  - { name: a1.large, cpu: 2, mem_gib: 4, price: 1, features: [nvme, fast], gpu_model: t4 }
  - name: a1.xlarge
    cpu: 4
    mem_gib: 8
    features: [fast]
    offers: [{ zone: z1, price: 2 }, { zone: z1, market: spot, price: 1 }]
END
catalogue features words.yaml
judge "the features are those of types, families, markets, zones and the catalogue, once each" \
    has "cloud,a1,a1.large,on-demand,fast,nvme,a1.xlarge,z1,spot"
catalogue features
judge "features are of one file" fails_with 2 "features one, diff two"

echo "1..$number"
exit "$failed"
