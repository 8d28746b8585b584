package main

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	peal "peal/clients/go"
)

// place is the attribute that a JSON pointer into a definition goes into; false: none, the definition as a whole. Where
// in that the mistake is, the message says: of a place within an attribute Terraform would show the resource's first line.
func place(fields []field, pointer string) (path.Path, bool) {
	name := fieldOf(pointer)
	if findField(fields, name) == nil {
		return path.Empty(), false
	}
	return path.Root(name), true
}

// tell makes diagnostics of an error: of a mistake in a definition, at its attribute.
func tell(diags *diag.Diagnostics, fields []field, summary string, err error) {
	var refused *peal.Error
	var unsent *url.Error
	if !errors.As(err, &refused) && !errors.As(err, &unsent) {
		diags.AddError(summary, err.Error())
		return
	}
	if refused == nil {
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
