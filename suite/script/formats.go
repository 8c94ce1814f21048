package script

import (
	"encoding/base64"
	"net/netip"
	"regexp"
	"strings"
	"time"
)

var (
	uriScheme  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	uriRest    = regexp.MustCompile(`^(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)
	uriHost    = regexp.MustCompile(`^(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)
	uriUser    = regexp.MustCompile(`^(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*$`)
	uriPort    = regexp.MustCompile(`^[0-9]*$`)
	uriFuture  = regexp.MustCompile(`^[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+$`)
	varSpec    = regexp.MustCompile(`^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?:\*|:[1-9][0-9]{0,3})?$`)
	timestamp  = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))$`)
	metaPrefix = regexp.MustCompile(`^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
	metaName   = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`)
)

// isURI: a URI with a scheme, RFC 3986 section 3; a fragment may follow. Relative references are none.
func isURI(s string) bool {
	scheme := uriScheme.FindString(s)
	if scheme == "" {
		return false
	}
	rest, fragment, _ := strings.Cut(s[len(scheme):], "#")
	if !uriRest.MatchString(fragment) {
		return false
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexAny(after, "/?")
		if end < 0 {
			end = len(after)
		}
		if !isAuthority(after[:end]) {
			return false
		}
		rest = after[end:]
	}
	return uriRest.MatchString(rest)
}

func isAuthority(s string) bool {
	if at := strings.LastIndex(s, "@"); at >= 0 {
		if !uriUser.MatchString(s[:at]) {
			return false
		}
		s = s[at+1:]
	}
	if literal, ok := strings.CutPrefix(s, "["); ok {
		inside, port, closed := strings.Cut(literal, "]")
		if port != "" && port[0] != ':' || !closed || !uriPort.MatchString(strings.TrimPrefix(port, ":")) {
			return false
		}
		a, err := netip.ParseAddr(inside)
		return err == nil && a.Is6() && a.Zone() == "" || uriFuture.MatchString(inside)
	}
	host, port, _ := strings.Cut(s, ":")
	return uriHost.MatchString(host) && uriPort.MatchString(port)
}

// isURITemplate: a URI template, RFC 6570 section 2 (with erratum 6937: an apostrophe may stand outside of braces).
func isURITemplate(s string) bool {
	for s != "" {
		open := strings.IndexByte(s, '{')
		literal := s
		if open >= 0 {
			literal = s[:open]
		}
		if !isTemplateLiteral(literal) {
			return false
		}
		if open < 0 {
			return true
		}
		inside, rest, closed := strings.Cut(s[open+1:], "}")
		if !closed || inside == "" {
			return false
		}
		if strings.ContainsRune("+#./;?&=,!@|", rune(inside[0])) {
			inside = inside[1:]
		}
		for spec := range strings.SplitSeq(inside, ",") {
			if !varSpec.MatchString(spec) {
				return false
			}
		}
		s = rest
	}
	return true
}

func isTemplateLiteral(s string) bool {
	for i, r := range s {
		switch {
		case r <= ' ' || r == 0x7f || strings.ContainsRune(`"<>\^`+"`{|}", r) || r >= 0x80 && r < 0xa0 || r == 0xfffd:
			return false
		case r == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isBase64: RFC 4648 section 4, with padding and without line breaks. Leftover bits need not be zero: the RFC lets
// a decoder take them.
func isBase64(s string) bool {
	if strings.ContainsAny(s, "\r\n") {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil
}

// isTimestamp: RFC 3339 section 5.6, with an offset; leap seconds are lawful.
func isTimestamp(s string) bool {
	m := timestamp.FindStringSubmatch(s)
	if m == nil || m[4] > "23" || m[5] > "59" || m[6] > "60" || m[7] > "23" || m[8] > "59" {
		return false
	}
	_, err := time.Parse(time.DateOnly, m[1]+"-"+m[2]+"-"+m[3])
	return err == nil
}

// isVisibleASCII: at least one character, all of them from 0x21 to 0x7E.
func isVisibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return s != ""
}

// isMetaKey: a key of _meta as the page basic/index words it: an optional prefix of labels before a slash, and a name.
func isMetaKey(s string) bool {
	prefix, name, found := strings.Cut(s, "/")
	if !found {
		return metaName.MatchString(s)
	}
	return metaPrefix.MatchString(prefix) && metaName.MatchString(name)
}
