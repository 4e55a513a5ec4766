# A scoring server: `piforest serve` with a model that is mounted at /model.pif.
#
#     python -m build --wheel
#     docker build -t piforest .
#     docker run -p 8000:8000 -e PIFOREST_TOKEN=... -v "$PWD/model.pif:/model.pif:ro" piforest
FROM python:3.12-slim
COPY dist/*.whl /tmp/
# Compiled code is cached in the image's layer of the user, who owns nothing else.
RUN wheel="$(ls /tmp/*.whl)" \
 && pip install --no-cache-dir "${wheel}[serve,cli]" \
 && rm /tmp/*.whl \
 && useradd --create-home piforest
USER piforest
ENV NUMBA_CACHE_DIR=/home/piforest/.cache/numba
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health', timeout=3)"]
ENTRYPOINT ["piforest", "serve", "/model.pif", "--host", "0.0.0.0"]
