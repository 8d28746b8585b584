package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	peal "peal/clients/go"
)

// document is the resource of a kind: peal_job, peal_group, peal_calendar, peal_channel.
type document struct {
	kind    *kind
	session *session
}

func (d *document) Metadata(_ context.Context, ask resource.MetadataRequest, answer *resource.MetadataResponse) {
	answer.TypeName = ask.ProviderTypeName + "_" + d.kind.name
}

func (d *document) Schema(_ context.Context, _ resource.SchemaRequest, answer *resource.SchemaResponse) {
	all := attributes(d.kind.fields)
	all["name"] = schema.StringAttribute{Required: true,
		Description:   "Its name. Another name is another " + d.kind.name + ": the one is destroyed, the other made.",
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}}
	all["revision"] = schema.Int64Attribute{Computed: true,
		Description: "Counts its changes. A change is refused if somebody else has changed it since it was planned."}
	if d.kind.isJob {
		all["uid"] = schema.StringAttribute{Computed: true, Description: "Its identity, which no other job ever has.",
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}}
		all["timezone"] = schema.StringAttribute{Optional: true, Computed: true,
			Description: findField(d.kind.fields, "timezone").about}
	}
	answer.Schema = schema.Schema{Description: d.kind.about, Attributes: all}
}

func (d *document) Configure(_ context.Context, ask resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	d.session, _ = ask.ProviderData.(*session)
}

func (d *document) ImportState(ctx context.Context, ask resource.ImportStateRequest, answer *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("name"), ask, answer)
}

// ---- requests ----

// call asks about the document of that name, and answers its members as they are.
func (d *document) call(ctx context.Context, method, name string, query url.Values, content any, headers ...peal.Header) (map[string]any, error) {
	if d.session == nil {
		return nil, errors.New("the provider has no address yet: it is made by this apply")
	}
	return call(ctx, d.session.Client, method, "/api/v1/"+d.kind.plural+"/"+url.PathEscape(name), query, content, headers...)
}

func call(ctx context.Context, client *peal.Client, method, path string, query url.Values, content any, headers ...peal.Header) (map[string]any, error) {
	var raw json.RawMessage
	if err := client.Call(ctx, method, path, query, content, &raw, headers...); err != nil {
		return nil, err
	}
	return read(raw)
}

// read leaves numbers as they are written.
func read(content []byte) (map[string]any, error) {
	all := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return all, decoder.Decode(&all)
}

func (d *document) summary(doing, name string) string {
	return fmt.Sprintf("Can't %s the %s %q", doing, d.kind.name, name)
}

// ---- the state, and beside it the normal form of what it was made of ----

const seenKey = "seen"

type keeper interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

type kept interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

func keep(ctx context.Context, private keeper, seen map[string]any) diag.Diagnostics {
	content, _ := json.Marshal(seen)
	return private.SetKey(ctx, seenKey, content)
}

func seenOf(ctx context.Context, private kept) map[string]any {
	content, _ := private.GetKey(ctx, seenKey)
	seen, err := read(content)
	if err != nil {
		return map[string]any{} // there is none
	}
	return seen
}

// made sets what only the agent's answer says: identity and revision, and the time zone that it has chosen.
func (d *document) made(values map[string]tftypes.Value, answer, seen map[string]any) {
	values["revision"] = wholeNumber(answer["revision"])
	if !d.kind.isJob {
		return
	}
	values["uid"] = tftypes.NewValue(tftypes.String, answer["uid"])
	if !values["timezone"].IsKnown() {
		values["timezone"] = tftypes.NewValue(tftypes.String, seen["timezone"])
	}
}

func copied(values map[string]tftypes.Value) map[string]tftypes.Value {
	all := map[string]tftypes.Value{}
	for name, value := range values {
		all[name] = value
	}
	return all
}

// warn tells what hinders a job that is written as it should be: that no node has the labels of its where, say.
func (d *document) warn(diags *diag.Diagnostics, name string, answer map[string]any) {
	problem, _ := mapOf(answer["status"])["problem"].(string)
	if problem != "" {
		diags.AddWarning(fmt.Sprintf("The job %q has a problem", name), problem)
	}
}

// ---- create, read, update, delete ----

func (d *document) Create(ctx context.Context, ask resource.CreateRequest, answer *resource.CreateResponse) {
	values := copied(members(ask.Plan.Raw))
	name := textOf(values["name"])
	made, err := d.call(ctx, http.MethodPut, name, nil, body(d.kind.fields, ask.Plan.Raw, false),
		peal.Header{Name: "If-None-Match", Value: "*"})
	if peal.StatusOf(err) == http.StatusPreconditionFailed {
		answer.Diagnostics.AddError(d.summary("create", name), fmt.Sprintf("There is a %s of that name already, and "+
			"nothing was written. To manage it with Terraform: terraform import peal_%s.NAME %s", d.kind.name, d.kind.name, name))
		return
	}
	if err != nil {
		tell(&answer.Diagnostics, d.kind.fields, d.summary("create", name), err)
		return
	}
	seen := normalObject(d.kind.fields, made)
	d.made(values, made, seen)
	d.warn(&answer.Diagnostics, name, made)
	answer.State.Raw = tftypes.NewValue(ask.Plan.Raw.Type(), values)
	answer.Diagnostics.Append(keep(ctx, answer.Private, seen)...)
}

