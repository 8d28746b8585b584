package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	peal "peal/clients/go"
)

// ModifyPlan has the agent check a new or changed definition, so that a mistake is one of the plan; and takes out of the
// plan what is only written in another way than before.
func (d *document) ModifyPlan(ctx context.Context, ask resource.ModifyPlanRequest, answer *resource.ModifyPlanResponse) {
	if d.session == nil || ask.Plan.Raw.IsNull() {
		return
	}
	config, state := members(ask.Config.Raw), members(ask.State.Raw)
	name := textOf(config["name"])
	if state == nil {
		d.session.willMake(d.kind.name, name)
	}
	isRename := state != nil && textOf(state["name"]) != name // it is planned once more, without a state
	if isRename || ask.Plan.Raw.Equal(ask.State.Raw) {
		return
	}
	seen := map[string]any{}
	if state != nil {
		seen = seenOf(ctx, ask.Private)
	}
	draft := newDraft(d.kind.fields, ask.Config.Raw, seen)
	want := d.check(ctx, name, draft, &answer.Diagnostics)
	if want == nil {
		return
	}
	planned := copied(members(ask.Plan.Raw))
	isSame := state != nil
	for i := range d.kind.fields {
		f := &d.kind.fields[i]
		if state != nil {
			planned[f.name] = f.settled(config[f.name], state[f.name], want[f.name], seen[f.name])
		}
		if d.kind.isJob && f.name == "timezone" && config[f.name].IsNull() {
			planned[f.name] = draft.zone(want)
		}
		isSame = isSame && planned[f.name].Equal(state[f.name])
	}
	answer.Plan.Raw = tftypes.NewValue(ask.Plan.Raw.Type(), planned)
	if isSame {
		answer.Plan.Raw = ask.State.Raw
	}
}

// draft is a definition of which a part may be missing: what is not known yet, and what refers to things that are not
// there yet. Instead of that it has what the job had, or something harmless.
type draft struct {
	content map[string]any
	open    map[string]bool // the fields that are missing, or are not the configuration's
}

func newDraft(fields []field, config tftypes.Value, seen map[string]any) *draft {
	d := &draft{content: body(fields, config, false), open: map[string]bool{}}
	for name, value := range members(config) {
		f := findField(fields, name)
		switch {
		case f == nil || value.IsFullyKnown():
		case f.shape == pairs && value.IsKnown(): // its names are known, and others may refer to them
			names := map[string]any{}
			for key, text := range members(value) {
				if names[key] = "unknown"; text.IsFullyKnown() {
					names[key] = scalar(text)
				}
			}
			d.content[name] = names
		default:
			d.leaveOut(name, seen[name])
		}
	}
	return d
}

func (d *draft) leaveOut(name string, instead any) {
	d.open[name] = true
	delete(d.content, name)
	switch {
	case instead != nil:
		d.content[name] = instead
	case name == "schedule" || name == "schedules" || name == "after":
		d.content["schedule"] = "@manual"
	case name == "steps":
		d.leaveOut("finally", nil)
		d.content["command"] = []string{"true"}
	case name == "command" || name == "shell" || name == "http" || name == "function":
		d.content["command"] = []string{"true"}
	}
}

// isUnsure tells whether a mistake may be one only because of what is missing: ${NAME} in what runs can be a variable, a
// secret or a parameter.
func (d *draft) isUnsure(mistakes []peal.Mistake) bool {
	if len(d.open) == 0 || len(mistakes) == 0 {
		return false
	}
	field := fieldOf(mistakes[0].Pointer)
	switch field {
	case "http", "command", "shell", "steps", "finally":
		return d.open[field] || d.open["env"] || d.open["secrets"] || d.open["params"]
	}
	return field == "" || d.open[field]
}

// fieldOf is the field that a JSON pointer goes into.
func fieldOf(pointer string) string {
	return strings.Split(strings.TrimPrefix(pointer, "/"), "/")[0]
}

// zone is the time zone that the agent gives a job without one; a job without schedules has none.
func (d *draft) zone(want map[string]any) tftypes.Value {
	if d.open["schedule"] || d.open["schedules"] || d.open["after"] {
		return tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	}
	return tftypes.NewValue(tftypes.String, want["timezone"])
}

