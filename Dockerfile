# The studio in a container: not root, its own files read-only, state and anchors in volumes.
#
#   docker build -t dpselect-studio .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges -p 127.0.0.1:8350:8350 \
#     -v studio:/state -v anchors:/anchors -v /srv/tables:/tables:ro dpselect-studio

FROM python:3.12-slim AS built
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src ./src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir '.[studio]'

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 studio && install --directory --owner studio --mode 0700 /state /anchors
COPY --from=built /venv /venv
USER studio
WORKDIR /state
VOLUME ["/state", "/anchors"]
EXPOSE 8350
ENV PYTHONUNBUFFERED=1 HOME=/tmp
# A proxy with TLS stands before it: name its address after --behind-proxy.
ENTRYPOINT ["/venv/bin/dpselect", "studio", "--folder", "/state", "--host", "0.0.0.0", \
            "--allowed-root", "/tables", "--allowed-root", "/anchors"]
CMD ["--behind-proxy"]
