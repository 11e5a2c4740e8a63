{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "stint.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.Version }}
{{- end }}

{{- define "stint.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "stint.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "stint.conf" -}}
{{- $own := dict
  "cluster" (required "cluster is required: a name for this installation" .Values.cluster)
  "mode" .Values.mode
  "policy" .Values.policy
  "catalogue" "catalogue.yaml"
  "state" "/var/lib/stint/stint.db"
  "engine" (dict "kind" "kubernetes")
  "cloud" (dict "kind" "karpenter" "node_class" (required "nodeClass is required: GROUP/KIND/NAME" .Values.nodeClass))
  "http" (dict "socket" "/run/stint/stintd.sock") -}}
{{ toYaml (mergeOverwrite $own .Values.config) }}
{{- end }}
