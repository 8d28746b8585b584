package main

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// shape is what a field holds, in Terraform and in the JSON of the API.
type shape int

const (
	text      shape = iota // a text; the API may have a number
	number                 // a whole number
	boolean                // true or false
	texts                  // a list of texts; the API may have one text
	textSet                // the same, in any order
	pairs                  // a map of texts
	counts                 // a map of whole numbers
	object                 // fields of its own
	objects                // a list of such
	objectMap              // a map of such
)

// field is one field of a definition. Schemas, conversions and comparisons are made from tables of them.
type field struct {
	name     string
	shape    shape
	about    string
	required bool
	secret   bool    // plans and outputs do not show it
	numeric  bool    // of a text: what looks like a whole number is sent as one
	fields   []field // of objects
}

func (f *field) find(name string) *field {
	return findField(f.fields, name)
}

func findField(fields []field, name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

// ---- types ----

func objectType(fields []field) tftypes.Object {
	types := map[string]tftypes.Type{}
	for i := range fields {
		types[fields[i].name] = fields[i].tfType()
	}
	return tftypes.Object{AttributeTypes: types}
}

func (f *field) tfType() tftypes.Type {
	switch f.shape {
	case number:
		return tftypes.Number
	case boolean:
		return tftypes.Bool
	case texts:
		return tftypes.List{ElementType: tftypes.String}
	case textSet:
		return tftypes.Set{ElementType: tftypes.String}
	case pairs:
		return tftypes.Map{ElementType: tftypes.String}
	case counts:
		return tftypes.Map{ElementType: tftypes.Number}
	case object:
		return objectType(f.fields)
	case objects:
		return tftypes.List{ElementType: objectType(f.fields)}
	case objectMap:
		return tftypes.Map{ElementType: objectType(f.fields)}
	}
	return tftypes.String
}

func elementType(of shape) attr.Type {
	if of == counts {
		return types.Int64Type
	}
	return types.StringType
}

// ---- schemas ----

func attributes(fields []field) map[string]schema.Attribute {
	all := map[string]schema.Attribute{}
	for i := range fields {
		all[fields[i].name] = fields[i].attribute()
	}
	return all
}

func (f *field) attribute() schema.Attribute {
	optional := !f.required
	nested := schema.NestedAttributeObject{Attributes: attributes(f.fields)}
	switch f.shape {
	case number:
		return schema.Int64Attribute{Description: f.about, Required: f.required, Optional: optional}
	case boolean:
		return schema.BoolAttribute{Description: f.about, Required: f.required, Optional: optional}
	case texts:
		return schema.ListAttribute{Description: f.about, Required: f.required, Optional: optional,
			ElementType: elementType(f.shape)}
	case textSet:
		return schema.SetAttribute{Description: f.about, Required: f.required, Optional: optional,
			ElementType: elementType(f.shape)}
	case pairs, counts:
		return schema.MapAttribute{Description: f.about, Required: f.required, Optional: optional,
			Sensitive: f.secret, ElementType: elementType(f.shape)}
	case object:
		return schema.SingleNestedAttribute{Description: f.about, Required: f.required, Optional: optional,
			Attributes: nested.Attributes}
	case objects:
		return schema.ListNestedAttribute{Description: f.about, Required: f.required, Optional: optional,
			NestedObject: nested}
	case objectMap:
		return schema.MapNestedAttribute{Description: f.about, Required: f.required, Optional: optional,
			NestedObject: nested}
	}
	return schema.StringAttribute{Description: f.about, Required: f.required, Optional: optional, Sensitive: f.secret}
}

// shown are the attributes of a data source that shows these fields.
func shown(fields []field) map[string]data.Attribute {
	all := map[string]data.Attribute{}
	for i := range fields {
		all[fields[i].name] = fields[i].shown()
	}
	return all
}

func (f *field) shown() data.Attribute {
	nested := data.NestedAttributeObject{Attributes: shown(f.fields)}
	switch f.shape {
	case number:
		return data.Int64Attribute{Description: f.about, Computed: true}
	case boolean:
		return data.BoolAttribute{Description: f.about, Computed: true}
	case texts:
		return data.ListAttribute{Description: f.about, Computed: true, ElementType: elementType(f.shape)}
	case textSet:
		return data.SetAttribute{Description: f.about, Computed: true, ElementType: elementType(f.shape)}
	case pairs, counts:
		return data.MapAttribute{Description: f.about, Computed: true, Sensitive: f.secret,
			ElementType: elementType(f.shape)}
	case object:
		return data.SingleNestedAttribute{Description: f.about, Computed: true, Attributes: nested.Attributes}
	case objects:
		return data.ListNestedAttribute{Description: f.about, Computed: true, NestedObject: nested}
	case objectMap:
		return data.MapNestedAttribute{Description: f.about, Computed: true, NestedObject: nested}
	}
	return data.StringAttribute{Description: f.about, Computed: true, Sensitive: f.secret}
}
