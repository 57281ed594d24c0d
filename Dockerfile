# Debian, not Alpine: the database's native addon is built against glibc.
FROM oven/bun:1.4.4-slim AS dependencies
WORKDIR /app
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --production

FROM oven/bun:1.4.4-slim
WORKDIR /app
ENV NODE_ENV=production \
    DATABASE_URL=file:/data/sgw.db
# A volume takes over the owner of the folder that it covers.
RUN mkdir /data && chown bun:bun /data && chmod 700 /data
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json tsconfig.json LICENSE ./
COPY drizzle ./drizzle
COPY src ./src
USER bun
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=15s --timeout=5s --start-period=40s CMD ["bun", "src/cli.ts", "health"]
# In the exec form, so that the server itself gets the SIGTERM. It stops within 9 s; Docker waits 10.
CMD ["bun", "src/main.ts"]
