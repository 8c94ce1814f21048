package reference

import (
	"encoding/base64"
	"slices"
	"strings"
)

// Page sizes: small, so that every list has at least three pages.
const (
	toolsPerPage     = 7
	resourcesPerPage = 3
	templatesPerPage = 1
	promptsPerPage   = 2
)

// item is something that is listed.
type item interface {
	key() string             // unique in its list
	listed(rev revision) any // how the list shows it at a revision
}

// page answers a list request: items after the cursor, at most size of them. A cursor names the last item that was
// seen, so it stays good when the list changes; all holds every item that the list may ever have, in order, and
// shown tells which are there now.
func page[T item](c *call, list string, size int, all []T, shown func(T) bool) (any, error) {
	start := 0
	if raw, given := c.params["cursor"]; given {
		cursor, _ := raw.(string)
		last, ok := readCursor(list, cursor)
		at := slices.IndexFunc(all, func(i T) bool { return i.key() == last })
		if !ok || at < 0 {
			return nil, invalidParams("Invalid params: cursor is not one that this list gave out")
		}
		start = at + 1
	}
	items := []any{}
	result := object{}
	last := ""
	for _, i := range all[start:] {
		if !shown(i) {
			continue
		}
		if len(items) == size {
			result["nextCursor"] = makeCursor(list, last)
			break
		}
		items = append(items, i.listed(c.rev))
		last = i.key()
	}
	result[list] = items
	return result, nil
}

func makeCursor(list, last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + "\n" + last))
}

func readCursor(list, cursor string) (last string, ok bool) {
	plain, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(string(plain), list+"\n")
}