// check has the agent check a definition, and answers its normal form, as far as that is known; nil if there are
// mistakes, or nobody can say.
func (d *document) check(ctx context.Context, name string, draft *draft, diags *diag.Diagnostics) map[string]any {
	summary := d.summary("plan", name)
	if name == "" {
		name = "terraform-plan" // not known yet
	}
	for {
		checked, err := d.call(ctx, http.MethodPut, name, url.Values{"dry_run": {"true"}}, draft.content)
		var refused *peal.Error
		switch {
		case err == nil:
			want := normalObject(d.kind.fields, checked)
			for field := range draft.open {
				delete(want, field)
			}
			return want
		case !errors.As(err, &refused) || (refused.Status != http.StatusUnprocessableEntity && refused.Status != http.StatusForbidden):
			tell(diags, d.kind.fields, summary, err)
			return nil
		case !d.kind.isJob:
			d.tellOf(draft, summary, refused, diags)
			return nil
		}
		decoded, err := d.decode(ctx, name, draft)
		if err != nil {
			tell(diags, d.kind.fields, summary, err)
			return nil
		}
		isRight := len(decoded.Errors) == 0
		if isRight && refused.Status == http.StatusForbidden {
			diags.AddWarning(summary, refused.Detail+"\n\nThe definition is right by itself. Whether what it refers to is "+
				"there was not checked, and to apply it takes more rights.")
			return nil
		}
		if !isRight && refused.Status == http.StatusForbidden {
			refused.Errors = decoded.Errors
		}
		if draft.isUnsure(refused.Errors) {
			return nil
		}
		if !isRight || !d.leaveOutMissing(summary, draft, refused, diags) {
			tell(diags, d.kind.fields, summary, refused)
			return nil
		}
	}
}

// tellOf tells what is wrong with a group, a calendar or a channel, which refer to nothing.
func (d *document) tellOf(draft *draft, summary string, refused *peal.Error, diags *diag.Diagnostics) {
	switch {
	case refused.Status == http.StatusForbidden:
		diags.AddWarning(summary, refused.Detail+"\n\nIt was not checked, and to apply it takes more rights.")
	case len(draft.open) == 0:
		tell(diags, d.kind.fields, summary, refused)
	} // else a part is not known yet, and perhaps it is that which is missing
}

// decode reads the definition by itself, whatever it refers to, and whoever asks.
func (d *document) decode(ctx context.Context, name string, draft *draft) (*peal.Decoded, error) {
	named := map[string]any{"name": name}
	for field, value := range draft.content {
		named[field] = value
	}
	definition, err := json.Marshal(named)
	if err != nil {
		return nil, err
	}
	return d.session.DecodeJob(ctx, &peal.DecodeJobOptions{Text: string(definition)})
}

// leaveOutMissing leaves a field out of the draft that refers to what is not there, and tells of it, unless this plan
// makes it. False: it is not known which field that is.
func (d *document) leaveOutMissing(summary string, draft *draft, refused *peal.Error, diags *diag.Diagnostics) bool {
	if len(refused.Errors) == 0 {
		return false
	}
	mistake := refused.Errors[0]
	at, isPlaced := place(d.kind.fields, mistake.Pointer)
	field := fieldOf(mistake.Pointer)
	if !isPlaced || draft.open[field] {
		return false
	}
	if !d.isGoingToMake(wordsAt(draft.content, mistake.Pointer)) {
		diags.AddAttributeWarning(at, summary, mistake.Message+"\n\nIf this configuration makes it, refer to it by its "+
			"resource, as in peal_calendar.holidays.name, so that it is made first. Else this can't be applied.")
	}
	draft.leaveOut(field, nil)
	return true
}

func (d *document) isGoingToMake(words []string) bool {
	for _, word := range words {
		for i := range kinds {
			if d.session.isGoingToMake(kinds[i].name, word) {
				return true
			}
		}
	}
	return false
}

// wordsAt are all texts of the value to which the pointer goes.
func wordsAt(v any, pointer string) []string {
	for _, word := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		index, err := strconv.Atoi(word)
		if list, isList := v.([]any); isList && err == nil && index < len(list) {
			v = list[index]
		} else if all, isMap := v.(map[string]any); isMap && all[word] != nil {
			v = all[word]
		}
	}
	return wordsIn(v)
}

func wordsIn(v any) []string {
	all := []string{}
	switch value := v.(type) {
	case string:
		all = append(all, value)
	case []any:
		for _, item := range value {
			all = append(all, wordsIn(item)...)
		}
	case map[string]any:
		for _, item := range value {
			all = append(all, wordsIn(item)...)
		}
	}
	return all
}
