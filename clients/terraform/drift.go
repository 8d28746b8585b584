package main

import (
	"reflect"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The same value can be written in several ways: 90s and 1m30s, a default and nothing. The agent knows which are the
// same, and answers with one form, the normal one. The state has values as the configuration wrote them, and beside
// them, in private, the normal form that they got. So what has changed is found without knowing what a duration is.

// asterisks are what the agent shows of a secret.
const asterisks = "********"

// drifted is a value of the state after somebody may have changed it: where the normal form is what it was (`then`),
// it stays as it was written; else it becomes what is there now.
func (f *field) drifted(written tftypes.Value, then, now any) tftypes.Value {
	if reflect.DeepEqual(then, now) || (now == asterisks && !written.IsNull()) {
		return written
	}
	if then == nil || now == nil || written.IsNull() {
		return f.value(now)
	}
	switch f.shape {
	case object:
		return driftedObject(f.fields, written, mapOf(then), mapOf(now))
	case objects:
		return f.driftedList(items(written), listOf(then), listOf(now))
	case objectMap, pairs:
		return f.driftedMap(members(written), mapOf(then), mapOf(now))
	}
	return f.value(now)
}

func driftedObject(fields []field, written tftypes.Value, then, now map[string]any) tftypes.Value {
	was, all := members(written), map[string]tftypes.Value{}
	for i := range fields {
		f := &fields[i]
		all[f.name] = f.drifted(was[f.name], then[f.name], now[f.name])
	}
	return tftypes.NewValue(objectType(fields), all)
}

// driftedList keeps the items that are still there, wherever they are now.
func (f *field) driftedList(written []tftypes.Value, then, now []any) tftypes.Value {
	all, taken := []tftypes.Value{}, map[int]bool{}
	for i, item := range now {
		at := -1
		for j := range then {
			if !taken[j] && at < 0 && j < len(written) && reflect.DeepEqual(then[j], item) {
				at = j
			}
		}
		switch {
		case at >= 0:
			taken[at] = true
			all = append(all, written[at])
		case len(then) == len(now) && i < len(written):
			all = append(all, driftedObject(f.fields, written[i], mapOf(then[i]), mapOf(item)))
		default:
			all = append(all, objectValue(f.fields, mapOf(item)))
		}
	}
	return tftypes.NewValue(f.tfType(), all)
}

func (f *field) driftedMap(written map[string]tftypes.Value, then, now map[string]any) tftypes.Value {
	of := field{shape: text}
	if f.shape == objectMap {
		of = field{shape: object, fields: f.fields}
	}
	all := map[string]tftypes.Value{}
	for name, value := range now {
		was, isThere := written[name]
		if !isThere {
			was = of.value(nil)
		}
		all[name] = of.drifted(was, then[name], value)
	}
	return tftypes.NewValue(f.tfType(), all)
}

// settled is a value of a plan: what the configuration says, or what the state has if that means the same to the
// agent (`want` and `now` are the normal forms).
func (f *field) settled(config, state tftypes.Value, want, now any) tftypes.Value {
	if config.IsNull() || !config.IsKnown() || state.IsNull() {
		return config
	}
	switch f.shape {
	case object:
		return settledObject(f.fields, config, state, mapOf(want), mapOf(now))
	case objects:
		given, had, wanted, has := items(config), items(state), listOf(want), listOf(now)
		if len(given) != len(had) || len(given) != len(wanted) || len(given) != len(has) {
			return config
		}
		all := []tftypes.Value{}
		for i := range given {
			all = append(all, settledObject(f.fields, given[i], had[i], mapOf(wanted[i]), mapOf(has[i])))
		}
		return tftypes.NewValue(f.tfType(), all)
	case objectMap:
		had, all := members(state), map[string]tftypes.Value{}
		for name, value := range members(config) {
			all[name] = value
			if was, isThere := had[name]; isThere {
				all[name] = settledObject(f.fields, value, was, mapOf(mapOf(want)[name]), mapOf(mapOf(now)[name]))
			}
		}
		return tftypes.NewValue(f.tfType(), all)
	}
	if want != nil && reflect.DeepEqual(want, now) && !hides(want) {
		return state
	}
	return config
}

// hides tells whether a secret is part of the value, of which nobody knows whether it is another one.
func hides(v any) bool {
	for _, word := range wordsIn(v) {
		if strings.Contains(word, asterisks) {
			return true
		}
	}
	return false
}

func settledObject(fields []field, config, state tftypes.Value, want, now map[string]any) tftypes.Value {
	given, had, all := members(config), members(state), map[string]tftypes.Value{}
	if given == nil || had == nil {
		return config
	}
	for i := range fields {
		f := &fields[i]
		all[f.name] = f.settled(given[f.name], had[f.name], want[f.name], now[f.name])
	}
	return tftypes.NewValue(objectType(fields), all)
}
