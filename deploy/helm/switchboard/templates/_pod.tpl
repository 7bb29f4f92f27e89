{{/* Parts of a pod: (list $ "core"). */}}

{{- define "switchboard.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
{{- with .Values.podSecurityContext }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}
{{- end -}}

{{- define "switchboard.containerSecurity" -}}
securityContext:
{{- with .Values.containerSecurityContext }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}
{{- end -}}

{{/* Containers that run before the others: (list $ "core"). */}}
{{- define "switchboard.initContainers" -}}
{{- with (index (index . 0).Values (index . 1)).initContainers -}}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "switchboard.ports" -}}
{{- $kind := index . 1 -}}
ports:
{{- if eq $kind "gateway" }}
  - name: http
    containerPort: 3011
{{- else }}
  - name: metrics
    containerPort: 9464
{{- end }}
{{- if eq $kind "core" }}
  - name: grpc
    containerPort: 50051
{{- end }}
{{- end -}}

{{/* Over HTTP for the cores too: the kubelet's own gRPC probe knows no TLS. */}}
{{- define "switchboard.probes" -}}
{{- $port := ternary "http" "metrics" (eq (index . 1) "gateway") -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ $port }}}
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 90
livenessProbe:
  httpGet: {path: /healthz, port: {{ $port }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: {{ $port }}}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 3
{{- end -}}

{{- define "switchboard.mounts" -}}
{{- $root := index . 0 -}}
{{- $kind := index . 1 -}}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
{{- if ne $kind "gateway" }}
  - {name: data, mountPath: /data}
{{- if or $root.Values.resourceRules.toml $root.Values.resourceRules.existingConfigMap }}
  - {name: rules, mountPath: /etc/switchboard/rules, readOnly: true}
{{- end }}
{{- end }}
{{- if and $root.Values.tls.secretName (eq $kind "gateway") }}
  - {name: core-ca, mountPath: /etc/switchboard/core-ca, readOnly: true}
{{- end }}
{{- if include "switchboard.certificate" . }}
  - {name: tls, mountPath: /etc/switchboard/tls, readOnly: true}
{{- end }}
{{- with (index $root.Values $kind).extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The Secret with the certificate of a kind of process, or nothing. */}}
{{- define "switchboard.certificate" -}}
{{- $tls := (index . 0).Values.tls -}}
{{- if not $tls.secretName -}}
{{- else if eq (index . 1) "core" -}}{{ $tls.secretName }}
{{- else if eq (index . 1) "gateway" -}}{{ $tls.gatewaySecretName }}
{{- end -}}
{{- end -}}

{{- define "switchboard.volumes" -}}
{{- $root := index . 0 -}}
{{- $kind := index . 1 -}}
volumes:
  - name: tmp
    emptyDir: {}
{{- if ne $kind "gateway" }}
  - name: data
{{- with include "switchboard.claim" $root }}
    persistentVolumeClaim:
      claimName: {{ . }}
{{- else }}
    emptyDir: {}
{{- end }}
{{- if or $root.Values.resourceRules.toml $root.Values.resourceRules.existingConfigMap }}
  - name: rules
    configMap:
      name: {{ default (printf "%s-rules" (include "switchboard.name" $root)) $root.Values.resourceRules.existingConfigMap }}
{{- end }}
{{- end }}
{{- if and $root.Values.tls.secretName (eq $kind "gateway") }}
  - name: core-ca
    secret:
      secretName: {{ $root.Values.tls.secretName }}
      items:
        - {key: ca.crt, path: ca.crt}
{{- end }}
{{- with include "switchboard.certificate" . }}
  - name: tls
    secret:
      secretName: {{ . }}
      defaultMode: 0440
{{- end }}
{{- with (index $root.Values $kind).extraVolumes }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where a pod may run. */}}
{{- define "switchboard.nodes" -}}
{{- $root := index . 0 -}}
{{- with index $root.Values (index . 1) -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $root.Values (index $ 1) $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "switchboard.placement" -}}
{{- include "switchboard.nodes" . }}
topologySpreadConstraints:
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "switchboard.selector" $ | nindent 8 }}
{{- end }}
{{- end -}}
