package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	peal "peal/clients/go"
)

type scheduleSource struct{ source }

type scheduleModel struct {
	Schedule  types.String   `tfsdk:"schedule"`
	Timezone  types.String   `tfsdk:"timezone"`
	Job       types.String   `tfsdk:"job"`
	Dst       types.String   `tfsdk:"dst"`
	From      types.String   `tfsdk:"from"`
	Calendars []string       `tfsdk:"calendars"`
	OnlyOn    []string       `tfsdk:"only_on"`
	N         types.Int64    `tfsdk:"n"`
	Words     types.String   `tfsdk:"words"`
	Fires     []scheduleFire `tfsdk:"fires"`
}

type scheduleFire struct {
	At    string  `tfsdk:"at"`
	Local string  `tfsdk:"local"`
	Note  *string `tfsdk:"note"`
}

func (*scheduleSource) Metadata(_ context.Context, ask datasource.MetadataRequest, answer *datasource.MetadataResponse) {
	answer.TypeName = ask.ProviderTypeName + "_schedule"
}

func (*scheduleSource) Schema(_ context.Context, _ datasource.SchemaRequest, answer *datasource.SchemaResponse) {
	answer.Schema = schema.Schema{
		Description: "What a schedule means, and its next ticks.",
		Attributes: map[string]schema.Attribute{
			"schedule":  schema.StringAttribute{Required: true, Description: "Cron, or @daily, @every 90s and so on, as in docs/SCHEDULES.md."},
			"timezone":  schema.StringAttribute{Optional: true, Description: "Its time zone; else the agent's."},
			"job":       schema.StringAttribute{Optional: true, Description: "The name of the job, of which the times of H depend."},
			"dst":       schema.StringAttribute{Optional: true, Description: "The policy for times that a clock change skips or repeats."},
			"from":      schema.StringAttribute{Optional: true, Description: "Ticks after this time; else after now."},
			"calendars": schema.ListAttribute{Optional: true, ElementType: types.StringType, Description: "Without the dates of these calendars."},
			"only_on":   schema.ListAttribute{Optional: true, ElementType: types.StringType, Description: "Only on the dates of these calendars."},
			"n":         schema.Int64Attribute{Optional: true, Description: "So many ticks; else 10."},
			"words":     schema.StringAttribute{Computed: true, Description: "The schedule in words."},
			"fires": schema.ListNestedAttribute{Computed: true, Description: "The next ticks.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"at":    schema.StringAttribute{Computed: true, Description: "In UTC."},
					"local": schema.StringAttribute{Computed: true, Description: "As the clock in its time zone shows it."},
					"note":  schema.StringAttribute{Computed: true, Description: "What is special about it, as where a clock change moves it."},
				}}},
		},
	}
}

func (s *scheduleSource) Read(ctx context.Context, ask datasource.ReadRequest, answer *datasource.ReadResponse) {
	var model scheduleModel
	answer.Diagnostics.Append(ask.Config.Get(ctx, &model)...)
	if answer.Diagnostics.HasError() || !s.isReady(answer) {
		return
	}
	spec := model.Schedule.ValueString()
	explained, err := s.session.ExplainSchedule(ctx, &peal.ExplainScheduleOptions{Spec: spec,
		TZ: model.Timezone.ValueString(), Job: model.Job.ValueString(), Dst: model.Dst.ValueString()})
	var next *peal.Fires
	if err == nil {
		next, err = s.session.NextOfSchedule(ctx, model.options())
	}
	if err != nil {
		s.tell(answer, spec, err)
		return
	}
	model.Words, model.Fires = types.StringValue(explained.Text), []scheduleFire{}
	for _, fire := range next.Fires {
		one := scheduleFire{At: fire.At, Local: fire.Local}
		if fire.Note != "" {
			one.Note = &fire.Note
		}
		model.Fires = append(model.Fires, one)
	}
	answer.Diagnostics.Append(answer.State.Set(ctx, &model)...)
}

func (m *scheduleModel) options() *peal.NextOfScheduleOptions {
	return &peal.NextOfScheduleOptions{Spec: m.Schedule.ValueString(), TZ: m.Timezone.ValueString(), Job: m.Job.ValueString(),
		Dst: m.Dst.ValueString(), From: m.From.ValueString(), N: m.N.ValueInt64Pointer(),
		Calendars: strings.Join(m.Calendars, ","), OnlyOn: strings.Join(m.OnlyOn, ",")}
}

// tell puts a mistake at the attribute of the parameter that has it.
func (s *scheduleSource) tell(answer *datasource.ReadResponse, spec string, err error) {
	summary := fmt.Sprintf("Can't read the schedule %q", spec)
	var refused *peal.Error
	if !errors.As(err, &refused) || len(refused.Errors) == 0 {
		tell(&answer.Diagnostics, nil, summary, err)
		return
	}
	for _, mistake := range refused.Errors {
		name := strings.TrimPrefix(mistake.Pointer, "?")
		if attribute, isOther := map[string]string{"spec": "schedule", "tz": "timezone"}[name]; isOther {
			name = attribute
		}
		answer.Diagnostics.AddAttributeError(path.Root(name), summary, mistake.Message)
	}
}
