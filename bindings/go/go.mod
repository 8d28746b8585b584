module peal/bindings/go

go 1.18
