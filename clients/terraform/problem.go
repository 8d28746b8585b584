package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	peal "peal/clients/go"
)

// place is the attribute that a JSON pointer into a definition means; of what the fields do not have, the nearest one
// above. False: the definition as a whole.
func place(fields []field, pointer string) (path.Path, bool) {
	words := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range words {
		words[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(words[i])
	}
	f := findField(fields, words[0])
	if f == nil {
		return path.Empty(), false
	}
	return within(f, path.Root(f.name), words[1:]), true
}

// within goes on from the attribute of the field.
func within(f *field, at path.Path, words []string) path.Path {
	if len(words) == 0 {
		return at
	}
	index, err := strconv.Atoi(words[0])
	switch {
	case f.shape == object:
		return member(f.fields, at, words)
	case f.shape == texts && err == nil:
		return at.AtListIndex(index)
	case f.shape == objects && err == nil:
		return member(f.fields, at.AtListIndex(index), words[1:])
	case f.shape == pairs || f.shape == counts:
		return at.AtMapKey(words[0])
	case f.shape == objectMap:
		return member(f.fields, at.AtMapKey(words[0]), words[1:])
	}
	return at
}

func member(fields []field, at path.Path, words []string) path.Path {
	if len(words) == 0 {
		return at
	}
	f := findField(fields, words[0])
	if f == nil {
		return at
	}
	return within(f, at.AtName(f.name), words[1:])
}

// tell makes diagnostics of an error: of a mistake in a definition, at its attribute.
func tell(diags *diag.Diagnostics, fields []field, summary string, err error) {
	var refused *peal.Error
	if !errors.As(err, &refused) {
		diags.AddError(summary, "The agent does not answer: "+err.Error()+"\n\n"+
			"Is it running there (peal start, peal state), and is the provider's address right?")
		return
	}
	if len(refused.Errors) == 0 {
		diags.AddError(summary, refused.Detail+advice(refused.Status))
		return
	}
	for _, mistake := range refused.Errors {
		tellMistake(diags, fields, summary, mistake)
	}
}

func tellMistake(diags *diag.Diagnostics, fields []field, summary string, mistake peal.Mistake) {
	message := mistake.Message
	if at, found := place(fields, mistake.Pointer); found {
		diags.AddAttributeError(at, summary, message)
	} else {
		diags.AddError(summary, message)
	}
}

func advice(status int64) string {
	switch status {
	case http.StatusUnauthorized:
		return "\n\nThe provider takes its token from `token`, `token_file`, $PEAL_TOKEN_FILE or $PEAL_TOKEN."
	case http.StatusPreconditionFailed:
		return "\n\nSomebody has changed it since this was planned, and nothing was written. Plan again to see what " +
			"has changed."
	}
	return ""
}

func quoted(kind, name string) string { return fmt.Sprintf("%s %q", kind, name) }
