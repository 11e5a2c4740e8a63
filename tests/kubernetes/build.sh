#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build.sh [FOLDER]      build the control plane that the tests run against, from Go modules of pinned versions
# build.sh --folder      say where it is built if no folder is given
# build.sh --why-not     say why it cannot be built here, and succeed; or fail
#
# kube-apiserver, kube-scheduler and kube-controller-manager 1.36.3, etcd 3.6.8, kwok 0.8.0 (nodes and kubelets without
# machines) and Karpenter 1.14.1 with its kwok provider; and from the same modules, in share/, Karpenter's resource
# definitions and instance types and kwok's stages. All are built as one module, with the libraries of Kubernetes 1.36.3, so
# that what they share is compiled once. From nothing that takes 10 minutes of processor time and 425 MB; what is
# there is not built again. A folder of released binaries serves as well: name it in KUBEBUILDER_ASSETS.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

KUBERNETES=1.36.3
KWOK=0.8.0
KARPENTER=1.14.1
RECIPE=2 # raise it when this file builds something else

folder() {
    echo "${KUBEBUILDER_ASSETS:-${XDG_CACHE_HOME:-$HOME/.cache}/stint-kubernetes-$KUBERNETES-$RECIPE}"
}

why_not() {
    local version
    [ ! -e "$(folder)/complete" ] || return 1
    if ! version=$(go env GOVERSION 2>/dev/null); then
        echo "there is no Go"
    elif [ "$(printf '%s\n' go1.26 "$version" | sort -V | head -n 1)" != go1.26 ]; then
        echo "Go is $version, and 1.26 is needed"
    elif ! go mod download "sigs.k8s.io/kwok@v$KWOK" >/dev/null 2>&1; then
        echo "no proxy for Go modules answers"
    else
        return 1
    fi
}

# module NAME VERSION: the folder of its source
module() {
    go mod download -json "$1@v$2" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p'
}

build_program() { # PACKAGE NAME
    [ -x "$out/$2" ] || (cd "$here/modules" &&
        go build -mod=readonly -trimpath -ldflags "-s -w $version_flags" -o "$out/.$2" "$1" && mv "$out/.$2" "$out/$2")
}

copy_data() {
    local karpenter kwok
    karpenter=$(module sigs.k8s.io/karpenter $KARPENTER)
    kwok=$(module sigs.k8s.io/kwok $KWOK)
    rm -rf "$out/share" && mkdir -p "$out/share/crds"
    cp "$karpenter"/kwok/charts/crds/*.yaml "$karpenter"/kwok/apis/crds/*.yaml "$out/share/crds/"
    cp "$karpenter/kwok/examples/aws_instance_types.json" "$out/share/instance-types.json"
    for stage in "$kwok"/kustomize/stage/{node/fast,node/heartbeat-with-lease,pod/general}/*.yaml; do
        [ "${stage##*/}" = kustomization.yaml ] || { echo ---; cat "$stage"; }
    done >"$out/share/stages.yaml"
    chmod -R u+w "$out/share"
}

case ${1-} in
--folder)
    folder
    exit
    ;;
--why-not)
    why_not
    exit
    ;;
esac

out=${1:-$(folder)}
mkdir -p "$out"
out=$(realpath "$out")
export CGO_ENABLED=0
exec 9>"$out/.lock"
flock 9 # another run may be at it
if [ -e "$out/complete" ]; then
    exit
fi
version=k8s.io/component-base/version
version_flags="-X $version.gitVersion=v$KUBERNETES -X $version.gitMajor=1 -X $version.gitMinor=36"
for name in kube-apiserver kube-controller-manager kube-scheduler; do
    build_program k8s.io/kubernetes/cmd/$name $name
done
build_program go.etcd.io/etcd/server/v3 etcd
build_program sigs.k8s.io/kwok/cmd/kwok kwok
build_program sigs.k8s.io/karpenter/kwok karpenter-kwok
copy_data
touch "$out/complete"
