// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools pins what tests/kubernetes/build.sh builds.
package tools

import _ "go.etcd.io/etcd/server/v3"
