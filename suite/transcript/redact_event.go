package transcript

// Event returns a redacted copy of one event, for those who show events as they come. What Run learns of other events of the
// run, such as a credential in an earlier header, is not known here: give the values to NewRedactor. A nil r replaces nothing.
func (r *Redactor) Event(e Event) Event {
	out := r.Run(&Run{Plays: []*Play{{Events: []Event{e}}}})
	return out.Plays[0].Events[0]
}

// Text returns the text without the secrets.
func (r *Redactor) Text(s string) string { return newPass(r, &Run{}).text(s) }
