package main

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	peal "peal/clients/go"
)

type pealProvider struct{}

// session is what resources and data sources share: the client, and what this plan is going to make.
type session struct {
	*peal.Client
	planned sync.Map // "calendar holidays": true
}

func (s *session) willMake(kind, name string) { s.planned.Store(kind+" "+name, true) }
func (s *session) isGoingToMake(kind, name string) bool {
	_, is := s.planned.Load(kind + " " + name)
	return is
}

func (*pealProvider) Metadata(_ context.Context, _ provider.MetadataRequest, answer *provider.MetadataResponse) {
	answer.TypeName = "peal"
}

func (*pealProvider) Schema(_ context.Context, _ provider.SchemaRequest, answer *provider.SchemaResponse) {
	answer.Schema = schema.Schema{
		Description: "Jobs of peal, and what they refer to.",
		Attributes: map[string]schema.Attribute{
			"address": schema.StringAttribute{Optional: true, Description: "The agent, like https://host:7325, or " +
				"unix:/var/lib/peal/api.sock. Else $PEAL_URL, else the socket of this machine's agent ($PEAL_DATA)."},
			"token": schema.StringAttribute{Optional: true, Sensitive: true, Description: "The token, as peal token " +
				"create prints it. Else that of token_file, $PEAL_TOKEN_FILE or $PEAL_TOKEN; the socket needs none."},
			"token_file": schema.StringAttribute{Optional: true, Description: "A file whose first line is the token."},
			"ca_file": schema.StringAttribute{Optional: true, Description: "The CA certificate, in PEM, that has signed " +
				"the agent's certificate. Else $PEAL_CA, else the system's."},
		},
	}
}

type providerModel struct {
	Address   types.String `tfsdk:"address"`
	Token     types.String `tfsdk:"token"`
	TokenFile types.String `tfsdk:"token_file"`
	CAFile    types.String `tfsdk:"ca_file"`
}

func (*pealProvider) Configure(ctx context.Context, ask provider.ConfigureRequest, answer *provider.ConfigureResponse) {
	var model providerModel
	answer.Diagnostics.Append(ask.Config.Get(ctx, &model)...)
	if answer.Diagnostics.HasError() || model.Address.IsUnknown() || model.Token.IsUnknown() ||
		model.TokenFile.IsUnknown() || model.CAFile.IsUnknown() {
		return // what is not known yet is made by this very apply: then there is nothing to ask
	}
	client, err := connect(settings{model.Address.ValueString(), model.Token.ValueString(),
		model.TokenFile.ValueString(), model.CAFile.ValueString()})
	if err != nil {
		answer.Diagnostics.AddError("The provider peal is not configured right", err.Error())
		return
	}
	if _, err = client.Me(ctx); err != nil { // one error here, and not one for each resource
		tell(&answer.Diagnostics, nil, "Can't use the agent at "+addressOf(client), err)
		return
	}
	shared := &session{Client: client}
	answer.ResourceData = shared
	answer.DataSourceData = shared
}

func (*pealProvider) Resources(context.Context) []func() resource.Resource {
	all := []func() resource.Resource{}
	for i := range kinds {
		all = append(all, func() resource.Resource { return &document{kind: &kinds[i]} })
	}
	return all
}

func (*pealProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return &jobSource{} },
		func() datasource.DataSource { return &jobsSource{} },
		func() datasource.DataSource { return &scheduleSource{} },
	}
}
