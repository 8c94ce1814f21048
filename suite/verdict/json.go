package verdict

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
)

// Durations are seconds in JSON, so that a report reads well and `select(.duration > 5)` needs no arithmetic.
type seconds float64

func toSeconds(d time.Duration) seconds { return seconds(d.Seconds()) }

func (s seconds) duration() time.Duration {
	return time.Duration(math.Round(float64(s) * float64(time.Second)))
}

// The plain types have the fields and no methods, so that the shadowing below does not recurse.
type (
	plainVerdict Verdict
	plainLine    Line
	plainReport  Report
)

type jsonVerdict struct {
	*plainVerdict
	Duration seconds `json:"duration"`
}

type jsonLine struct {
	*plainLine
	At seconds `json:"at"`
}

type jsonReport struct {
	*plainReport
	Duration seconds `json:"duration"`
}

// encode leaves the escaping of <, > and & to the encoder that called: json.Marshal would settle it here.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// MarshalJSON writes the verdict with its duration in seconds.
func (v Verdict) MarshalJSON() ([]byte, error) {
	return encode(jsonVerdict{(*plainVerdict)(&v), toSeconds(v.Duration)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	in := jsonVerdict{plainVerdict: (*plainVerdict)(v)}
	err := json.Unmarshal(data, &in)
	v.Duration = in.Duration.duration()
	return err
}

// MarshalJSON writes the line with its time in seconds.
func (l Line) MarshalJSON() ([]byte, error) {
	return encode(jsonLine{(*plainLine)(&l), toSeconds(l.At)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Line) UnmarshalJSON(data []byte) error {
	in := jsonLine{plainLine: (*plainLine)(l)}
	err := json.Unmarshal(data, &in)
	l.At = in.At.duration()
	return err
}

// MarshalJSON writes the report with its duration in seconds; its lists are never null.
func (r Report) MarshalJSON() ([]byte, error) {
	if r.Runs == nil {
		r.Runs = []Run{}
	}
	if r.Verdicts == nil {
		r.Verdicts = []Verdict{}
	}
	return encode(jsonReport{(*plainReport)(&r), toSeconds(r.Duration)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Report) UnmarshalJSON(data []byte) error {
	in := jsonReport{plainReport: (*plainReport)(r)}
	err := json.Unmarshal(data, &in)
	r.Duration = in.Duration.duration()
	return err
}
