package main

// kind is a sort of things that have a name, a revision and a definition, and are read, put and deleted by name.
type kind struct {
	name   string // of the resource, after peal_
	plural string // in the API's paths
	about  string
	fields []field
	isJob  bool // has a uid, refers to other things, and can be patched
}

var kinds = []kind{
	{name: "job", plural: "jobs", fields: jobFields, isJob: true,
		about: "A job: its definition as in docs/JOBS.md."},
	{name: "group", plural: "groups", fields: groupFields,
		about: "A limit on how many runs are under way, as in docs/GROUPS.md."},
	{name: "calendar", plural: "calendars", fields: calendarFields,
		about: "Dates and windows of time in which jobs do not run, or in which alone they do, as in docs/JOBS.md."},
	{name: "channel", plural: "channels", fields: channelFields,
		about: "Where messages about jobs go, as in docs/NOTIFY.md."},
}

var groupFields = []field{
	{name: "cluster", shape: number, about: "So many runs on all nodes together."},
	{name: "node", shape: number, about: "So many runs on each node."},
	{name: "labels", shape: counts, about: "So many runs on the nodes that have the same value of a label (zone), or one value of it (zone=eu)."},
	{name: "notes", about: "Anything."},
}

var calendarFields = []field{
	{name: "dates", shape: textSet, about: "Days, like 2026-12-24, 12-25 (of every year) or 2026-10-01/2026-10-07."},
	{name: "weekdays", shape: textSet, about: "mon, tue, wed, thu, fri, sat, sun."},
	{name: "windows", shape: textSet, about: "Parts of days, like mon-fri 09:00-17:30."},
	{name: "timezone", about: "Whose clock the calendar goes by; else the zone of each schedule."},
	{name: "notes", about: "Anything."},
}

var channelFields = []field{
	{name: "type", required: true, about: "webhook, slack, dingtalk, feishu, wecom, mail, pagerduty, teams, telegram or ntfy."},
	{name: "url", secret: true, about: "The receiver; smtp://HOST[:PORT] or smtps://HOST[:PORT] for mail."},
	{name: "headers", shape: pairs, secret: true, about: "Of a webhook."},
	{name: "secret", secret: true, about: "The key that signs messages: of a webhook, DingTalk or Feishu."},
	{name: "token", secret: true, about: "Of PagerDuty: the integration key; of Telegram: the bot's; of ntfy: an access token."},
	{name: "chat", about: "Of Telegram: the id of a chat, or @name of a channel."},
	{name: "from", about: "Of mail: an address."},
	{name: "to", shape: texts, about: "Of mail: addresses."},
	{name: "user", about: "Of mail: the login at the server."},
	{name: "password", secret: true, about: "Of mail: its password; never without TLS."},
	{name: "unencrypted", shape: boolean, about: "Of mail: also use a server that has no STARTTLS."},
	{name: "on", shape: textSet, about: "Events, for jobs without their own: failure, lost, recovery, late, success, too_long, too_short, overdue."},
	{name: "default", shape: boolean, about: "For all jobs that name no channels."},
	{name: "language", about: "en or zh."},
	{name: "quiet", about: "The minimum interval between messages of one job and event."},
	{name: "group", about: "Of many messages, those of this time become one; 0s: never."},
	{name: "give_up", about: "How long delivery of a message is retried."},
	{name: "title", about: "A template of the title."},
	{name: "text", about: "A template of the text."},
	{name: "notes", about: "Anything."},
}
