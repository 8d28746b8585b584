{{- define "peal.name" -}}
{{- if contains "peal" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-peal" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "peal.selector" -}}
app.kubernetes.io/name: peal
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "peal.labels" -}}
{{ include "peal.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "peal.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.store) }}{{ fail "more than one node needs a store that they share: set store" }}{{ end }}
{{- if not .Values.secrets.admin }}{{ fail "set secrets.admin: the name of a secret whose key password is that of the first account" }}{{ end }}
{{- end }}
