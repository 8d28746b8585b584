# A job for each of several databases, and a workflow after them. See clients/terraform/README.md.
#
#     terraform init && terraform apply

terraform {
  required_providers {
    peal = {
      source  = "peal.internal/peal/peal"
      version = "~> 0.1"
    }
  }
}

provider "peal" {} # $PEAL_URL and $PEAL_TOKEN, else the socket of this machine's agent

locals {
  databases = {
    orders    = { schedule = "15 1 * * *", keep = "30d" }
    customers = { schedule = "45 1 * * *", keep = "90d" }
  }
}

resource "peal_group" "dumps" {
  name  = "dumps"
  node  = 1
  notes = "One dump at a time on each node: they fill the disk's queue."
}

resource "peal_job" "dump" {
  for_each  = local.databases
  name      = "db/dump-${each.key}"
  schedule  = each.value.schedule
  timezone  = "Europe/Berlin"
  shell     = "pg_dump --format=custom --file=/srv/dumps/${each.key}.new ${each.key} && mv /srv/dumps/${each.key}.new /srv/dumps/${each.key}"
  timeout   = "1h"
  groups    = [peal_group.dumps.name]
  expect    = { file = "/srv/dumps/${each.key}", min_bytes = "1MiB" }
  retention = { age = each.value.keep }
  labels    = { team = "db", database = each.key }
}

# Steps run side by side where they do not wait for each other.
resource "peal_job" "ship" {
  name  = "db/ship"
  after = [for job in peal_job.dump : { job = job.name }]
  steps = concat(
    [for name in keys(local.databases) : {
      name    = "check-${name}"
      command = ["pg_restore", "--list", "/srv/dumps/${name}"]
    }],
    [{
      name    = "copy"
      after   = [for name in keys(local.databases) : { step = "check-${name}" }]
      command = ["rclone", "copy", "/srv/dumps", "offsite:dumps"]
      retries = { count = 3, wait = "5m" }
    }],
  )
}

output "jobs" {
  value = sort([for job in peal_job.dump : job.name])
}
