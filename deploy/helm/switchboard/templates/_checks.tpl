{{/* What the schema of the values cannot tell: faults that would show only when the pods run. */}}

{{- define "switchboard.check" -}}
{{- $storage := .Values.storage -}}
{{- if not (or $storage.claim $storage.create $storage.s3.bucket) -}}
{{- fail "cores and workers share uploaded files: set storage.s3.bucket, storage.claim (a ReadWriteMany claim) or storage.create" -}}
{{- end -}}
{{- if and $storage.claim $storage.create -}}
{{- fail "set storage.claim or storage.create, not both" -}}
{{- end -}}
{{- if and .Values.resourceRules.toml .Values.resourceRules.existingConfigMap -}}
{{- fail "set resourceRules.toml or resourceRules.existingConfigMap, not both" -}}
{{- end -}}
{{- if and .Values.tls.mutual (not .Values.tls.gatewaySecretName) -}}
{{- fail "tls.mutual needs tls.gatewaySecretName: without a certificate the gateways could not call the cores" -}}
{{- end -}}
{{- if and .Values.tls.mutual (not .Values.tls.secretName) -}}
{{- fail "tls.mutual needs tls.secretName, the certificate of the cores" -}}
{{- end -}}
{{- with .Values.worker.autoscaling -}}
{{- if and .enabled (eq .kind "keda") (not .prometheusUrl) -}}
{{- fail "worker.autoscaling.kind keda needs worker.autoscaling.prometheusUrl" -}}
{{- end -}}
{{- end -}}
{{- range $kind := list "gateway" "core" "worker" -}}
{{- with (index $.Values $kind).autoscaling -}}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) -}}
{{- fail (printf "%s.autoscaling.minReplicas is greater than its maxReplicas" $kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
