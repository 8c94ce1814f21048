package plan

import (
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Shard reads which part of a run is wanted, such as "1/3", and gives a function that says whether an exchange belongs to it: every
// third one of the catalogue, so that each part has some of the slow ones. The survey and what watches all that crosses the wire belong to
// every part. "" wants all. The error says how to write a shard.
func Shard(lib *script.Library, shard string) (func(*script.Exchange) bool, error) {
	if shard == "" {
		return func(*script.Exchange) bool { return true }, nil
	}
	part, of, err := verdict.ParseShard(shard)
	if err != nil {
		return nil, err
	}
	left := map[*script.Exchange]bool{}
	n := 0
	for _, ex := range lib.Exchanges {
		if ex.Watch || ex.Survey != "" {
			continue
		}
		if n%of != part-1 {
			left[ex] = true
		}
		n++
	}
	return func(ex *script.Exchange) bool { return !left[ex] }, nil
}
