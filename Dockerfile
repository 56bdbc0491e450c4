# identity-agent as a container: docs/operate/docker.md
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
# secp256k1 is compiled where there is no compiled one for the platform.
RUN apt-get update && apt-get install -y --no-install-recommends python3 make g++ && rm -rf /var/lib/apt/lists/*
RUN npm ci && npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOME=/data \
    AGENT_DATA_DIR=/data/agent \
    AGENT_CONFIG_DIR=/data/config \
    AGENT_HOST=0.0.0.0 \
    MALLOC_ARENA_MAX=1 \
    MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
COPY --from=build /build/package.json /build/oclif.manifest.json /build/LICENSE ./
COPY --from=build /build/bin ./bin
COPY --from=build /build/dist ./dist
COPY --from=build /build/cli/completion/scripts ./cli/completion/scripts
COPY --from=build /build/node_modules ./node_modules
# Any user id may use the folder: docker run --user 12345 --volume a-folder-of-that-user:/data
RUN mkdir -m 1777 /data && ln -s /app/bin/agent.cjs /usr/local/bin/agent
USER node
VOLUME /data
EXPOSE 8085 8090
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["agent", "daemon", "status"]
# The daemon is process 1, ends on SIGTERM, and logs to standard error.
CMD ["node", "/app/bin/daemon.cjs"]
