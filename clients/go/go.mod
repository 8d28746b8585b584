module peal/clients/go

go 1.18
