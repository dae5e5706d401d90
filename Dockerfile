# Debian, not Alpine: Temporal's native worker library is built for glibc.
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY domain domain
COPY workflows workflows
COPY activities activities
COPY src src
COPY tools tools
COPY examples examples
COPY bench bench
RUN npm run build

# To try Parley with: the example server, the development keys and tokens.
FROM build AS tryout
RUN mkdir /state && chown node:node /state
ENV PARLEY_STATE=/state
USER node
CMD ["node", "--enable-source-maps", "dist/examples/server/main.js", "--port", "7400"]

FROM build AS production-packages
RUN npm prune --omit=dev

FROM node:20.20.2-bookworm-slim AS parley
# Temporal's client verifies TLS against the system's certificates.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=production-packages /app/node_modules node_modules
COPY --from=build /app/dist/domain dist/domain
COPY --from=build /app/dist/workflows dist/workflows
COPY --from=build /app/dist/activities dist/activities
COPY --from=build /app/dist/src dist/src
COPY --from=build /app/dist/workflow-bundle.js dist/workflow-bundle.js
COPY package.json parley.servers.yaml ./
USER node
EXPOSE 8080 8081
# The worker: node --enable-source-maps dist/src/main.worker.js
CMD ["node", "--enable-source-maps", "dist/src/main.api.js"]
