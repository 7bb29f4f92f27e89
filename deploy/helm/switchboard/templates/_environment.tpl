{{/* The environment of a container: (list $ "core"). */}}

{{- define "switchboard.secrets" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ default .Values.existingSecret .Values.database.existingSecret }}
      key: {{ .Values.database.key }}
- name: REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ default .Values.existingSecret .Values.redis.existingSecret }}
      key: {{ .Values.redis.key }}
{{- range list "INTERNAL_SERVICE_KEY" "CONFIG_ENCRYPTION_KEY" }}
- name: {{ . }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.existingSecret }}
      key: {{ . }}
{{- end }}
{{- end -}}

{{- define "switchboard.gatewayEnvironment" -}}
- name: HTTP_HOST
  value: 0.0.0.0
- name: HTTP_PORT
  value: "3011"
- name: CORE_TARGET
  value: dns:///{{ include "switchboard.coreHost" . }}.{{ .Values.clusterDomain }}:50051
{{- if .Values.tls.secretName }}
- name: CORE_TLS_CA_FILE
  value: /etc/switchboard/core-ca/ca.crt
- name: CORE_TLS_SERVER_NAME
  value: {{ default (include "switchboard.coreHost" .) .Values.tls.serverName }}
{{- if .Values.tls.gatewaySecretName }}
- name: CORE_TLS_CERT_FILE
  value: /etc/switchboard/tls/tls.crt
- name: CORE_TLS_KEY_FILE
  value: /etc/switchboard/tls/tls.key
{{- end }}
{{- end }}
{{- if not .Values.tls.mutual }}
# Cores know a gateway by it, as they do by its certificate.
- name: INTERNAL_SERVICE_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret }}
      key: INTERNAL_SERVICE_KEY
{{- end }}
{{- end -}}

{{- define "switchboard.coreEnvironment" -}}
- name: GRPC_HOST
  value: 0.0.0.0
- name: GRPC_PORT
  value: "50051"
{{- if .Values.tls.secretName }}
- name: GRPC_TLS_CERT_FILE
  value: /etc/switchboard/tls/tls.crt
- name: GRPC_TLS_KEY_FILE
  value: /etc/switchboard/tls/tls.key
{{- if .Values.tls.mutual }}
- name: GRPC_TLS_CLIENT_CA_FILE
  value: /etc/switchboard/tls/ca.crt
{{- end }}
{{- end }}
{{- end -}}

{{/* Of core and worker. */}}
{{- define "switchboard.sharedEnvironment" -}}
{{ include "switchboard.secrets" . }}
- name: DATA_DIR
  value: /data
- name: METRICS_HOST
  value: 0.0.0.0
- name: METRICS_PORT
  value: "9464"
{{- if or .Values.resourceRules.toml .Values.resourceRules.existingConfigMap }}
- name: RESOURCES_FILE
  value: /etc/switchboard/rules/resources.toml
{{- end }}
{{- end -}}

{{- define "switchboard.environment" -}}
{{- $root := index . 0 -}}
{{- $kind := index . 1 -}}
env:
{{- if ne $kind "gateway" }}
  {{- include "switchboard.sharedEnvironment" $root | nindent 2 }}
{{- end }}
{{- if ne $kind "worker" }}
  {{- include (printf "switchboard.%sEnvironment" $kind) $root | nindent 2 }}
{{- end }}
  # What the images may write besides, as the root file system is read-only.
  - name: HOME
    value: /tmp
{{- with (index $root.Values $kind).extraEnv }}
  {{- toYaml . | nindent 2 }}
{{- end }}
envFrom:
  - configMapRef:
      name: {{ include "switchboard.name" $root }}-settings
{{- if ne $kind "gateway" }}
  - secretRef:
      name: {{ $root.Values.existingSecret }}
{{- end }}
{{- end -}}
