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
{{- with (index $root.Values $kind).extraEnvFrom }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Settings that are not secret, by name. */}}
{{- define "switchboard.settings" -}}
AGENT_URL: {{ .Values.publicUrl | quote }}
{{- range $part, $value := .Values.storage.s3 }}
{{- with $value }}
BLOB_S3_{{ upper $part }}: {{ . | quote }}
{{- end }}
{{- end }}
{{- range $name, $value := merge (dict) .Values.settings (dict "PLATFORM_URL" .Values.publicUrl "LOG_FORMAT" "json") }}
{{ $name }}: {{ ternary (int64 $value | toString) $value (kindIs "float64" $value) | quote }}
{{- end }}
{{- end -}}

{{/* A line for each of the settings that the service does not know, with the one that is most like it: by how many pairs of
neighbouring letters both have. */}}
{{- define "switchboard.unknownSettings" -}}
{{- $known := .Files.Lines "files/settings.txt" -}}
{{- range $name, $value := .Values.settings -}}
{{- if not (or (has $name $known) (has (trimSuffix "_FILE" $name) $known)) -}}
{{- $alike := "" -}}
{{- $most := 50 -}}
{{- range $setting := $known -}}
{{- $shared := 0 -}}
{{- range $at := untilStep 0 (int (sub (len $setting) 1)) 1 -}}
{{- if contains (substr $at (int (add $at 2)) $setting) $name -}}
{{- $shared = add $shared 1 -}}
{{- end -}}
{{- end -}}
{{- $percent := div (mul 200 $shared) (add (len $setting) (len $name)) -}}
{{- if gt (int $percent) (int $most) -}}
{{- $alike = $setting -}}
{{- $most = $percent -}}
{{- end -}}
{{- end }}
settings.{{ $name }} is no setting of Switchboard{{ with $alike }}; did you mean {{ . }}?{{ end }}
{{- end -}}
{{- end -}}
{{- end -}}
