{{/* Names, labels and images. */}}

{{- define "switchboard.name" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* What selects the pods of a kind: (list $ "core"). */}}
{{- define "switchboard.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ default $root.Chart.Name $root.Values.nameOverride }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* All labels of an object of a kind: (list $ "core"). */}}
{{- define "switchboard.labels" -}}
{{- $root := index . 0 -}}
{{ include "switchboard.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end -}}

{{- define "switchboard.image" -}}
{{- $root := index . 0 -}}
{{- $image := ternary $root.Values.gatewayImage $root.Values.image (eq (index . 1) "gateway") -}}
image: {{ printf "%s:%s" $image.repository (default $root.Chart.AppVersion $image.tag) | quote }}
imagePullPolicy: {{ $image.pullPolicy }}
{{- end -}}

{{- define "switchboard.serviceAccount" -}}
{{- default (include "switchboard.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "switchboard.migrationAccount" -}}
{{- default (printf "%s-migrate" (include "switchboard.name" .)) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "switchboard.coreHost" -}}
{{ include "switchboard.name" . }}-core.{{ .Release.Namespace }}.svc
{{- end -}}

{{- define "switchboard.claim" -}}
{{- if .Values.storage.claim -}}{{ .Values.storage.claim }}
{{- else if .Values.storage.create -}}{{ include "switchboard.name" . }}-data
{{- end -}}
{{- end -}}

{{/* Whether a kind is scaled: "true" or nothing. */}}
{{- define "switchboard.scaled" -}}
{{- if (index (index . 0).Values (index . 1)).autoscaling.enabled -}}true{{- end -}}
{{- end -}}
