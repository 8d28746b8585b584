// The Terraform provider of peal: see README.md.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger, and print how terraform finds this process")
	flag.Parse()
	err := providerserver.Serve(context.Background(), func() provider.Provider { return &pealProvider{} },
		providerserver.ServeOpts{Address: "peal.internal/peal/peal", Debug: *debug})
	if err != nil {
		log.Fatal(err)
	}
}
