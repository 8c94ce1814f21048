package reference

import (
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// checkOrigin keeps web pages from reaching a local server by DNS rebinding: the Host header, and Origin if there is
// one, must name an allowed host.
func (s *Server) checkOrigin(r *http.Request) (status int, err *rpcError) {
	if !s.flags[FlagNoHostCheck] && !s.hostAllowed(withoutPort(r.Host)) {
		return http.StatusForbidden, errorf(codeInvalidRequest, "Forbidden: Host %q is not allowed", r.Host)
	}
	if s.flags[FlagNoOriginCheck] {
		return 0, nil
	}
	for _, origin := range r.Header.Values("Origin") {
		u, parseErr := url.Parse(origin)
		if parseErr != nil || (u.Scheme != "http" && u.Scheme != "https") || !s.hostAllowed(u.Hostname()) {
			return http.StatusForbidden, errorf(codeInvalidRequest, "Forbidden: Origin %q is not allowed", origin)
		}
	}
	return 0, nil
}

func withoutPort(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

// accepts tells whether the Accept headers list the media type, by name or by a wildcard, and not with q=0. The most
// specific range decides.
func accepts(r *http.Request, mediaType string) bool {
	family, _, _ := strings.Cut(mediaType, "/")
	best, accepted := 0, false
	for _, header := range r.Header.Values("Accept") {
		for entry := range strings.SplitSeq(header, ",") {
			listed, params, err := mime.ParseMediaType(entry)
			if err != nil {
				continue
			}
			rank := map[string]int{mediaType: 3, family + "/*": 2, "*/*": 1}[listed]
			if rank < best || rank == 0 {
				continue
			}
			quality := 1.0
			if q, given := params["q"]; given {
				quality, err = strconv.ParseFloat(q, 64)
			}
			best, accepted = rank, err == nil && quality > 0
		}
	}
	return accepted
}

func isJSON(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}
