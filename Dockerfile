# mcp-litmus in a container, for servers at a URL:
#   docker build -t mcp-litmus .
#   docker run --rm --network host mcp-litmus run --url http://127.0.0.1:3000/mcp
# A server's own command cannot be started in here, since its runtime is missing: copy /mcp-litmus into the server's image for that.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=0.1.0-dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/mcp-litmus/mcp-litmus/suite.Version=$VERSION" -o /mcp-litmus ./cmd/mcp-litmus

FROM gcr.io/distroless/static:nonroot
COPY --from=build /mcp-litmus /mcp-litmus
# The home of the user that the image runs as, who may write reports there; of a folder mounted elsewhere: --user "$(id -u)" -w /that/folder.
WORKDIR /home/nonroot
ENTRYPOINT ["/mcp-litmus"]
