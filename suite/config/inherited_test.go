package config

import (
	"slices"
	"testing"
)

func TestInheritedCredentials(t *testing.T) {
	got := Inherited([]string{
		"GITHUB_TOKEN=ghp_0123456789", "DB_PASSWORD=correct horse", "HOME=/home/somebody", "API_KEY=short",
		"SSH_AUTH_SOCK=/run/agent.sock", "LANG=en_US.UTF-8",
	})
	if want := []string{"ghp_0123456789", "correct horse"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
