package main

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	peal "peal/clients/go"
)

type jobsSource struct{ source }

type jobsModel struct {
	Q      types.String   `tfsdk:"q"`
	Label  types.String   `tfsdk:"label"`
	Owner  types.String   `tfsdk:"owner"`
	Status types.String   `tfsdk:"status"`
	Folder types.String   `tfsdk:"folder"`
	Names  []string       `tfsdk:"names"`
	Jobs   []jobsModelJob `tfsdk:"jobs"`
}

type jobsModelJob struct {
	Name     string            `tfsdk:"name"`
	UID      string            `tfsdk:"uid"`
	Revision int64             `tfsdk:"revision"`
	Owner    *string           `tfsdk:"owner"`
	Labels   map[string]string `tfsdk:"labels"`
	Paused   bool              `tfsdk:"paused"`
	Problem  *string           `tfsdk:"problem"`
}

func (*jobsSource) Metadata(_ context.Context, ask datasource.MetadataRequest, answer *datasource.MetadataResponse) {
	answer.TypeName = ask.ProviderTypeName + "_jobs"
}

func (*jobsSource) Schema(_ context.Context, _ datasource.SchemaRequest, answer *datasource.SchemaResponse) {
	answer.Schema = schema.Schema{
		Description: "All jobs that the token may see and a filter takes, by name.",
		Attributes: map[string]schema.Attribute{
			"q":      schema.StringAttribute{Optional: true, Description: "A part of name, command, script, URL, program, function or notes."},
			"label":  schema.StringAttribute{Optional: true, Description: "Like team=db, or team for any value."},
			"owner":  schema.StringAttribute{Optional: true, Description: "Their owner."},
			"status": schema.StringAttribute{Optional: true, Description: "ok, failed, never, running, paused or broken."},
			"folder": schema.StringAttribute{Optional: true, Description: "billing for names that begin with billing/."},
			"names":  schema.ListAttribute{Computed: true, ElementType: types.StringType, Description: "Their names."},
			"jobs": schema.ListNestedAttribute{Computed: true, Description: "The same jobs, with more of each.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"name":     schema.StringAttribute{Computed: true, Description: "Its name."},
					"uid":      schema.StringAttribute{Computed: true, Description: "Its identity."},
					"revision": schema.Int64Attribute{Computed: true, Description: "Counts its changes."},
					"owner":    schema.StringAttribute{Computed: true, Description: "Contact for this job."},
					"labels":   schema.MapAttribute{Computed: true, ElementType: types.StringType, Description: "Its labels."},
					"paused":   schema.BoolAttribute{Computed: true, Description: "Whether it is paused."},
					"problem":  schema.StringAttribute{Computed: true, Description: "What hinders it; null: nothing."},
				}}},
		},
	}
}

func (s *jobsSource) Read(ctx context.Context, ask datasource.ReadRequest, answer *datasource.ReadResponse) {
	var model jobsModel
	answer.Diagnostics.Append(ask.Config.Get(ctx, &model)...)
	if answer.Diagnostics.HasError() || !s.isReady(answer) {
		return
	}
	limit := int64(1000)
	options := &peal.ListJobsOptions{Limit: &limit, Q: model.Q.ValueString(), Label: model.Label.ValueString(),
		Owner: model.Owner.ValueString(), Status: model.Status.ValueString(), Folder: model.Folder.ValueString()}
	model.Names, model.Jobs = []string{}, []jobsModelJob{}
	err := s.session.EachJob(ctx, options, func(job peal.Job) error {
		one := jobsModelJob{Name: job.Name, UID: job.UID, Revision: job.Revision, Labels: map[string]string{},
			Paused: job.Status.Paused, Problem: job.Status.Problem}
		for name, value := range job.Labels {
			one.Labels[name] = fmt.Sprint(value)
		}
		if job.Owner != "" {
			one.Owner = &job.Owner
		}
		model.Names, model.Jobs = append(model.Names, job.Name), append(model.Jobs, one)
		return nil
	})
	if err != nil {
		tell(&answer.Diagnostics, nil, "Can't list jobs", err)
		return
	}
	answer.Diagnostics.Append(answer.State.Set(ctx, &model)...)
}
