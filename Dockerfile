# The studio in a container: Debian slim, not root, its own files read-only, state and anchors in volumes.
#
#   docker build -t dpselect-studio .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges -p 127.0.0.1:8350:8350 \
#     -v studio:/state -v anchors:/anchors -v /srv/tables:/tables:ro dpselect-studio
#
# Tables must be readable for user 10001. Only the proxy may reach the port: it has the TLS.

FROM python:3.12-slim-bookworm AS built
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src ./src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir '.[studio,postgres]'

FROM python:3.12-slim-bookworm
RUN useradd --no-create-home --shell /usr/sbin/nologin --uid 10001 studio \
    && install --directory --owner studio --mode 0700 /state /anchors && install --directory /tables
COPY --from=built /venv /venv
# Anchors of ledgers on a server (--ledgers) are kept with the others.
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp XDG_STATE_HOME=/anchors
USER studio
WORKDIR /state
VOLUME ["/state", "/anchors"]
EXPOSE 8350
HEALTHCHECK --interval=30s --timeout=5s CMD ["/venv/bin/python", "-c", \
    "from urllib.request import urlopen; urlopen('http://127.0.0.1:8350/health', timeout=4)"]
ENTRYPOINT ["/venv/bin/dpselect", "studio", "--folder", "/state", "--host", "0.0.0.0", \
            "--allowed-root", "/tables", "--allowed-root", "/anchors"]
# A proxy with TLS stands before it: better, name its address after --behind-proxy.
CMD ["--behind-proxy"]
