package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// source is what the data sources have in common.
type source struct{ session *session }

func (s *source) Configure(_ context.Context, ask datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	s.session, _ = ask.ProviderData.(*session)
}

// isReady is false while the provider's address is not known yet.
func (s *source) isReady(answer *datasource.ReadResponse) bool {
	if s.session == nil {
		answer.Diagnostics.AddError("The provider peal has no address yet", "It is made by this very apply.")
	}
	return s.session != nil
}

type jobSource struct{ source }

func (*jobSource) Metadata(_ context.Context, ask datasource.MetadataRequest, answer *datasource.MetadataResponse) {
	answer.TypeName = ask.ProviderTypeName + "_job"
}

func (*jobSource) Schema(_ context.Context, _ datasource.SchemaRequest, answer *datasource.SchemaResponse) {
	all := shown(jobFields)
	all["name"] = schema.StringAttribute{Required: true, Description: "Its name."}
	all["uid"] = schema.StringAttribute{Computed: true, Description: "Its identity."}
	all["revision"] = schema.Int64Attribute{Computed: true, Description: "Counts its changes."}
	all["next_at"] = schema.StringAttribute{Computed: true, Description: "The next tick, in UTC; null: none."}
	all["problem"] = schema.StringAttribute{Computed: true, Description: "What hinders it; null: nothing."}
	answer.Schema = schema.Schema{Description: "A job as it is; what has its default is null.", Attributes: all}
}

func (s *jobSource) Read(ctx context.Context, ask datasource.ReadRequest, answer *datasource.ReadResponse) {
	if !s.isReady(answer) {
		return
	}
	values := copied(members(ask.Config.Raw))
	name := textOf(values["name"])
	found, err := call(ctx, s.session.Client, http.MethodGet, "/api/v1/jobs/"+url.PathEscape(name), nil, nil)
	if err != nil {
		tell(&answer.Diagnostics, nil, fmt.Sprintf("Can't read the job %q", name), err)
		return
	}
	status := mapOf(found["status"])
	for i, now := 0, normalObject(jobFields, found); i < len(jobFields); i++ {
		values[jobFields[i].name] = jobFields[i].value(now[jobFields[i].name])
	}
	values["uid"] = tftypes.NewValue(tftypes.String, found["uid"])
	values["revision"] = wholeNumber(found["revision"])
	values["next_at"] = tftypes.NewValue(tftypes.String, status["next_at"])
	values["problem"] = tftypes.NewValue(tftypes.String, status["problem"])
	answer.State.Raw = tftypes.NewValue(ask.Config.Raw.Type(), values)
}
