# Debian, not Alpine: the database's native addon is built against glibc.
FROM docker.io/oven/bun:1.4.4-slim AS build
WORKDIR /build
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --production
COPY tsconfig.json ./
COPY scripts ./scripts
COPY drizzle ./drizzle
COPY src ./src
# Builds for the platform that it runs on. For another one, use --platform.
# docker build --build-arg COMMIT=$(git rev-parse HEAD) sets the commit that the label and, between releases, sgw --version name.
ARG COMMIT=
RUN bun scripts/build.ts --commit "$COMMIT" --target "linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')" --bundle-only \
    && bun scripts/licences.ts dist/bundle/THIRD-PARTY-LICENSES.txt

FROM docker.io/litestream/litestream:0.5.18 AS litestream

FROM docker.io/oven/bun:1.4.4-slim
ARG COMMIT=
ARG VERSION=
LABEL org.opencontainers.image.title=sgw \
      org.opencontainers.image.description="A self-hosted SMS gateway in front of a RingCentral account" \
      org.opencontainers.image.licenses=MIT \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
ENV NODE_ENV=production \
    DATABASE_URL=file:/data/sgw.db
# A volume takes its owner from the folder that it covers. /backups is for a backup on another disk instead of object storage.
RUN mkdir /data /backups && chown bun:bun /data /backups && chmod 700 /data /backups \
    && printf '#!/bin/sh\nexec bun /app/cli.js "$@"\n' > /usr/local/bin/sgw && chmod 755 /usr/local/bin/sgw
COPY --from=litestream /usr/local/bin/litestream /usr/local/bin/litestream
COPY litestream.yml /etc/litestream.yml
COPY deploy/entrypoint.sh /usr/local/bin/sgw-entrypoint
COPY LICENSE /app/LICENSE
COPY --from=build /build/dist/bundle /app
USER bun
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["sgw", "health"]
# The gateway stops within 10 s, including the last copy of the backup.
STOPSIGNAL SIGTERM
CMD ["sgw-entrypoint"]
