package verdict

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func part(shard string, vs ...Verdict) *Report {
	return &Report{
		Suite: "1", Catalogue: "c", Target: "t", Server: "s", Shard: shard, Complete: true, Verdicts: vs,
		Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Duration: time.Minute, Runs: []Run{{Revision: "2025-11-25", Transport: "stdio"}},
	}
}

func TestParseShard(t *testing.T) {
	g := gomega.NewWithT(t)
	i, n, err := ParseShard("2/3")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect([]int{i, n}).To(gomega.Equal([]int{2, 3}))
	for _, bad := range []string{"", "1", "0/3", "4/3", "-1/2", "a/b", "1/2/3", "1/"} {
		_, _, err := ParseShard(bad)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("write I/N")), bad)
	}
}

func TestMergeOfShards(t *testing.T) {
	g := gomega.NewWithT(t)
	a := part("1/2", at11("a", Fail), at11("watched", Pass), at11("seen", Untested))
	b := part("2/2", at11("b", Pass), at11("watched", Warn), at11("seen", Pass))
	b.Started = a.Started.Add(30 * time.Second)
	b.Problems = []string{"p"}
	for _, parts := range [][]*Report{{a, b}, {b, a}} {
		r, err := Merge(parts...)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		status := map[string]Status{}
		for _, v := range r.Verdicts {
			status[v.Requirement] = v.Status
		}
		g.Expect(status).To(gomega.Equal(map[string]Status{"a": Fail, "b": Pass, "watched": Warn, "seen": Pass}))
		g.Expect(r.Verdicts).To(gomega.HaveLen(4))
		g.Expect(r.Shard).To(gomega.BeEmpty())
		g.Expect(r.Complete).To(gomega.BeTrue())
		g.Expect(r.Runs).To(gomega.HaveLen(1))
		g.Expect(r.Problems).To(gomega.Equal([]string{"p"}))
		g.Expect(r.Started).To(gomega.Equal(a.Started))
		g.Expect(r.Duration).To(gomega.Equal(90 * time.Second))
	}
	r, err := Merge(b)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(r.Complete).To(gomega.BeFalse())
	g.Expect(r.Problems).To(gomega.Equal([]string{"p", "shard 1/2 of the run on t is missing"}))
}

func TestMergeOfTransports(t *testing.T) {
	g := gomega.NewWithT(t)
	web := at11("a", Fail)
	web.Transport = "streamable-http"
	other := part("", web)
	other.Target, other.Runs = "http://127.0.0.1/", []Run{{Revision: "2025-11-25", Transport: "streamable-http"}}
	other.Verdicts[0].Known = "issue 1"
	r, err := Merge(other, part("", at11("a", Pass)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(r.Runs).To(gomega.Equal([]Run{{Revision: "2025-11-25", Transport: "stdio"}, {Revision: "2025-11-25", Transport: "streamable-http"}}))
	g.Expect(r.Verdicts[0].Transport).To(gomega.Equal("stdio"))
	g.Expect(r.Verdicts[1].Known).To(gomega.Equal("issue 1"))
	g.Expect(r.Target).To(gomega.Equal("http://127.0.0.1/ and t"))
}

func TestMergeRefuses(t *testing.T) {
	change := func(f func(*Report)) *Report {
		r := part("2/2", at11("b", Pass))
		f(r)
		return r
	}
	for want, r := range map[string]*Report{
		"another catalogue":                        change(func(r *Report) { r.Catalogue = "d" }),
		"another version of mcp-litmus":            change(func(r *Report) { r.Suite = "2" }),
		"another selection":                        change(func(r *Report) { r.Select = "tools" }),
		"of the server":                            change(func(r *Report) { r.Server = "another" }),
		"not two shards of one run":                change(func(r *Report) { r.Shard, r.Verdicts = "", []Verdict{at11("a", Pass)} }),
		"over stdio is in two of the reports, and": change(func(r *Report) { r.Shard, r.Verdicts = "1/2", []Verdict{at11("a", Pass)} }),
	} {
		_, err := Merge(part("1/2", at11("a", Pass)), r)
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)))
	}
	_, err := Merge()
	gomega.NewWithT(t).Expect(err).To(gomega.HaveOccurred())
}