func (d *document) Read(ctx context.Context, ask resource.ReadRequest, answer *resource.ReadResponse) {
	values := copied(members(ask.State.Raw))
	name := textOf(values["name"])
	found, err := d.call(ctx, http.MethodGet, name, nil, nil)
	if today := renamedTo(err); today != "" {
		answer.Diagnostics.AddWarning(fmt.Sprintf("The job %q was renamed to %q", name, today),
			"To keep it, give it that name in the configuration, too; else it is destroyed, and another one is made.")
		name = today
		found, err = d.call(ctx, http.MethodGet, name, nil, nil)
	}
	if peal.StatusOf(err) == http.StatusNotFound {
		answer.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		tell(&answer.Diagnostics, nil, d.summary("read", name), err)
		return
	}
	values["name"] = tftypes.NewValue(tftypes.String, name)
	if !d.isAsBefore(values, found) {
		now := normalObject(d.kind.fields, found)
		d.drift(values, seenOf(ctx, ask.Private), now)
		d.made(values, found, now)
		answer.Diagnostics.Append(keep(ctx, answer.Private, now)...)
	}
	answer.State.Raw = tftypes.NewValue(ask.State.Raw.Type(), values)
}

func renamedTo(err error) string {
	var refused *peal.Error
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return refused.RenamedTo
	}
	return ""
}

func (d *document) isAsBefore(values map[string]tftypes.Value, found map[string]any) bool {
	return values["revision"].Equal(wholeNumber(found["revision"])) &&
		(!d.kind.isJob || textOf(values["uid"]) == found["uid"])
}

func (d *document) drift(values map[string]tftypes.Value, then, now map[string]any) {
	isImport := values["revision"].IsNull()
	for i := range d.kind.fields {
		f := &d.kind.fields[i]
		if d.kind.isJob && f.name == "paused" && values[f.name].IsNull() && !isImport {
			continue // what no configuration says is people's
		}
		values[f.name] = f.drifted(values[f.name], then[f.name], now[f.name])
	}
}

func (d *document) Update(ctx context.Context, ask resource.UpdateRequest, answer *resource.UpdateResponse) {
	values := copied(members(ask.Plan.Raw))
	name := textOf(values["name"])
	match := peal.IfMatch(numberOf(members(ask.State.Raw)["revision"]))
	isResumed := d.kind.isJob && values["paused"].IsNull() && !members(ask.State.Raw)["paused"].IsNull()
	changed, err := d.write(ctx, name, ask.Plan.Raw, isResumed, seenOf(ctx, ask.Private), match)
	if err != nil {
		tell(&answer.Diagnostics, d.kind.fields, d.summary("change", name), err)
		return
	}
	seen := normalObject(d.kind.fields, changed)
	d.made(values, changed, seen)
	d.warn(&answer.Diagnostics, name, changed)
	answer.State.Raw = tftypes.NewValue(ask.Plan.Raw.Type(), values)
	answer.Diagnostics.Append(keep(ctx, answer.Private, seen)...)
}

// write replaces a definition, of which the normal form was `seen`. That of a job is checked as a whole and then patched,
// so that fields of a newer peal, which this provider does not know, stay as they are. A job whose configuration says
// nothing of a pause any more is resumed.
func (d *document) write(ctx context.Context, name string, plan tftypes.Value, isResumed bool, seen map[string]any,
	match peal.Header) (map[string]any, error) {
	whole := body(d.kind.fields, plan, false)
	if !d.kind.isJob {
		return d.call(ctx, http.MethodPut, name, nil, whole, match)
	}
	if isResumed {
		whole["paused"] = false
	}
	wanted, err := d.call(ctx, http.MethodPut, name, url.Values{"dry_run": {"true"}}, whole, match)
	if err != nil {
		return nil, err
	}
	patch := body(d.kind.fields, plan, true)
	patch["paused"] = whole["paused"]
	for _, field := range givenOnce {
		if patch[field] == nil {
			delete(patch, field)
		}
	}
	clearKeys(d.kind.fields, patch, seen)
	changed, err := d.call(ctx, http.MethodPatch, name, nil, patch, match)
	if err != nil {
		return nil, err
	}
	return changed, d.compare(wanted, changed)
}

// compare makes sure that a patch has done what it was made for.
func (d *document) compare(wanted, changed map[string]any) error {
	want, now := normalObject(d.kind.fields, wanted), normalObject(d.kind.fields, changed)
	for i := range d.kind.fields {
		if field := d.kind.fields[i].name; !reflect.DeepEqual(want[field], now[field]) {
			return fmt.Errorf("%q is not as planned: a mistake of this provider, or of another version of peal", field)
		}
	}
	return nil
}

// givenOnce are fields of which one replaces the others by itself, and `paused`, which stays as it is unless it is given.
var givenOnce = []string{"schedule", "schedules", "after", "command", "shell", "http", "function", "steps", "paused"}

func (d *document) Delete(ctx context.Context, ask resource.DeleteRequest, answer *resource.DeleteResponse) {
	values := members(ask.State.Raw)
	name := textOf(values["name"])
	_, err := d.call(ctx, http.MethodDelete, name, nil, nil, peal.IfMatch(numberOf(values["revision"])))
	if err != nil && peal.StatusOf(err) != http.StatusNotFound {
		tell(&answer.Diagnostics, nil, d.summary("delete", name), err)
	}
}
