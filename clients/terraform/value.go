package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"sort"
	"strconv"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// members are those of an object of Terraform; nil of one that is null or not known.
func members(v tftypes.Value) map[string]tftypes.Value {
	all := map[string]tftypes.Value{}
	if v.IsNull() || !v.IsKnown() || v.As(&all) != nil {
		return nil
	}
	return all
}

func items(v tftypes.Value) []tftypes.Value {
	var all []tftypes.Value
	if v.IsNull() || !v.IsKnown() || v.As(&all) != nil {
		return nil
	}
	return all
}

func textOf(v tftypes.Value) string {
	var text string
	if v.IsNull() || !v.IsKnown() || v.As(&text) != nil {
		return ""
	}
	return text
}

func numberOf(v tftypes.Value) int64 {
	var float *big.Float
	if v.IsNull() || !v.IsKnown() || v.As(&float) != nil {
		return 0
	}
	whole, _ := float.Int64()
	return whole
}

// ---- from Terraform to the API ----

// body is the JSON of the fields that are set, without those that are not known yet as a whole. With `clear`, those
// that are not set are null, as a merge patch wants it.
func body(fields []field, v tftypes.Value, clear bool) map[string]any {
	all := map[string]any{}
	for name, value := range members(v) {
		f := findField(fields, name)
		if f == nil || !value.IsFullyKnown() {
			continue
		}
		if !value.IsNull() {
			all[name] = f.json(value, clear)
		} else if clear {
			all[name] = nil
		}
	}
	return all
}

func (f *field) json(v tftypes.Value, clear bool) any {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	switch f.shape {
	case number:
		return json.Number(numberText(v))
	case boolean:
		var is bool
		_ = v.As(&is)
		return is
	case texts, textSet:
		all := []any{}
		for _, item := range items(v) {
			all = append(all, scalar(item))
		}
		return all
	case pairs, counts:
		all := map[string]any{}
		for name, value := range members(v) {
			all[name] = scalar(value)
		}
		return all
	case object:
		return body(f.fields, v, clear)
	case objects: // a patch replaces lists as a whole
		all := []any{}
		for _, item := range items(v) {
			all = append(all, body(f.fields, item, false))
		}
		return all
	case objectMap:
		all := map[string]any{}
		for name, value := range members(v) {
			all[name] = body(f.fields, value, clear)
		}
		return all
	}
	if whole, err := strconv.Atoi(textOf(v)); err == nil && f.numeric {
		return whole
	}
	return textOf(v)
}

func numberText(v tftypes.Value) string {
	var float *big.Float
	_ = v.As(&float)
	return float.Text('f', -1)
}

func scalar(v tftypes.Value) any {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	if v.Type().Is(tftypes.Number) {
		return json.Number(numberText(v))
	}
	return textOf(v)
}

// clearKeys adds to a patch the names that maps had and have no longer, as null: else they would stay.
func clearKeys(fields []field, patch, had map[string]any) {
	for i := range fields {
		f := &fields[i]
		now, isThere := patch[f.name].(map[string]any)
		if !isThere {
			continue
		}
		if f.shape == object {
			clearKeys(f.fields, now, mapOf(had[f.name]))
			continue
		}
		for key := range mapOf(had[f.name]) {
			if _, stays := now[key]; !stays {
				now[key] = nil
			}
		}
	}
}

// ---- from the API to Terraform ----

// normal is a value of the API in the longest form that the API has for it, without what the fields do not list.
func (f *field) normal(v any) any {
	switch f.shape {
	case number:
		return json.Number(fmt.Sprint(v))
	case boolean:
		return v == true
	case texts, textSet:
		all := []any{}
		for _, item := range listOf(v) {
			all = append(all, fmt.Sprint(item))
		}
		if f.shape == textSet {
			sort.Slice(all, func(i, j int) bool { return all[i].(string) < all[j].(string) })
		}
		return all
	case pairs, counts:
		all, of := map[string]any{}, field{shape: text}
		if f.shape == counts {
			of.shape = number
		}
		for name, value := range mapOf(v) {
			all[name] = of.normal(value)
		}
		return all
	case object:
		return normalObject(f.fields, v)
	case objects:
		all := []any{}
		for _, item := range listOf(v) {
			all = append(all, normalObject(f.fields, item))
		}
		return all
	case objectMap:
		all := map[string]any{}
		for name, value := range mapOf(v) {
			all[name] = normalObject(f.fields, value)
		}
		return all
	}
	return fmt.Sprint(v)
}

// normalObject takes what is no map for the value of the first field, and an empty set for none.
func normalObject(fields []field, v any) map[string]any {
	given, isMap := v.(map[string]any)
	if !isMap {
		given = map[string]any{fields[0].name: v}
	}
	all := map[string]any{}
	for i := range fields {
		value := given[fields[i].name]
		isNone := value == nil || (fields[i].shape == textSet && len(listOf(value)) == 0)
		if !isNone {
			all[fields[i].name] = fields[i].normal(value)
		}
	}
	return all
}

func listOf(v any) []any {
	if list, isList := v.([]any); isList {
		return list
	}
	return []any{v}
}

func mapOf(v any) map[string]any {
	all, _ := v.(map[string]any)
	return all
}

// value is a normal value as one of Terraform; nil is null.
func (f *field) value(v any) tftypes.Value {
	if v == nil {
		return tftypes.NewValue(f.tfType(), nil)
	}
	switch f.shape {
	case number:
		return wholeNumber(v)
	case boolean:
		return tftypes.NewValue(tftypes.Bool, v == true)
	case texts, textSet:
		all := []tftypes.Value{}
		for _, item := range listOf(v) {
			all = append(all, tftypes.NewValue(tftypes.String, item))
		}
		return tftypes.NewValue(f.tfType(), all)
	case pairs, counts:
		all := map[string]tftypes.Value{}
		for name, item := range mapOf(v) {
			if f.shape == counts {
				all[name] = wholeNumber(item)
			} else {
				all[name] = tftypes.NewValue(tftypes.String, item)
			}
		}
		return tftypes.NewValue(f.tfType(), all)
	case object:
		return objectValue(f.fields, mapOf(v))
	case objects:
		all := []tftypes.Value{}
		for _, item := range listOf(v) {
			all = append(all, objectValue(f.fields, mapOf(item)))
		}
		return tftypes.NewValue(f.tfType(), all)
	case objectMap:
		all := map[string]tftypes.Value{}
		for name, item := range mapOf(v) {
			all[name] = objectValue(f.fields, mapOf(item))
		}
		return tftypes.NewValue(f.tfType(), all)
	}
	return tftypes.NewValue(tftypes.String, v)
}

func wholeNumber(v any) tftypes.Value {
	float, _, err := big.ParseFloat(fmt.Sprint(v), 10, 512, big.ToNearestEven)
	if err != nil {
		return tftypes.NewValue(tftypes.Number, nil)
	}
	return tftypes.NewValue(tftypes.Number, float)
}

func objectValue(fields []field, v map[string]any) tftypes.Value {
	all := map[string]tftypes.Value{}
	for i := range fields {
		all[fields[i].name] = fields[i].value(v[fields[i].name])
	}
	return tftypes.NewValue(objectType(fields), all)
}
